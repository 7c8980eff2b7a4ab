//go:build modelcheck

package executor

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// TestModelHelpersShareTheInjector: every worker waits for a run of its own whose item lies in the injector, and one of the
// two items waits for the other. The helper that loses the race for the first must not sleep beside the next.
func TestModelHelpersShareTheInjector(t *testing.T) {
	onEach(t, []int{2}, func(n int, p Policy) {
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
			met.meet(nil) // nobody is left to take what is started now, but those who wait for it
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
