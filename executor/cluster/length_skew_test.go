//go:build unix

package cluster_test

import (
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

const (
	// clocksApart is how far the clock of a skewed server is from those of its workers, one way or the other.
	clocksApart = 45 * time.Minute
	// ageOff is by how much the age of a message is too high at most: less than what a Start message may wait.
	ageOff = 3 * time.Minute
	// skewedDeadline is that of the runs of the plan: far more than they take, and far less than clocksApart.
	skewedDeadline = 12 * time.Minute
)

// A skewed delivery is one of a server whose clock differs from that of this machine. It is ahead for half of the runs
// and behind for the others. The age of the message is right, or too low by all of it, or too high by some minutes.
type skewed struct {
	protocol.Delivery
}

func (d *skewed) Stored() time.Time {
	h := fnv.New32a()
	if m, err := wire.DecodeMessage(d.Raw()); err == nil {
		h.Write([]byte(m.Run)) // all workers see the same clock
	}
	if h.Sum32()%2 == 0 {
		return d.Delivery.Stored().Add(clocksApart)
	}
	return d.Delivery.Stored().Add(-clocksApart)
}

func (d *skewed) Age() time.Duration {
	switch age := d.Delivery.Age(); rand.IntN(3) {
	case 0:
		return 0
	case 1:
		return age + rand.N(ageOff)
	default:
		return age
	}
}
