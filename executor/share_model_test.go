//go:build modelcheck

package executor

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// TestModelHelpersShareTheInjector: every worker waits for a run of its own whose item lies in the injector, and one of
// the two items waits for the other. The helper that loses the race for the first must not sleep beside the next.
func TestModelHelpersShareTheInjector(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		var (
			met     = barrier{n: 3}
			started xatomic.Bool // publishes runs
			ran     xatomic.Bool
			runs    [2]*Run
			awaited = [2]*job{
				newJob(func(*Worker) { ran.Await() }),
				newJob(func(*Worker) { ran.Store(true) }),
			}
			waiting [2]*Run
			waits   [2]*job
		)
		model.Calm(func() {
			for i := range waits {
				waits[i] = newJob(func(w *Worker) {
					met.meet(w)
					started.Await()
					awaited[i].ended(runs[i].Wait())
				})
				waiting[i] = ex.Start(context.Background(), waits[i])
			}
			met.meet(nil) // only the waiting workers are left to take what is started now
			for i := range runs {
				runs[i] = ex.Start(context.Background(), awaited[i])
			}
		})
		started.Store(true)
		for i := range waits {
			waits[i].ended(waiting[i].Wait())
		}
		stop(ex)
	})
}

// TestModelHelperAfterLastThief: a helper sleeps, and the two items that it and a thief have to run are pushed without
// a wake-up because of that thief. When the thief takes one it is the last, and no worker sleeps: it must wake the
// helper for the other.
func TestModelHelperAfterLastThief(t *testing.T) {
	onEach(t, []int{3}, func(n int, p string) {
		ex := start(n, p)
		outer, inner := newJob(nil), newJob(nil)
		var (
			taken, begun, push, end xatomic.Bool
			met                     = barrier{n: 3}
		)
		meet := func(w *Worker) {
			met.meet(w)
			end.Await()
		}
		inner.first = func(w *Worker) {
			begun.Store(true)
			push.Await()
			inner.push(w, meet)
			inner.push(w, meet)
			meet(w)
		}
		outer.first = func(w *Worker) {
			outer.push(w, func(*Worker) { // by the worker that is to be the thief
				taken.Store(true)
				push.Await()
			})
			taken.Await()
			r := ex.Start(context.Background(), inner)
			begun.Await()
			inner.ended(r.Wait())
		}
		var r *Run
		model.Calm(func() { // TestModelHelperSleeps examines how a helper comes to sleep, and how it returns
			r = ex.Start(context.Background(), outer)
			for ex.Parked() == 0 || ex.sleepingHelpers.Load() == 0 {
				model.Spin()
			}
		})
		push.Store(true)
		met.arrived.Await(func(n int32) bool { return n == met.n })
		model.Calm(func() {
			end.Store(true)
			outer.ended(r.Wait())
			death(ex)
		})
	})
}
