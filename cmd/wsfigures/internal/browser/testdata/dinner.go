// Command dinner writes into the file that it is given the trace of a run in which one task waits for a nested run, the
// next fails, and the last is skipped.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/observe"
	"github.com/magpie-go/magpie/graph"
)

func main() {
	if err := trace(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func trace(name string) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	tracer := observe.NewTrace(file, observe.TraceOptions{Edges: true, Wait: true})
	ex, err := executor.New(executor.Config{ // one worker, within whose task the nested run is
		Name: "kitchen", Workers: 1, Spares: -1, Observers: []*executor.Observer{tracer.Observer()},
	})
	if err != nil {
		return err
	}
	var broken = errors.New("the plate broke")
	if err := ex.Run(context.Background(), dinner(ex, name, broken)); !errors.Is(err, broken) {
		return fmt.Errorf("the run's error is %w", err)
	}
	return errors.Join(ex.Close(), tracer.Close(), file.Close())
}

// dinner returns a chain of tasks, of which the third fails. The first waits until the trace has a counter.
func dinner(ex *executor.Executor, trace string, broken error) *graph.Graph {
	work := func(context.Context) error { return nil }
	oven := graph.New("oven")
	oven.Task(work).Named("bake").Succeed(oven.Task(work).Named("heat"))
	g := graph.New("dinner")
	shop := g.Task(func(context.Context) error {
		for {
			text, err := os.ReadFile(trace)
			if err != nil || bytes.Contains(text, []byte(`"workers"`)) {
				return err
			}
			time.Sleep(time.Millisecond)
		}
	}).Named("shop")
	cook := g.Task(func(ctx context.Context) error { return ex.Run(ctx, oven) }).Named("cook")
	serve := g.Task(func(context.Context) error { return broken }).Named("serve")
	eat := g.Task(work).Named("eat")
	shop.Precede(cook)
	cook.Precede(serve)
	serve.Precede(eat)
	return g
}
