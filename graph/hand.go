package graph

import (
	"context"
	"fmt"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/xsync"
)

// TryAcquire takes n permits if as many are free, and reports whether it has. It does not wait. [Semaphore.Release]
// gives them back. It may be called from anywhere. It panics if n is below one or if the semaphore has fewer permits.
func (s *Semaphore) TryAcquire(n int) bool {
	s.mustHave("TryAcquire", n)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.takeByHand(n)
}

// takeByHand takes n permits if as many are free. The caller holds mu.
func (s *Semaphore) takeByHand(n int) bool {
	if s.free < n {
		return false
	}
	s.free -= n
	s.byHand += n
	return true
}

// Acquire waits until n permits are free and takes them. [Semaphore.Release] gives them back. If ctx ends first, or has
// ended, Acquire takes none and returns ctx's error. On a worker it waits as in [executor.Blocking]; a task of a graph
// that needs permits all the time it runs waits better with [Task.Hold]. A task must not wait for permits that only
// tasks after it give back. Acquire panics if n is below one or if the semaphore has fewer permits.
func (s *Semaphore) Acquire(ctx context.Context, n int) (err error) {
	s.mustHave("Acquire", n)
	if ctx == nil {
		panic("graph: Semaphore.Acquire needs a context, got nil")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if !s.TryAcquire(n) {
		executor.Blocking(func() { err = s.await(ctx, n) })
	}
	return err
}

// await is Acquire for a caller that may wait.
func (s *Semaphore) await(ctx context.Context, n int) error {
	it := new(executor.Item) // only its address is used
	over := ctx.Done()       // user code: before the call is in the queue
	left := true             // the call is not in the queue, nor woken
	defer func() {           // also if ctx.Err panics
		if !left && !s.withdraw(it, nil) {
			s.wake()
		}
	}()
	for again := false; ; again = true {
		a := aside{it, n, newSignal()}
		s.mu.Lock()
		taken := s.takeByHand(n)
		if !taken {
			s.putAside(a, nil)
		}
		s.mu.Unlock()
		left = taken
		if taken {
			return nil
		}
		if again {
			s.wake() // see wake: the call was woken and does not take the permits
		}
		a.woken.await(over)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// Release gives back n permits that [Semaphore.Acquire] or [Semaphore.TryAcquire] has taken. It panics if that many
// were not taken in this way: permits that tasks have taken are given back by tasks.
func (s *Semaphore) Release(n int) {
	s.mustBe()
	s.mu.Lock()
	if n < 1 || n > s.byHand {
		byHand := s.byHand
		s.mu.Unlock()
		panic(fmt.Sprintf("graph: Release of %d permits of a semaphore, of which Acquire and TryAcquire have taken %d",
			n, byHand))
	}
	s.byHand -= n
	s.mu.Unlock()
	s.give(n)
}

// mustBe panics if s is nil.
func (s *Semaphore) mustBe() {
	if s == nil {
		panic("graph: a nil Semaphore is used: make one with NewSemaphore")
	}
}

func (s *Semaphore) mustHave(method string, n int) {
	s.mustBe()
	if n < 1 || n > s.permits {
		panic(fmt.Sprintf("graph: %s of %d permits of a semaphore that has %d", method, n, s.permits))
	}
}

// A signal is made once, for one call that waits for it.
type signal struct{ made chan struct{} }

func newSignal() *signal { return &signal{make(chan struct{})} }

func (s *signal) make() { xsync.Close(s.made) }

// await waits until the signal is made or over is closed.
func (s *signal) await(over <-chan struct{}) { xsync.Await(s.made, over) }
