package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
)

// A life is the life of one executor.
type life struct {
	number   int64
	ex       *executor.Executor
	cfg      executor.Config
	closing  atomic.Bool  // from here on a run may find it closed
	expected atomic.Int64 // the number of tasks that Stats must report in the end: those of every run that began

	uncounted bool // the number of its tasks is not known
}

func (l *life) String() string {
	gomaxprocs := ""
	if l.cfg.KeepGOMAXPROCS {
		gomaxprocs = ", GOMAXPROCS kept"
	}
	return fmt.Sprintf("executor %s (%d workers, %v, %v, %v forks, capacity %d, steal %v, nice %d%s)",
		l.cfg.Name, l.cfg.Workers, l.cfg.Policy, l.cfg.Deque, l.cfg.Forks, l.cfg.Capacity, l.cfg.Steal, l.cfg.Nice,
		gomaxprocs)
}

// niceToo is whether workers can have a nice value.
const niceToo = runtime.GOOS == "linux"

// drawConfig draws a configuration from all that an executor can have, with the first two policies or every one.
func drawConfig(rng *rand.Rand, every bool) executor.Config {
	policies := []executor.Policy{executor.Adaptive, executor.AdaptivePublished}
	if every {
		policies = slices.DeleteFunc(executor.Policies(), func(p executor.Policy) bool { return p.Available() != nil })
	}
	forks := executor.AllForks()
	deques := slices.DeleteFunc(deque.Kinds(), func(d deque.Kind) bool { return d.FIFO() }) // scopes need LIFO
	cfg := executor.Config{
		Workers:        1 + rng.IntN(8),
		Policy:         policies[rng.IntN(len(policies))],
		Deque:          deques[rng.IntN(len(deques))],
		Forks:          forks[rng.IntN(len(forks))],
		Spares:         rng.IntN(4) - 1,
		KeepGOMAXPROCS: rng.IntN(2) == 0,
	}
	if rng.IntN(3) == 0 {
		cfg.Capacity = 1 << rng.IntN(6)
	}
	if cfg.Deque.Batches() {
		cfg.Steal = deque.Batch(rng.IntN(3))
	}
	if nice := rng.IntN(3) == 0; nice && niceToo {
		cfg.Nice = 19
	}
	if rng.IntN(2) == 0 {
		cfg.Callers = executor.IdleCallers
	}
	return cfg
}

// open starts an executor.
func (s *soak) open(cfg executor.Config) (*life, error) {
	number := s.opened.Add(1)
	cfg.Name = fmt.Sprintf("soak%d", number)
	ex, err := executor.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("executor with %+v: %w", cfg, err)
	}
	l := &life{number: number, ex: ex, cfg: cfg}
	s.mu.Lock()
	s.lives[l] = true
	s.mu.Unlock()
	if cfg.Nice != 0 {
		s.nice.Add(1)
	}
	return l, nil
}

// close closes an executor, and checks that no thread of it is left and that it has counted the tasks that it ran.
func (s *soak) close(l *life) {
	l.closing.Store(true)
	if err := l.ex.Close(); err != nil {
		s.fail(fmt.Errorf("%v: Close: %w", l, err))
	}
	if tasks := l.ex.Stats().Total.Tasks; tasks != uint64(l.expected.Load()) && !l.uncounted {
		s.fail(fmt.Errorf("%v: Stats tells %d tasks, its runs had %d", l, tasks, l.expected.Load()))
	}
	if l.cfg.Nice != 0 {
		s.nice.Add(-1)
	}
	// Close does not wait for ever for a thread to end.
	if !eventually(func() bool { return threadsNamed(l.cfg.Name+"-") == 0 }) {
		s.fail(fmt.Errorf("%v: closed, and %d threads are left", l, threadsNamed(l.cfg.Name+"-")))
	}
	s.mu.Lock()
	delete(s.lives, l)
	s.mu.Unlock()
}
