package graph_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

// A graph that loads data, processes it in two tasks at the same time, and reports.
func Example() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ex.Close()

	// A task may read everything that its predecessors wrote.
	var lines []string
	var longest, words int

	g := graph.New("etl")
	load := g.Task(func(context.Context) error {
		lines = []string{"a magpie", "is a bird of the crow family"}
		return nil
	}).Named("load")
	measure := g.Task(func(context.Context) error {
		for _, l := range lines {
			longest = max(longest, len(l))
		}
		return nil
	}).Named("measure")
	count := g.Task(func(context.Context) error {
		for _, l := range lines {
			words += len(strings.Fields(l))
		}
		return nil
	}).Named("count")
	report := g.Task(func(context.Context) error {
		fmt.Println(len(lines), "lines,", words, "words, the longest line has", longest, "bytes")
		return nil
	}).Named("report")
	load.Precede(measure, count)
	report.Succeed(measure, count)

	if err := ex.Run(context.Background(), g); err != nil {
		fmt.Println(err)
	}
	// Output: 2 lines, 9 words, the longest line has 28 bytes
}

// The first task to fail ends the run: tasks that have not started are skipped.
func Example_errors() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ex.Close()

	g := graph.New("etl")
	open := g.Task(func(context.Context) error { return fmt.Errorf("input.csv: %w", io.ErrUnexpectedEOF) }).
		Named("open")
	parse := g.Task(func(context.Context) error { fmt.Println("parsing"); return nil }).Named("parse")
	open.Precede(parse)

	err = ex.Run(context.Background(), g)
	fmt.Println(err)
	fmt.Println(errors.Is(err, io.ErrUnexpectedEOF))
	var failed *graph.TaskError
	if errors.As(err, &failed) {
		fmt.Println("failed:", failed.Task)
	}
	// Output:
	// graph "etl": task open: input.csv: unexpected EOF
	// true
	// failed: open
}

// A panic in a task is an error of its run. The program, the worker and other runs go on.
func Example_panics() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ex.Close()

	g := graph.New("etl")
	var table map[string]int
	g.Task(func(context.Context) error { table["key"]++; return nil }).Named("fill")

	err = ex.Run(context.Background(), g)
	var panicked *executor.PanicError
	if errors.As(err, &panicked) {
		fmt.Println("panic:", panicked.Value)
		fmt.Println("with a stack:", len(panicked.Stack) > 0)
	}
	var runtimeError runtime.Error
	fmt.Println("a runtime error:", errors.As(err, &runtimeError))
	// Output:
	// panic: assignment to entry in nil map
	// with a stack: true
	// a runtime error: true
}

// The context given to tasks ends when the caller's does, for the same cause.
func Example_cancellation() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ex.Close()

	ctx, cancel := context.WithCancelCause(context.Background())
	errShutdown := errors.New("shutting down")

	g := graph.New("serve")
	serve := g.Task(func(ctx context.Context) error {
		cancel(errShutdown) // as another goroutine would
		<-ctx.Done()
		fmt.Println("stopping:", context.Cause(ctx))
		return ctx.Err()
	})
	serve.Precede(g.Task(func(context.Context) error { fmt.Println("never printed"); return nil }))

	err = ex.Run(ctx, g)
	fmt.Println(errors.Is(err, context.Canceled), errors.Is(err, errShutdown))
	// Output:
	// stopping: shutting down
	// true true
}

// A graph is built once and run as often as needed; the first run freezes it, so that the others find it ready.
func Example_runAgain() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ex.Close()

	g := graph.New("simulation")
	var step int
	var energy atomic.Int64
	advance := g.Task(func(context.Context) error { step++; energy.Store(0); return nil })
	for cell := range 1000 {
		advance.Precede(g.Task(func(context.Context) error { energy.Add(int64(cell % 3 * step)); return nil }))
	}
	for range 3 {
		if err := ex.Run(context.Background(), g); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("step", step, "energy", energy.Load())
	}
	// Output:
	// step 1 energy 999
	// step 2 energy 1998
	// step 3 energy 2997
}

// Validate finds the mistake before anything runs.
func ExampleGraph_Validate() {
	g := graph.New("build")
	compile := g.Task(func(context.Context) error { return nil }).Named("compile")
	link := g.Task(func(context.Context) error { return nil }).Named("link")
	test := g.Task(func(context.Context) error { return nil }).Named("test")
	compile.Precede(link)
	link.Precede(test)
	test.Precede(compile) // wrong

	err := g.Validate()
	fmt.Println(err)
	var cycle *graph.CycleError
	fmt.Println(errors.As(err, &cycle), len(cycle.Path))
	// Output:
	// graph "build": cycle: compile → link → test → compile: remove one of these edges
	// true 3
}

func ExampleGraph_WriteDOT() {
	g := graph.New("etl")
	load := g.Task(func(context.Context) error { return nil }).Named("load")
	clean := g.Task(func(context.Context) error { return nil }) // no name
	load.Precede(clean)
	if err := g.WriteDOT(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// digraph "etl" {
	// 	n0 [label="load"];
	// 	n1 [label="#1"];
	// 	n0 -> n1;
	// }
}

// A graph is a module of another graph, twice.
func ExampleGraph_Module() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	n := 1
	double := graph.New("double")
	double.Task(func(context.Context) error { n *= 2; return nil })

	g := graph.New("g")
	first, add, second := g.Module(double), g.Task(func(context.Context) error { n += 10; return nil }),
		g.Module(double)
	first.Precede(add)
	add.Precede(second)
	fmt.Println(ex.Run(context.Background(), g), n)
	// Output: <nil> 24
}

// The number of tasks is known only when the graph runs.
func ExampleGraph_Subflow() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	var names []string
	lengths := make(map[string]int)
	var mu sync.Mutex
	g := graph.New("g")
	read := g.Task(func(context.Context) error { names = []string{"pica", "corvus", "garrulus"}; return nil })
	measure := g.Subflow(func(_ context.Context, sub *graph.Graph) error {
		for _, name := range names {
			sub.Task(func(context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				lengths[name] = len(name)
				return nil
			})
		}
		return nil
	})
	report := g.Task(func(context.Context) error { fmt.Println(lengths); return nil })
	read.Precede(measure)
	measure.Precede(report)
	if err := ex.Run(context.Background(), g); err != nil {
		log.Fatal(err)
	}
	// Output: map[corvus:6 garrulus:8 pica:4]
}

// A service answers at once and tidies up after its answer. The run ends when both are done.
func ExampleGraph_DetachedSubflow() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	answered := make(chan struct{})
	g := graph.New("request")
	tidy := g.DetachedSubflow(func(_ context.Context, sub *graph.Graph) error {
		sub.Task(func(context.Context) error {
			<-answered
			fmt.Println("tidied up")
			return nil
		})
		return nil
	})
	answer := g.Task(func(context.Context) error {
		fmt.Println("answered")
		close(answered)
		return nil
	})
	tidy.Precede(answer)
	if err := ex.Run(context.Background(), g); err != nil {
		log.Fatal(err)
	}
	fmt.Println("over")
	// Output:
	// answered
	// tidied up
	// over
}

// A task makes a typed value that other tasks take.
func ExampleValue() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	g := graph.New("g")
	words := graph.Make(g, func(context.Context) ([]string, error) { return []string{"pica", "corvus"}, nil })
	count := graph.From(words, func(_ context.Context, w []string) (int, error) { return len(w), nil })
	graph.Use2(words, count, func(_ context.Context, w []string, n int) error {
		fmt.Println(n, w)
		return nil
	})
	if err := ex.Run(context.Background(), g); err != nil {
		log.Fatal(err)
	}
	// Output: 2 [pica corvus]
}

// At most two of the downloads run at once, across graphs.
func ExampleTask_Limit() {
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
		}).Limit(connections)
	}
	fmt.Println(ex.Run(context.Background(), g), most.Load() <= 2)
	// Output: <nil> true
}

// A loop: the condition chooses between once more and the end.
func ExampleGraph_Condition() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	var guess, low, high int
	const secret = 42
	g := graph.New("guess")
	begin := g.Task(func(context.Context) error { low, high = 0, 100; return nil })
	try := g.Task(func(context.Context) error { guess = (low + high) / 2; fmt.Print(guess, " "); return nil })
	compare := g.Condition(func(context.Context) (int, error) {
		switch {
		case guess < secret:
			low = guess + 1
			return 0, nil
		case guess > secret:
			high = guess - 1
			return 0, nil
		}
		return 1, nil
	})
	begin.Precede(try)
	try.Precede(compare)
	compare.Precede(try, g.Task(func(context.Context) error { fmt.Println("found"); return nil }))
	if err := ex.Run(context.Background(), g); err != nil {
		log.Fatal(err)
	}
	// Output: 50 24 37 43 40 41 42 found
}

// The two halves of a round run at the same time. The condition comes after the task that joins them, so that the next
// round begins when both have ended.
func ExampleGraph_Condition_join() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	var left, right, sum, round int
	g := graph.New("rounds")
	begin := g.Task(func(context.Context) error { left, right, sum, round = 1, 1, 0, 0; return nil })
	fork := g.Task(func(context.Context) error { round++; return nil })
	a := g.Task(func(context.Context) error { left *= 2; return nil })
	b := g.Task(func(context.Context) error { right *= 3; return nil })
	join := g.Task(func(context.Context) error { sum += left + right; return nil })
	again := g.Condition(func(context.Context) (int, error) {
		if round < 4 {
			return 0, nil
		}
		return 1, nil
	})
	end := g.Task(func(context.Context) error { fmt.Println(sum, "after", round, "rounds"); return nil })
	begin.Precede(fork)
	fork.Precede(a, b)
	join.Succeed(a, b)
	join.Precede(again)
	again.Precede(fork, end)
	if err := ex.Run(context.Background(), g); err != nil {
		log.Fatal(err)
	}
	// Output: 150 after 4 rounds
}

// The task after the branches is chosen at the end of either: as a successor of both it would wait for both.
func ExampleGraph_Condition_branches() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	branch := func(what string) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { fmt.Println(what); return 0, nil }
	}
	size := 0
	g := graph.New("save")
	which := g.Condition(func(context.Context) (int, error) { return min(size, 1), nil })
	isEmpty, isFull := g.Condition(branch("empty")), g.Condition(branch("full"))
	save := g.Task(func(context.Context) error { fmt.Println("saved"); return nil })
	which.Precede(isEmpty, isFull)
	isEmpty.Precede(save)
	isFull.Precede(save)
	for size = range 2 {
		if err := ex.Run(context.Background(), g); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// empty
	// saved
	// full
	// saved
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
