package observe_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/observe"
	"github.com/magpie-go/magpie/graph"
)

// shop returns a graph to look at.
func shop() *graph.Graph {
	work := func(d time.Duration) func(context.Context) error {
		return func(context.Context) error { time.Sleep(d); return nil }
	}
	g := graph.New("shop")
	open := g.Task(work(1 * time.Millisecond)).Named("open")
	bake := g.Task(work(10 * time.Millisecond)).Named("bake")
	brew := g.Task(work(2 * time.Millisecond)).Named("brew")
	sell := g.Task(work(1 * time.Millisecond)).Named("sell")
	open.Precede(bake, brew)
	sell.Succeed(bake, brew)
	return g
}

// A trace for https://ui.perfetto.dev. It reads compressed files, too.
func ExampleTrace() {
	name := filepath.Join(os.TempDir(), fmt.Sprintf("magpie-%d.json.gz", os.Getpid()))
	file, err := os.Create(name)
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(name)
	zip := gzip.NewWriter(file)
	trace := observe.NewTrace(zip, observe.TraceOptions{Edges: true})

	ex, err := executor.New(executor.Config{Workers: 2, Observers: []*executor.Observer{trace.Observer()}})
	if err != nil {
		log.Fatal(err)
	}
	err = ex.Run(context.Background(), shop())
	err = errors.Join(err, ex.Close(), trace.Close(), zip.Close(), file.Close())
	fmt.Println("error:", err)
	// Output: error: <nil>
}

// A program that takes a trace of some seconds when it is asked to.
func ExampleSwitch() {
	var tap = observe.NewSwitch()
	ex, err := executor.New(executor.Config{Workers: 2, Observers: []*executor.Observer{tap.Observer()}})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	_ = ex.Run(context.Background(), shop()) // not traced

	var out bytes.Buffer
	trace := observe.NewTrace(&out, observe.TraceOptions{})
	tap.Set(trace.Observer())
	_ = ex.Run(context.Background(), shop())
	tap.Set(nil)
	if err := trace.Close(); err != nil {
		log.Fatal(err)
	}
	var file struct{ TraceEvents []map[string]any }
	if err := json.Unmarshal(out.Bytes(), &file); err != nil {
		log.Fatal(err)
	}
	tasks := 0
	for _, e := range file.TraceEvents {
		if e["ph"] == "X" {
			tasks++
		}
	}
	fmt.Println(tasks, "tasks")
	// Output: 4 tasks
}

// Runs and tasks in go tool trace.
func ExampleRuntimeTrace() {
	var out bytes.Buffer
	if err := trace.Start(&out); err != nil {
		fmt.Println("another trace is being taken")
		return
	}
	ex, err := executor.New(executor.Config{Workers: 2, Observers: []*executor.Observer{observe.RuntimeTrace()}})
	if err != nil {
		log.Fatal(err)
	}
	err = ex.Run(context.Background(), shop())
	err = errors.Join(err, ex.Close())
	trace.Stop()
	fmt.Println(err, bytes.Contains(out.Bytes(), []byte("bake")))
	// Output: <nil> true
}

// A CPU profile that reads by task: go tool pprof -tagroot job,task cpu.prof
func ExampleLabels() {
	ex, err := executor.New(executor.Config{Workers: 1, Observers: []*executor.Observer{observe.Labels()}})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	g := graph.New("shop")
	g.Task(func(context.Context) error {
		// The profile of goroutines shows the labels as that of the CPU does.
		var b strings.Builder
		_ = pprof.Lookup("goroutine").WriteTo(&b, 1)
		for line := range strings.Lines(b.String()) {
			if strings.Contains(line, "bake") {
				fmt.Print(line)
			}
		}
		return nil
	}).Named("bake")
	if err := ex.Run(context.Background(), g); err != nil {
		log.Fatal(err)
	}
	// Output: # labels: {"job":"shop", "task":"bake"}
}

// Which tasks take the time?
func ExampleTimes() {
	times := observe.NewTimes()
	ex, err := executor.New(executor.Config{Workers: 2, Observers: []*executor.Observer{times.Observer()}})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	g := shop()
	for range 3 {
		if err := ex.Run(context.Background(), g); err != nil {
			log.Fatal(err)
		}
	}
	for task := range times.All() { // the largest total comes first
		if task.Task.Name == "bake" {
			fmt.Println(task.Task.Set.Job, task.Task.Name, task.Count, task.Max >= task.Mean())
		}
	}
	out := bufio.NewWriter(os.Stderr)
	defer out.Flush()
	_ = times.WriteTable(out, 10) // total, self, max, mean, count
	// Output:
	// shop bake 3 true
}

// A drawing of a graph in which the tasks that take longest are red: dot -Tsvg
func ExampleTimes_Shades() {
	times := observe.NewTimes()
	ex, err := executor.New(executor.Config{Workers: 2, Observers: []*executor.Observer{times.Observer()}})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	g := shop()
	if err := ex.Run(context.Background(), g); err != nil {
		log.Fatal(err)
	}
	var dot strings.Builder
	if err := g.WriteDOTWith(&dot, times.Shades(g.Name())); err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(dot.String()) {
		if label, _, ok := strings.Cut(line, " fillcolor"); ok && strings.Contains(label, "bake") {
			fmt.Println(strings.TrimSpace(label)) // the rest depends on the times
		}
	}
	// Output: n1 [label="bake" style="filled"
}
