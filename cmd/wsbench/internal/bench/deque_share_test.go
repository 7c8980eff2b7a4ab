package bench

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
)

// A watchedDeque notes how many pushes its owner had made at each steal.
type watchedDeque struct {
	deque.Queue[Item]
	pushes atomic.Int64
	steals []int64
}

func (w *watchedDeque) Push(p *Item) deque.Effect {
	w.pushes.Add(1)
	return w.Queue.Push(p)
}

func (w *watchedDeque) Steal() (*Item, deque.Outcome) {
	p, outcome := w.Queue.Steal()
	if outcome == deque.Stolen {
		w.steals = append(w.steals, w.pushes.Load())
	}
	return p, outcome
}

// TestStealsAreSpaced: with one item of twenty to be stolen, few steals come within five pushes of the one before. If
// the thief made the three steals that are due after a round of 64 pushes in a row, two of three would. On a machine
// with other work one of many attempts has to succeed. Where the threads never have two cores at once, nothing is
// known.
func TestStealsAreSpaced(t *testing.T) {
	if testkit.Race || runtime.NumCPU() < 2 {
		t.Skip("the detector changes all times; on one core owner and thief take turns")
	}
	for _, e := range []*DequeExperiment{ownerExperiment, retriesExperiment} {
		soon := func() float64 {
			var queue *watchedDeque
			s, _ := tinyDeques(&DequeKind{
				Name: "watched",
				Open: func(n, capacity, _ int) (queues []deque.Queue[Item], err error) {
					g, err := deque.NewGroup[Item](deque.KindLocked, n, deque.Options{Capacity: capacity})
					queue = &watchedDeque{Queue: g.Queue(0)}
					return []deque.Queue[Item]{queue, g.Queue(1)}, err
				},
				Check: func(int, int, int) error { return nil },
			})
			s.Experiments, s.Stolen, s.N, s.Capacity, s.Reps = []*DequeExperiment{e}, []int{5}, 20000, 1024, 1
			require.NoError(t, s.Run(context.Background()))
			n := 0
			for i := 1; i < len(queue.steals); i++ {
				if queue.steals[i]-queue.steals[i-1] < 5 {
					n++
				}
			}
			return float64(n) / float64(len(queue.steals))
		}
		// In an attempt without preemption each thread had a core.
		whole := 0
		for end := time.Now().Add(testkit.Patience); ; time.Sleep(time.Millisecond) {
			_, before := osthread.ContextSwitches()
			share := soon()
			if share <= 0.33 {
				break
			}
			if _, after := osthread.ContextSwitches(); after == before {
				whole++
			}
			if time.Now().After(end) && whole < 10 {
				t.Skip("no quiet moment")
			}
			require.True(t, time.Now().Before(end), "%s: %.2f of the steals come too soon", e.Name, share)
		}
	}
}

// TestPaceOfThief: the time between steals follows that of pushes, and hardly moves when the owner loses its core.
func TestPaceOfThief(t *testing.T) {
	s := &shared{share: 5, thief: new(dequeThief)}
	s.pace(640, 64)
	require.EqualValues(t, 200, s.gap.Load()) // 20 pushes of 10 ns
	s.pace(10*time.Millisecond, 64)
	require.EqualValues(t, 225, s.gap.Load())
	for range 50 {
		s.pace(2*320, 32)
	}
	require.InDelta(t, 400, s.gap.Load(), 2)
}
