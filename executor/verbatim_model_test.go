//go:build modelcheck

package executor

import (
	"context"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/executor/experiment"
)

// onEachVerbatim is onEach with Config.Experiment.Verbatim. The executor's workers sleep when the program begins.
func onEachVerbatim(t *testing.T, workers []int, program func(ex *Executor)) {
	onEach(t, workers, func(n int, p string) {
		ex := started(Config{Workers: n, Experiment: experiment.Options{Policy: p, Verbatim: true}})
		program(ex)
		stop(ex)
	})
}

// A severalJob is a job that begins with several items.
type severalJob struct {
	*job
	others []func(*Worker)
}

func (j *severalJob) Begin(r *JobRun) (*Item, error) {
	first := j.item(j.first)
	var others []*Item
	for _, f := range j.others {
		others = append(others, j.item(f))
	}
	r.BeginWith(slices.Values(others))
	return first, nil
}

// TestModelBeginWith: of two items submitted with one notification none is stranded while a worker sleeps.
func TestModelBeginWith(t *testing.T) {
	onEachVerbatim(t, []int{2}, func(ex *Executor) {
		b := barrier{n: 2}
		j := &severalJob{newJob(b.meet), []func(*Worker){b.meet}}
		j.ended(ex.Run(context.Background(), j))
	})
}

// TestModelBeginWithInside: the same for a run that a task starts, whose items are pushed.
func TestModelBeginWithInside(t *testing.T) {
	onEachVerbatim(t, []int{2}, func(ex *Executor) {
		b := barrier{n: 2}
		runJob(ex, func(_ *job, w *Worker) {
			j := &severalJob{newJob(b.meet), []func(*Worker){b.meet}}
			j.ended(ex.Run(context.Background(), j))
		})
	})
}

// TestModelGrowVerbatim is TestModelGrow for thieves that do not yield when they lose a steal: their policy makes them
// yield, or sleep.
func TestModelGrowVerbatim(t *testing.T) {
	onEachVerbatim(t, []int{2}, func(ex *Executor) { runJob(ex, pushes(grows)) })
}
