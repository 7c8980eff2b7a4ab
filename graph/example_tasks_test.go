package graph_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

// A task waits for a timer, and another for a run on another executor. Meanwhile neither holds a worker.
func ExampleGraph_External() {
	ex, err := executor.New(executor.Config{Workers: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	other, err := executor.New(executor.Config{Workers: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer other.Close()

	there := graph.New("there")
	there.Task(func(context.Context) error { fmt.Println("on the other executor"); return nil })

	g := graph.New("g")
	timer := g.External(func(_ context.Context, done func(error)) error {
		time.AfterFunc(time.Millisecond, func() { done(nil) })
		return nil
	})
	elsewhere := g.External(func(ctx context.Context, done func(error)) error {
		other.Start(ctx, there).OnEnd(done)
		return nil
	})
	timer.Precede(elsewhere)
	elsewhere.Precede(g.Task(func(context.Context) error { fmt.Println("after it"); return nil }))
	if err := ex.Run(context.Background(), g); err != nil {
		log.Fatal(err)
	}
	// Output:
	// on the other executor
	// after it
}

// An upload that fails twice. Between the calls it holds no worker.
func ExampleGraph_Retry() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	errBusy := errors.New("busy")
	calls := 0
	upload := func(context.Context) error {
		if calls++; calls < 3 {
			return errBusy
		}
		return nil
	}
	g := graph.New("upload")
	g.Retry(graph.RetryPolicy{
		Tries:    5,
		Pause:    time.Millisecond,
		MaxPause: time.Second,
		Jitter:   0.5,
		When:     func(err error) bool { return errors.Is(err, errBusy) },
	}, upload).Named("upload")
	fmt.Println(ex.Run(context.Background(), g), calls)
	// Output: <nil> 3
}

// A request whose reply is a value.
func ExampleSourceExternal() {
	ex, err := executor.New(executor.Config{Workers: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	ask := func(_ context.Context, reply func(string, error)) { go reply("magpie", nil) }
	g := graph.New("g")
	name := graph.SourceExternal(g, func(ctx context.Context, done func(string, error)) error {
		ask(ctx, done)
		return nil
	})
	graph.Sink(name, func(_ context.Context, name string) error { fmt.Println(name); return nil })
	if err := ex.Run(context.Background(), g); err != nil {
		log.Fatal(err)
	}
	// Output: magpie
}

// At most two of the downloads run at once, across graphs.
func ExampleTask_Hold() {
	ex, err := executor.New(executor.Config{Workers: 4})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	connections := graph.NewSemaphore(2)
	var inside, most atomic.Int32
	g := graph.New("downloads")
	for range 20 {
		g.Task(func(context.Context) error {
			n := inside.Add(1)
			defer inside.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			return nil
		}).Hold(connections)
	}
	fmt.Println(ex.Run(context.Background(), g), most.Load() <= 2)
	// Output: <nil> true
}

// A connection is taken by one task, used by the tasks after it, and given back by the last. No more than one of the
// three deliveries has it at a time.
func ExampleTask_Acquire() {
	ex, err := executor.New(executor.Config{Workers: 4})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	connections := graph.NewSemaphore(1)
	var open, most atomic.Int32
	g := graph.New("deliveries")
	for range 3 {
		connect := g.Task(func(context.Context) error {
			most.Store(max(most.Load(), open.Add(1)))
			return nil
		}).Acquire(connections)
		hangUp := g.Task(func(context.Context) error { open.Add(-1); return nil }).Release(connections)
		for range 4 {
			send := g.Task(func(context.Context) error { return nil })
			connect.Precede(send)
			hangUp.Succeed(send)
		}
	}
	fmt.Println(ex.Run(context.Background(), g), most.Load())
	// Output: <nil> 1
}

// Other code shares a limit with the tasks of graphs.
func ExampleSemaphore_Acquire() {
	connections := graph.NewSemaphore(2)
	ctx := context.Background()
	if err := connections.Acquire(ctx, 1); err != nil {
		log.Fatal(err)
	}
	defer connections.Release(1)
	fmt.Println(connections.TryAcquire(2), connections.TryAcquire(1))
	connections.Release(1)
	// Output: false true
}

// Tasks of high priority begin first, tasks of low priority last. With one worker that is the whole order.
func ExampleTask_Priority() {
	ex, err := executor.New(executor.Config{Workers: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	say := func(what string) func(context.Context) error {
		return func(context.Context) error { fmt.Println(what); return nil }
	}
	g := graph.New("build")
	g.Task(say("write the log")).Priority(graph.Low)
	g.Task(say("compile a.go"))
	g.Task(say("compile b.go"))
	generate := g.Task(say("generate c.go")).Priority(graph.High)
	generate.Precede(g.Task(say("compile c.go")))
	if err := ex.Run(context.Background(), g); err != nil {
		log.Fatal(err)
	}
	// Output:
	// generate c.go
	// compile a.go
	// compile b.go
	// compile c.go
	// write the log
}

// What does not depend on a failure goes on, as with make -k. The report says what failed and what was skipped for it.
func ExampleKeepGoing() {
	ex := executor.NewInline(1)
	defer ex.Close()

	g := graph.New("build")
	compile := g.Task(func(context.Context) error { return errors.New("syntax error") }).Named("compile")
	link := g.Task(func(context.Context) error { return nil }).Named("link")
	link.Succeed(compile)
	g.Task(func(context.Context) error { fmt.Println("docs are written"); return nil }).Named("docs")

	err := ex.Run(context.Background(), graph.KeepGoing(g))
	var report *graph.Report
	if errors.As(err, &report) {
		for _, f := range report.Failed {
			fmt.Println(f.Name, "failed:", f.Cause.Err)
		}
		for _, s := range report.Skipped {
			fmt.Println(s.Name, "was skipped for", s.Cause.Task)
		}
	}
	// Output:
	// docs are written
	// compile failed: syntax error
	// link was skipped for compile
}
