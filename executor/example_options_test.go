package executor_test

import (
	"context"
	"fmt"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

// Two tenants share an executor: the second gets no more than one worker, and only what the first leaves.
func ExampleWith() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		panic(err)
	}
	defer ex.Close()
	work := func(text string) executor.Job {
		return executor.NewJob("work", func(*executor.Scope) error {
			fmt.Println(text)
			return nil
		})
	}
	first := executor.With(work("served"), executor.RunOptions{Name: "tenant 1", Priority: executor.High})
	second := executor.With(work("served later"), executor.RunOptions{
		Name: "tenant 2", Priority: executor.Low, Workers: 1,
	})
	for _, job := range []executor.Job{first, second} {
		r := ex.Start(context.Background(), job)
		if err := r.Wait(); err != nil {
			fmt.Println(err)
		}
		fmt.Println(r.Name(), "has ended")
	}
	// Output:
	// served
	// tenant 1 has ended
	// served later
	// tenant 2 has ended
}

// A progress bar in a terminal.
func ExampleRun_Progress() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		panic(err)
	}
	defer ex.Close()
	g := graph.New("thumbnails")
	for range 8 {
		g.Task(func(context.Context) error {
			time.Sleep(time.Millisecond)
			return nil
		})
	}
	r := ex.Start(context.Background(), g)
	bar := time.NewTicker(100 * time.Millisecond)
	defer bar.Stop()
	for {
		p := r.Progress()
		fmt.Printf("\r%d of %d, %d workers", p.Done, p.Total, p.Running)
		if p.Over {
			break
		}
		select {
		case <-bar.C:
		case <-r.Done():
		}
	}
	fmt.Println()
}
