//go:build modelcheck

package executor

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// vigils are the policies that say what a worker does that waits inside a task.
var vigils = []string{"abp", "mbws", "mbws-role", "wsgi"}

// TestModelVigil: a worker that waits for a run under such a policy runs what another worker pushes for that run, and
// goes on when the run is over.
func TestModelVigil(t *testing.T) { on(t, vigils, []int{2}, helpsAThief) }

// TestModelVigilJoin: the same in a Join of a fork that waits for something outside.
func TestModelVigilJoin(t *testing.T) { on(t, vigils, []int{2}, joinsAThief) }

// TestModelVigilSpare: a worker that stays awake in a wait counts as asleep. The run that it waits for blocks until
// one from outside is over, whose item only a spare in the worker's place can run.
func TestModelVigilSpare(t *testing.T) {
	policies := []string{"abp"}
	if model.IsBoundSet() {
		policies = append(policies, "mbws", "mbws-role") // a hundred thousand schedules otherwise
	}
	on(t, policies, []int{1}, func(n int, p string) {
		ex := spared(n, 2, p)
		var begun, over xatomic.Bool
		foreign := newJob(func(*Worker) { over.Store(true) })
		inner := newJob(func(*Worker) {
			begun.Store(true)
			Blocking(over.Await)
		})
		outer := newJob(func(*Worker) {
			r := ex.Start(context.Background(), inner)
			Blocking(begun.Await)
			inner.ended(r.Wait())
		})
		var r *Run
		model.Calm(func() {
			r = ex.Start(context.Background(), outer)
			begun.Await()
		})
		foreign.ended(ex.Run(context.Background(), foreign))
		outer.ended(r.Wait())
		stop(ex)
	})
}
