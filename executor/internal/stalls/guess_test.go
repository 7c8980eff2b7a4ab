//go:build !modelcheck

package stalls

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// newGuessed is newPlant on a system where no thread can tell what another one does. The process uses a part of a
// processor between two looks, which are one period apart.
func newGuessed(t *testing.T, workers int, part float64) (*plant, *Watch) {
	p, w := newPlant(t, workers)
	now, used := time.Unix(0, 0), time.Duration(0)
	system.tells, system.asleep = false, func(int64) (asleep, known bool) { return false, false }
	system.used = func(w Worker) (time.Duration, bool) { return time.Duration(w.Ended), true }
	system.now = func() time.Time { now = now.Add(period); return now }
	system.process = func() time.Duration { used += time.Duration(float64(period) * part); return used }
	return p, w
}

func TestGuessed(t *testing.T) {
	const stall, long = int(stallTime / period), int(patience / period)
	for _, c := range []struct {
		name   string
		part   float64
		change func(*plant)
		looks  int
		found  []int
	}{
		{"no worker gets on, not yet for long", 0, func(*plant) {}, stall, nil},
		{"no worker gets on", 0, func(*plant) {}, stall + 1, []int{0, 1}},
		{"something computes", 1, func(*plant) {}, long, nil},
		{"something computes for long", 1, func(*plant) {}, long + 1, []int{0}},
		{"for longer", 1, func(*plant) {}, 2*long + 1, []int{0, 1}},
		{"nothing queued", 0, func(p *plant) { p.queued = false }, 2 * long, nil},
		{"one looks for an item", 0, func(p *plant) { p.workers[1].Doing = Looking }, 2 * long, nil},
		{"one is in Blocking, or waits", 0, func(p *plant) { p.workers[1].Doing = Away }, stall + 1, []int{0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, w := newGuessed(t, 2, c.part)
			c.change(p)
			require.Equal(t, c.found, p.looks(w, c.looks))
			require.False(t, p.double)
		})
	}
}

// While any worker ends items, none counts as asleep.
func TestGuessedBusy(t *testing.T) {
	p, w := newGuessed(t, 2, 0)
	for range 10 {
		p.workers[1].Ended++
		require.Empty(t, p.looks(w, int(stallTime/period)/2))
	}
}

// Workers that stand in and sleep, too, are found sooner and sooner. One that goes on is forgotten.
func TestGuessedChain(t *testing.T) {
	p, w := newGuessed(t, 1, 0)
	looks := 0
	for n := 1; n <= 50; n++ {
		for len(p.asleep) < n {
			p.looks(w, 1)
			looks++
		}
		p.workers = append(p.workers, Worker{Thread: int64(n + 1), Doing: InTask})
	}
	require.Less(t, looks, 250)
	p.workers[7].Ended++
	require.NotContains(t, p.looks(w, 1), 7)
	w.Close()
	require.Empty(t, p.asleep)
	require.False(t, p.double)
}
