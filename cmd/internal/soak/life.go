package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
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
	if l.cfg.Host.KeepGOMAXPROCS {
		gomaxprocs = ", GOMAXPROCS kept"
	}
	x := l.cfg.Experiment
	return fmt.Sprintf("executor %s (%d workers, %v, %v, %v forks, capacity %d, steal %v, nice %d%s)",
		l.cfg.Name, l.cfg.Workers, x.Policy, x.Deque, x.Forks, x.Capacity, x.Steal, l.cfg.Threads.Nice,
		gomaxprocs)
}

// niceToo is whether workers can have a nice value.
const niceToo = runtime.GOOS == "linux"

// drawConfig draws a configuration from all that an executor can have, with the first two policies or every one.
func drawConfig(rng *rand.Rand, every bool) executor.Config {
	policies := []string{"adaptive", "adaptive-published"}
	if every {
		policies = slices.DeleteFunc(experiment.Policies(), func(p string) bool { return experiment.Available(p) != nil })
	}
	forks := experiment.Forks()
	deques := slices.DeleteFunc(deque.Kinds(), func(d deque.Kind) bool { return d.FIFO() }) // scopes need LIFO
	cfg := executor.Config{
		Workers: 1 + rng.IntN(8),
		Experiment: experiment.Options{
			Policy: policies[rng.IntN(len(policies))], Deque: deques[rng.IntN(len(deques))], Forks: forks[rng.IntN(len(forks))],
		},
		Spares: rng.IntN(4) - 1,
		Host:   host.Options{KeepGOMAXPROCS: rng.IntN(2) == 0},
	}
	if rng.IntN(3) == 0 {
		cfg.Experiment.Capacity = 1 << rng.IntN(6)
	}
	if cfg.Experiment.Deque.Batches() {
		cfg.Experiment.Steal = deque.Batch(rng.IntN(3))
	}
	if nice := rng.IntN(3) == 0; nice && niceToo {
		cfg.Threads.Nice = 19
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
	if cfg.Threads.Nice != 0 {
		s.nice.Add(1)
	}
	return l, nil
}

// counted returns how many tasks the executor has run or skipped.
func (l *life) counted() uint64 {
	total := l.ex.Stats().Total
	return total.Tasks + total.Skipped
}

// close closes an executor, and checks that no thread of it is left and that it has counted the tasks that it ran.
func (s *soak) close(l *life) {
	l.closing.Store(true)
	if err := l.ex.Close(); err != nil {
		s.fail(fmt.Errorf("%v: Close: %w", l, err))
	}
	if tasks := l.counted(); tasks != uint64(l.expected.Load()) && !l.uncounted {
		s.fail(fmt.Errorf("%v: Stats tells %d tasks, its runs had %d", l, tasks, l.expected.Load()))
	}
	if l.cfg.Threads.Nice != 0 {
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
