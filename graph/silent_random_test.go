//go:build !modelcheck

package graph_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A sleepy is a random graph. Some of its tasks sleep, start other runs, or wait for them.
type sleepy struct {
	t     *testing.T
	ex    *executor.Executor
	rng   *rand.Rand
	graph *graph.Graph
	ran   []atomic.Int32
	naps  map[int]bool // the tasks that sleep

	mu     sync.Mutex
	others []*executor.Run
}

// newSleepy makes a graph of full layers. Only if several is set, its tasks are of several kinds.
func newSleepy(t *testing.T, ex *executor.Executor, rng *rand.Rand, several bool) *sleepy {
	s := &sleepy{t: t, ex: ex, rng: rng, graph: graph.New("sleepy"), naps: map[int]bool{}}
	const depth, width = 8, 7 // so few successors are released one by one
	s.ran = make([]atomic.Int32, depth*width)
	if rng.IntN(3) > 0 {
		s.naps[rng.IntN(len(s.ran))] = true
	}
	semaphore := graph.NewSemaphore(1)
	var before []graph.Task
	first, last := 0, 0 // of the layer before
	for len(s.ran) > last {
		end := min(last+1+rng.IntN(width), len(s.ran))
		var layer []graph.Task
		for i := last; i < end; i++ {
			kind := 0
			if several {
				kind = rng.IntN(20)
			}
			task := s.add(kind, s.work(i, first, last), semaphore)
			task.Succeed(before...)
			layer = append(layer, task)
		}
		before, first, last = layer, last, end
	}
	return s
}

// add adds a task that calls work.
func (s *sleepy) add(kind int, work func(), semaphore *graph.Semaphore) graph.Task {
	fn := func(context.Context) error { work(); return nil }
	switch kind {
	case 1:
		return s.graph.Task(fn).Hold(semaphore)
	case 2:
		return s.graph.Subflow(func(_ context.Context, sub *graph.Graph) error { sub.Task(fn); return nil })
	case 3:
		return s.graph.External(func(_ context.Context, done func(error)) error {
			go func() { work(); done(nil) }()
			return nil
		})
	case 4:
		sub := graph.New("sub")
		sub.Task(fn)
		return s.graph.Module(sub)
	}
	return s.graph.Task(fn)
}

// work returns the work of task i, which comes after tasks first to last-1.
func (s *sleepy) work(i, first, last int) func() {
	sleep, does := s.naps[i], s.rng.IntN(12)
	wait := 15*time.Millisecond + time.Duration(s.rng.IntN(15))*time.Millisecond
	return func() {
		for j := first; j < last; j++ {
			assert.EqualValues(s.t, 1, s.ran[j].Load(), "task %d before %d", j, i)
		}
		switch {
		case sleep:
			time.Sleep(wait)
		case does == 0:
			run := s.ex.Start(context.Background(), layers(2, 3, func() { spin(10 * time.Microsecond) }))
			s.mu.Lock()
			s.others = append(s.others, run)
			s.mu.Unlock()
		case does == 1:
			s.mu.Lock()
			others := s.others
			s.others = nil
			s.mu.Unlock()
			for _, run := range others {
				assert.NoError(s.t, run.Wait())
			}
		default:
			spin(time.Duration(does) * 20 * time.Microsecond)
		}
		s.ran[i].Add(1)
	}
}

// TestRandomSilent: whatever tasks of an executor with one worker do, of which some sleep outside Blocking, each runs
// once and after all before it. The race detector checks how they are counted down.
func TestRandomSilent(t *testing.T) {
	seed := testkit.Seed(t)
	n := testkit.Count(t, 30)
	for i := range n {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		cfg := executor.Config{Workers: 1, Callers: executor.BriefCallers}
		switch rng.IntN(4) {
		case 0:
			cfg.Callers = executor.IdleCallers
		case 1:
			cfg.Experiment.Deque, cfg.Experiment.BlockSize = deque.KindBWoSFIFO, 1
		}
		ex, err := executor.New(cfg)
		require.NoError(t, err)
		var submitters sync.WaitGroup
		for range 1 + rng.IntN(3) {
			s := newSleepy(t, ex, rand.New(rand.NewPCG(seed, rng.Uint64())), rng.IntN(4) == 0)
			submitters.Go(func() {
				for range 2 {
					assert.NoError(t, ex.Run(context.Background(), s.graph))
					for j := range s.ran {
						assert.EqualValues(t, 1, s.ran[j].Swap(0), "task %d", j)
					}
				}
			})
		}
		testkit.Within(t, testkit.Patience, submitters.Wait, dumpOf(ex))
		require.NoError(t, ex.Close())
	}
	testkit.Proved(t, n, fmt.Sprintf("programs, seed %d", seed))
}
