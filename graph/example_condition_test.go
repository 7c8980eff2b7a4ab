package graph_test

import (
	"context"
	"fmt"
	"log"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

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
