package quota

import (
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/cgroup"
	"github.com/stretchr/testify/require"
)

// A fakeGroup is a group with a quota, which is read under the ledger's lock.
type fakeGroup struct {
	state cgroup.State
	err   error
	reads int
}

func (g *fakeGroup) read() (cgroup.State, error) {
	g.reads++
	g.state.Periods++
	return g.state, g.err
}

func newFakeGroup() (*fakeGroup, *Ledger) {
	g := &fakeGroup{state: cgroup.State{CPUs: 2, Period: period, Group: "/g"}}
	return g, NewLedger(g.read)
}

func newMember(host float64) *Member { return &Member{Part: Part{Host: host, Cycle: cycle}} }

// The group is read once a period for all members. Each is told of the periods in which the process was throttled
// while it had work, and the workers give way once for each.
func TestLedgerReadsOnce(t *testing.T) {
	g, l := newFakeGroup()
	one, two := newMember(0.5), newMember(0.5)
	var now time.Duration
	play := func(d time.Duration, members ...*Member) (throttled []uint64, rate float64) {
		throttled = make([]uint64, len(members))
		for end := now + d; now < end; {
			now += cycle
			for i, m := range members {
				_, s := l.Next(m, now, 0, 8)
				throttled[i] += s.Throttled
				rate = s.Rate
			}
		}
		return throttled, rate
	}
	play(10*period, one, two)
	require.InDelta(t, 10, g.reads, 1)
	g.state.Throttled += 3
	throttled, rate := play(period, one, two)
	require.Equal(t, []uint64{3, 3}, throttled)
	require.InDelta(t, giveWay, rate, 1e-9)

	l.Leave(two)
	g.state.Throttled += 2
	throttled, _ = play(period, one)
	require.Equal(t, []uint64{2}, throttled)
	throttled, _ = play(period, one, two)
	require.Equal(t, []uint64{0, 0}, throttled)

	// What happens while no member has work is not theirs.
	l.Leave(two)
	l.Leave(one)
	g.state.Throttled += 5
	now += time.Hour
	throttled, _ = play(10*period, two)
	require.Equal(t, []uint64{0}, throttled)

	g.err = os.ErrPermission
	now += period
	_, s := l.Next(two, now, 0, 8)
	require.Equal(t, Status{Err: os.ErrPermission, CPUs: 2, Rate: s.Rate}, s, "what was known before goes on")
}

// Members on several goroutines come and go in any order. No place is left behind.
func TestLedgerOfMany(t *testing.T) {
	_, l := newFakeGroup()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			m := newMember(0.9)
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			for now := range 500 {
				l.Next(m, time.Duration(now)*cycle, cycle/8, 8)
				if rng.IntN(10) == 0 {
					l.Leave(m)
				}
			}
			l.Leave(m)
		})
	}
	all.Wait()
	require.Empty(t, l.budget.parts)
	_, s := l.Next(newMember(0.25), 501*cycle, 0, 8)
	require.Equal(t, 1.5, s.Rate)
}
