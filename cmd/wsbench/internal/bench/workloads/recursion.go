package workloads

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/magpie-go/magpie/executor"
)

// A recursion is a program that is a function of one argument, written for each engine, with a known result.
type recursion[A any] struct {
	arg  A
	want int64

	serial     func(A) int64
	goroutines func(*spawner, A) int64
	fork       func(*executor.Scope, A) int64
	on         func(Team, A) int64 // nil: there is no profile

	got int64
}

func (r *recursion[A]) Serial() { r.got = r.serial(r.arg) }

func (r *recursion[A]) Goroutines(int) { r.got = r.goroutines(&spawner{most: CallsAlive}, r.arg) }

func (r *recursion[A]) Magpie(ex *executor.Executor) (err error) {
	r.got, err = executor.Call(context.Background(), ex, r.fork, r.arg)
	return err
}

// RunOn implements [Teamwork].
func (r *recursion[A]) RunOn(t Team) { r.got = r.on(t, r.arg) }

func (r *recursion[A]) Reset() { r.got = -1 }

func (r *recursion[A]) Verify() error {
	if r.got != r.want {
		return fmt.Errorf("the result is %d, not %d", r.got, r.want)
	}
	return nil
}

// A spawner starts the goroutines of one recursion, and bounds how many are alive. Without a bound they take all
// memory: waiting goroutines keep their stacks, and of the ready ones the scheduler runs the oldest first, which have
// the most work before them.
type spawner struct {
	most  int64
	alive atomic.Int64
}

// start calls f on a goroutine of wg, or at once if there are too many.
func (c *spawner) start(wg *sync.WaitGroup, f func()) {
	if c.alive.Add(1) > c.most {
		c.alive.Add(-1)
		f()
		return
	}
	wg.Add(1)
	go func() {
		f()
		c.alive.Add(-1)
		wg.Done()
	}()
}
