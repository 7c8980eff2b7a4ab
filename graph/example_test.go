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
	words := graph.Source(g, func(context.Context) ([]string, error) { return []string{"pica", "corvus"}, nil })
	count := graph.Map(words, func(_ context.Context, w []string) (int, error) { return len(w), nil })
	graph.Sink2(words, count, func(_ context.Context, w []string, n int) error {
		fmt.Println(n, w)
		return nil
	})
	if err := ex.Run(context.Background(), g); err != nil {
		log.Fatal(err)
	}
	// Output: 2 [pica corvus]
}
