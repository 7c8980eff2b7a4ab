package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/cmd/internal/workload"
)

// local runs the graph in this process, on an executor with as many workers as those of a show have together.
func local(ctx context.Context, o options, out io.Writer) error {
	tell := &story{out: out, begin: time.Now()}
	ex, err := executor.New(executor.Config{Workers: o.workers * o.each, Spares: -1}) // as in a worker process
	if err != nil {
		return err
	}
	defer ex.Close()
	f := workload.New()
	g := f.Graph(o.tasks, o.width, workload.Effort{Time: o.cost, Sleep: o.sleep}, o.seed)
	began := time.Now()
	res, err := cluster.Run(ctx, ex, f.Registry, g.Graph)
	if err != nil {
		return err
	}
	took := time.Since(began)
	right, err := g.IsRight(res)
	if err != nil {
		return err
	}
	if !right {
		return errors.New("the result is wrong")
	}
	tell.say("the result is right: %d calls in this process in %v; %s", g.Len(), took.Round(time.Millisecond),
		o.ofIdeal(took))
	return nil
}
