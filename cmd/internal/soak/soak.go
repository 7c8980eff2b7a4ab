package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/executor"
)

// options are the settings of a soak.
type options struct {
	tasks   int64
	seed    uint64
	stderr  io.Writer
	storms  []disturbance
	drivers int
	play    []scenario
	every   bool // every policy is drawn, not only those whose thieves sleep
}

func defaults(tasks int64, seed uint64, stderr io.Writer) options {
	return options{tasks, seed, stderr, disturbances(), 3, scenarios, false}
}

// A soak runs scenarios until options.tasks tasks have run.
type soak struct {
	options
	procs  int // GOMAXPROCS at the beginning
	chaos  *conductor
	pool   *pool
	abroad *life // the executor for nested runs on another executor

	done   atomic.Int64 // tasks that ran in checked runs
	pulses []pulse      // of each driver
	acts   [numActs]atomic.Int64
	runs   [numResults]atomic.Int64
	chored []atomic.Int64 // chores, by kind
	played []atomic.Int64 // scenarios, by their index
	opened atomic.Int64   // executors
	built  atomic.Int64   // graphs
	nice   atomic.Int64   // open executors with nice workers

	stop context.CancelFunc

	mu    sync.Mutex // guards the fields below
	lives map[*life]bool
	err   error // the first error
}

// A pulse changes as long as a driver progresses.
type pulse struct {
	atomic.Int64
	_ [120]byte // on a cache line of its own: tasks write it
}

// The ways in which runs end.
type result uint8

const (
	endComplete result = iota
	endFailed
	endCancelled
	endUnbegun
	numResults
)

// Streams of random numbers from the seed.
const (
	streamForms = iota
	streamChaos
	streamDriver
)

func (s *soak) rng(stream, n uint64) *rand.Rand {
	return rand.New(rand.NewPCG(s.seed, stream<<32|n))
}

// fail ends the soak with an error. Any thread.
func (s *soak) fail(err error) {
	s.mu.Lock()
	if s.err == nil {
		s.err = err
	}
	s.mu.Unlock()
	s.stop()
}

func (s *soak) noteRun(l *lane, ran int, err error) {
	switch {
	case err == nil:
		s.runs[endComplete].Add(1)
	case !l.began:
		s.runs[endUnbegun].Add(1)
	case len(l.failed) > 0:
		s.runs[endFailed].Add(1)
	default:
		s.runs[endCancelled].Add(1)
	}
	s.done.Add(int64(ran))
	l.pulse.Add(1)
}

func newSoak(o options, stop context.CancelFunc) *soak {
	s := &soak{
		options: o,
		pulses:  make([]pulse, o.drivers+1), // the last is for work outside drivers
		chored:  make([]atomic.Int64, len(choreKinds)),
		played:  make([]atomic.Int64, len(o.play)),
		stop:    stop,
		lives:   make(map[*life]bool),
	}
	s.pool = newPool(s)
	s.chaos = newConductor(s)
	return s
}

// soakFor runs a soak to its end, the end of ctx, or the first error. It reports the work done in any case.
func soakFor(ctx context.Context, o options) (*report, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := newSoak(o, stop)
	start := time.Now()
	goroutines := runtime.NumGoroutine()
	procs, restore := saveGOMAXPROCS()
	s.procs = procs

	over, shown := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(shown)
		s.showProgress(over, start)
	}()
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		s.drive(ctx)
	}()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	stuck := s.watch(finished, ticker.C)
	close(over)
	<-shown
	if stuck != nil {
		return s.report(time.Since(start)), stuck // the hung goroutines are left behind
	}
	restore()
	s.mu.Lock()
	err := s.err
	s.mu.Unlock()
	if err == nil && !eventually(func() bool { return runtime.NumGoroutine() <= goroutines }) {
		err = fmt.Errorf("%d goroutines were there before, %d are left", goroutines, runtime.NumGoroutine())
	}
	return s.report(time.Since(start)), err
}

// drive runs the drivers while the conductor disturbs them.
func (s *soak) drive(ctx context.Context) {
	var err error
	if s.abroad, err = s.open(executor.Config{Workers: 2}); err != nil {
		s.fail(err)
		return
	}
	endChaos := s.chaos.begin()
	var drivers sync.WaitGroup
	for i := range s.drivers {
		drivers.Go(func() { s.newDriver(ctx, i).work() })
	}
	drivers.Wait()
	endChaos()
	s.close(s.abroad)
	s.pulses[s.drivers].Add(1)
}

// eventually waits for a condition that no event announces, up to half a minute.
func eventually(condition func() bool) bool {
	for deadline := time.Now().Add(30 * time.Second); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}
