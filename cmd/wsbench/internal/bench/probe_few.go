package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

// fewIdle is what a handler does that has a small graph: the price of the graph is what the run takes more than the
// calls of its functions.
var fewIdle = &Probe{
	Name:     "few-idle",
	About:    "a graph of ten tasks of 1 µs after 1 ms of silence each time, in turn with calling them in a row",
	Size:     "runs",
	Default:  500,
	TakePart: true,
	Shape:    func(n int) workloads.Shape { return workloads.Shape{Data: 16 * float64(n)} },
	Measure: func(ctx context.Context, ex *executor.Executor, n int) ([]Metric, error) {
		ran := [few]int{}
		task := func(i int) {
			spin(1000)
			ran[i]++
		}
		g := graph.New("few")
		for i := range few {
			g.Task(func(context.Context) error { task(i); return nil })
		}
		run := func() (time.Duration, error) {
			begin := time.Now()
			err := ex.Run(context.Background(), g)
			return time.Since(begin), err
		}
		const warm = 100 // the graph finds out by its first runs whether to wake a worker pays
		for range warm {
			if err := sleep(ctx, time.Millisecond); err != nil {
				return nil, err
			}
			if _, err := run(); err != nil {
				return nil, err
			}
		}
		figures, err := alternate(ctx, n, run, "row", func() time.Duration {
			begin := time.Now()
			for i := range few {
				task(i)
			}
			return time.Since(begin)
		})
		if err != nil {
			return nil, err
		}
		for i, got := range ran {
			if want := warm + 2*n; got != want {
				return nil, fmt.Errorf("task %d ran %d times instead of %d", i, got, want)
			}
		}
		return figures, nil
	},
}

const few = 10
