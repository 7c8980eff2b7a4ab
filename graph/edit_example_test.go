package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

// A graph changes between its runs: a step is taken out of a chain, and another does something else.
func ExampleTask_Remove() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	say := func(what string) func(context.Context) error {
		return func(context.Context) error { fmt.Println(what); return nil }
	}
	g := graph.New("release")
	build, test, publish := g.Task(say("build")), g.Task(say("test")), g.Task(say("publish"))
	build.Precede(test)
	test.Precede(publish)
	if err := ex.Run(context.Background(), g); err != nil {
		log.Fatal(err)
	}
	for before := range test.Predecessors() {
		before.Precede(publish)
	}
	test.Remove()
	publish.Rebind(say("publish untested"))
	if err := ex.Run(context.Background(), g); err != nil {
		log.Fatal(err)
	}
	// Output:
	// build
	// test
	// publish
	// build
	// publish untested
}

// What a graph looks like can be kept in a file. The program finds the functions by the names of the tasks.
func ExampleFromJSON() {
	ex, err := executor.New(executor.Config{Workers: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	functions := map[string]func(context.Context) error{
		"load":   func(context.Context) error { fmt.Println("loaded"); return nil },
		"report": func(context.Context) error { fmt.Println("reported"); return nil },
	}
	in := `{"name":"etl","tasks":[{"name":"load","successors":["report"]},{"name":"report","priority":"low"}]}`
	g, err := graph.FromJSON([]byte(in), graph.Functions{
		Task: func(name string) func(context.Context) error { return functions[name] },
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := ex.Run(context.Background(), g); err != nil {
		log.Fatal(err)
	}
	out, err := json.Marshal(g)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(out) == in)
	// Output:
	// loaded
	// reported
	// true
}

// Two graphs become one, with edges between their tasks. The second is not changed.
func ExampleGraph_Append() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	deploy := graph.New("deploy")
	upload := deploy.Task(func(context.Context) error { fmt.Println("upload"); return nil })

	g := graph.New("all")
	build := g.Task(func(context.Context) error { fmt.Println("build"); return nil })
	copies := g.Append(deploy)
	build.Precede(copies.Task(upload))
	if err := ex.Run(context.Background(), g); err != nil {
		log.Fatal(err)
	}
	fmt.Println(deploy.Len(), g.Len())
	// Output:
	// build
	// upload
	// 1 2
}
