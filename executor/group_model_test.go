//go:build modelcheck

package executor

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// calls counts the calls of one function, which are to be one.
type calls struct{ tally }

func (c *calls) call() error {
	n := c.add()
	model.Assert(n == 1, "a function was called %d times", n)
	return nil
}

// were checks that each function was called.
func were(all ...*calls) {
	for i, c := range all {
		model.Assert(c.get() == 1, "function %d was called %d times", i, c.get())
	}
}

// waited waits for a group of which no function has failed.
func waited(g *Group) {
	err := g.Wait()
	model.Assert(err == nil, "Wait: %v", err)
}

// TestModelGroup: functions from outside are called once each before Wait returns, and the run ends.
func TestModelGroup(t *testing.T) {
	onDefault(t, []int{1, 2}, func(n int, p string) {
		ex := start(n, p)
		var a, b calls
		g := NewGroup(ex)
		g.Go(a.call)
		g.Go(b.call)
		waited(g)
		were(&a, &b)
		stop(ex)
	})
}

// TestModelGroupLimit: with a limit of 1, one function runs at a time. Go of the next waits until it has ended.
func TestModelGroupLimit(t *testing.T) {
	waits := 0
	onDefault(t, []int{1, 2}, func(n int, p string) {
		ex := start(n, p)
		g := NewGroup(ex)
		g.SetLimit(1)
		var r room
		var all [3]calls
		for i := range all {
			g.Go(func() error {
				if g.first != nil {
					waits++
				}
				r.visit(nil)
				return all[i].call()
			})
			model.Assert(i == 0 || all[i-1].get() == 1, "Go has returned before the turn of its function")
		}
		waited(g)
		were(&all[0], &all[1], &all[2])
		model.Assert(g.active == 0 && g.first == nil, "a turn is left")
		stop(ex)
	})
	model.Reached(t, waits, "a Go waits for the turn of its function")
}

// TestModelGroupLimitInTask: the same where a task calls Go, if there is a spare. Without one Go does not wait: nobody
// else might run the functions.
func TestModelGroupLimitInTask(t *testing.T) {
	for _, spares := range []int{-1, 1} {
		waits := 0
		t.Run(fmt.Sprintf("spares=%d", spares), func(t *testing.T) {
			onDefault(t, []int{1}, func(n int, p string) {
				ex := spared(n, spares, p)
				g := NewGroup(ex)
				g.SetLimit(1)
				var all [2]calls
				callers := NewGroup(ex)
				callers.Go(func() error {
					for i := range all {
						g.Go(func() error {
							if g.first != nil {
								waits++
							}
							return all[i].call()
						})
						model.Assert(spares < 0 || i == 0 || all[i-1].get() == 1,
							"Go has returned before the turn of its function")
					}
					return nil
				})
				waited(callers)
				waited(g)
				were(&all[0], &all[1])
				model.Assert(g.active == 0 && g.first == nil, "a turn is left")
				stop(ex)
			})
			model.Reached(t, waits, "a Go finds no turn for its function")
		})
	}
}

// TestModelGroupLimitOfItself: a function that gives another to its own full group calls it, with its own turn, and one
// that this gives away is queued.
func TestModelGroupLimitOfItself(t *testing.T) {
	called := 0
	onDefault(t, []int{1, 2}, func(n int, p string) {
		ex := spared(n, 1, p)
		g := NewGroup(ex)
		g.SetLimit(1)
		var r room
		var a, b calls
		g.Go(func() error {
			g.Go(func() error {
				if partsOf(ex.currentWorker()).inGo > 0 {
					called++
				}
				g.Go(func() error { r.visit(nil); return b.call() })
				model.Assert(b.get() == 0, "deeper than maxInGo")
				r.visit(nil)
				return a.call()
			})
			model.Assert(a.get() == 1, "Go has returned before the function that it calls")
			r.visit(nil)
			return nil
		})
		waited(g)
		were(&a, &b)
		model.Assert(g.active == 0 && g.first == nil, "a turn is left")
		stop(ex)
	})
	model.Reached(t, called, "Go calls a function")
}

// TestModelGroupWaitsForItself: where the limit is two, the first of two functions that give others to their own full
// group waits until another function has ended, or the second gives some, too.
func TestModelGroupWaitsForItself(t *testing.T) {
	waits, calledIn := 0, 0
	onDefault(t, []int{1}, func(n int, p string) {
		ex := spared(n, 1, p)
		g := NewGroup(ex)
		g.SetLimit(2)
		var all [2]calls
		ends := NewGroup(ex)
		ends.Go(func() error { // so that both have a turn before one begins
			for i := range all {
				g.Go(func() error {
					g.Go(func() error {
						if partsOf(ex.currentWorker()).inGo > 0 {
							calledIn++
						}
						return all[i].call()
					})
					if r := g.run.Load(); r.inGo > 0 {
						waits++
					}
					return nil
				})
			}
			return nil
		})
		waited(ends)
		waited(g)
		were(&all[0], &all[1])
		r := g.run.Load()
		model.Assert(g.active == 0 && g.first == nil && r.inGo == 0, "a turn is left")
		stop(ex)
	})
	model.Reached(t, calledIn, "Go calls a function")
	model.Reached(t, waits, "Go of a function waits while another goes on")
}

// TestModelGroupLimitWithin: what a function of the group has started does not wait for its turn in the group.
func TestModelGroupLimitWithin(t *testing.T) {
	onDefault(t, []int{2}, func(n int, p string) {
		ex := spared(n, 1, p)
		g := NewGroup(ex)
		g.SetLimit(1)
		var a calls
		g.Go(func() error {
			inner := NewGroup(ex)
			inner.Go(func() error {
				g.Go(a.call)
				return nil
			})
			return inner.Wait()
		})
		waited(g)
		were(&a)
		stop(ex)
	})
}

// TestModelGroupAgain: a Go that comes while another thread waits is waited for by that thread, or begins a new run.
func TestModelGroupAgain(t *testing.T) {
	again := 0
	onDefault(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		var a, b calls
		g := NewGroup(ex)
		g.Go(a.call)
		before := g.run.Load()
		join := model.Go(func() { g.Go(b.call) })
		waited(g)
		model.Assert(a.get() == 1, "Wait returns before the function has ended")
		join()
		if g.run.Load() != before {
			again++
		}
		waited(g)
		were(&a, &b)
		stop(ex)
	})
	model.Reached(t, again, "a group begins anew")
}

// TestModelGroupStays: a failure stays, also where a Go that comes while another thread waits begins a new run. That
// function is called, and one of GoContext that comes after the Wait is not.
func TestModelGroupStays(t *testing.T) {
	again := 0
	fails := errors.New("fails")
	onDefault(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		var a, late calls
		g := NewGroup(ex)
		g.Go(func() error { return fails })
		before := g.run.Load()
		join := model.Go(func() { g.Go(a.call) })
		err := g.Wait()
		model.Assert(err == fails, "Wait: %v", err)
		join()
		if g.run.Load() != before {
			again++
		}
		g.GoContext(func(context.Context) error { return late.call() })
		err = g.Wait()
		model.Assert(err == fails && late.get() == 0, "Wait again: %v, called %d times", err, late.get())
		were(&a)
		stop(ex)
	})
	model.Reached(t, again, "a group that has failed begins another run")
}

// TestModelGroupCancel: a Cancel that comes while another thread gives the group its first function cancels what comes
// after it.
func TestModelGroupCancel(t *testing.T) {
	called := 0
	onDefault(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		g := NewGroup(ex)
		join := model.Go(func() { g.Cancel(nil) })
		g.GoContext(func(context.Context) error { called++; return nil })
		join()
		g.GoContext(func(context.Context) error { panic("called after Cancel") })
		err := g.Wait()
		model.Assert(errors.Is(err, context.Canceled), "Wait: %v", err)
		stop(ex)
	})
	model.Reached(t, called, "a function is called before Cancel")
}

// TestModelGroupCancelled: two threads give a function to a group that was cancelled before its first. Neither is
// called.
func TestModelGroupCancelled(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		g := NewGroup(ex)
		g.Cancel(nil)
		give := func() { g.GoContext(func(context.Context) error { panic("called after Cancel") }) }
		join := model.Go(give)
		give()
		join()
		err := g.Wait()
		model.Assert(errors.Is(err, context.Canceled), "Wait: %v", err)
		stop(ex)
	})
}

// TestModelGroupBegins: two tasks call Go of a group that has no run yet. All functions are of one run,
// or of runs one after the other, and none is lost.
func TestModelGroupBegins(t *testing.T) {
	onDefault(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		var a, b calls
		g := NewGroup(ex)
		both := barrier{n: 2}
		runJob(ex, func(j *job, w *Worker) {
			j.push(w, func(w *Worker) {
				both.meet(w)
				g.Go(a.call)
			})
			both.meet(w)
			g.Go(b.call)
		})
		waited(g)
		were(&a, &b)
		stop(ex)
	})
}

// TestModelGroupHelper: a task of another run gives the group a function and waits for its call outside Blocking. A
// task that waits for the group, perhaps asleep, has to find the function in that worker's lane.
func TestModelGroupHelper(t *testing.T) {
	onDefault(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		g := NewGroup(ex)
		var a calls
		var began, done xatomic.Bool
		var waits *Run
		model.Calm(func() {
			g.Go(func() error { return nil })
			waits = ex.Start(context.Background(), newJob(func(*Worker) {
				began.Store(true)
				waited(g)
			}))
			began.Await()
		})
		r := ex.Start(context.Background(), newJob(func(*Worker) {
			g.Go(func() error {
				done.Store(true)
				return a.call()
			})
			done.Await()
		}))
		err := r.Wait()
		model.Assert(err == nil && waits.Wait() == nil, "the run of a task fails")
		waited(g)
		were(&a)
		stop(ex)
	})
}

// TestModelGroupClose: a function that comes while the executor closes is called or refused, Close does not wait for
// Wait, and Wait tells which.
func TestModelGroupClose(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		join := model.Go(func() { death(ex) })
		g := NewGroup(ex)
		var a calls
		g.Go(a.call)
		join()
		switch err := g.Wait(); {
		case errors.Is(err, ErrClosed):
			model.Assert(a.get() == 0, "refused and called")
		default:
			model.Assert(err == nil && a.get() == 1, "%v, called %d times", err, a.get())
		}
	})
}

// TestModelGroupRefused: groups of a closed executor are refused however often they are used.
func TestModelGroupRefused(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		stop(ex)
		g := NewGroup(ex)
		for range 3 {
			g.Go(func() error { panic("called on a closed executor") })
			err := g.Wait()
			model.Assert(errors.Is(err, ErrClosed), "Wait: %v", err)
		}
	})
}

// TestModelGroupTryGo: with a limit of 1, TryGo is refused, or its function is called. A turn that TryGo has taken and
// cannot use, because the executor closes, is not lost.
func TestModelGroupTryGo(t *testing.T) {
	onDefault(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		g := NewGroup(ex)
		g.SetLimit(1)
		var a, b calls
		g.Go(a.call)
		close := model.Go(func() { ex.refuse() })
		went := g.TryGo(b.call)
		close()
		err := g.Wait()
		model.Assert(err == nil || errors.Is(err, ErrClosed), "Wait: %v", err)
		model.Assert(a.get() == 1 && (b.get() == 1) == went, "called %d and %d times, TryGo %v", a.get(), b.get(), went)
		model.Assert(g.active == 0 && g.first == nil, "a turn is left")
		stop(ex)
	})
}
