package executor_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"slices"

	"github.com/magpie-go/magpie/executor"
)

// A tree of numbers is summed up: each node forks its left side and takes the right one itself.
func ExampleFork() {
	type node struct {
		left, right *node
		value       int
	}
	var grow func(depth int) *node
	grow = func(depth int) *node {
		if depth == 0 {
			return nil
		}
		return &node{grow(depth - 1), grow(depth - 1), depth}
	}
	var sum func(s *executor.Scope, n *node) int
	sum = func(s *executor.Scope, n *node) int {
		if n == nil {
			return 0
		}
		left := executor.Fork(s, sum, n.left)
		right := sum(s, n.right)
		return left.Join(s) + n.value + right
	}

	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	total, err := executor.Call(context.Background(), ex, sum, grow(10))
	fmt.Println(total, err)
	// Output: 2036 <nil>
}

// Children of a scope are joined before it ends. The first that fails ends the run; those that have not begun are
// skipped.
func ExampleScope_Go() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	sizes := make([]int, 3)
	err = ex.Run(context.Background(), executor.NewJob("sizes", func(s *executor.Scope) error {
		for i, name := range []string{"a", "bb", "ccc"} {
			s.Go(func(context.Context) error {
				sizes[i] = len(name)
				return nil
			})
		}
		if err := s.Wait(); err != nil {
			return err
		}
		s.Go(func(context.Context) error { return fmt.Errorf("sizes %v: %w", sizes, errors.ErrUnsupported) })
		return nil
	}))
	fmt.Println(err)
	// Output: sizes [1 2 3]: unsupported operation
}

// A call that comes after two others sees what they returned.
func ExampleAsync() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	ctx := context.Background()
	words := executor.Async(ctx, ex, func(context.Context) ([]string, error) { return []string{"pica", "corvus"}, nil })
	order := executor.Async(ctx, ex, func(context.Context) (func(a, b string) int, error) {
		return cmp.Compare[string], nil
	})
	sorted := executor.Async(ctx, ex, func(context.Context) ([]string, error) {
		w, _ := words.Wait() // has ended, and well
		by, _ := order.Wait()
		return slices.SortedFunc(slices.Values(w), by), nil
	}, words, order)
	fmt.Println(sorted.Wait())
	// Output: [corvus pica] <nil>
}

// The first answer is the one that counts, and the others are called off.
func ExampleFirst() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	broken := func(context.Context) (string, error) { return "", errors.New("no route to host") }
	mirror := func(context.Context) (string, error) { return "from the mirror", nil }
	fmt.Println(executor.First(context.Background(), ex, broken, mirror))
	// Output: from the mirror <nil>
}

// A test runs a graph on its own goroutine, in as many orders as it likes.
func ExampleNewInline() {
	var first string
	orders := map[string]bool{}
	for seed := range uint64(20) {
		ex := executor.NewInline(seed)
		first = ""
		err := ex.Run(context.Background(), executor.NewJob("f", func(s *executor.Scope) error {
			for _, name := range []string{"a", "b", "c"} {
				s.Go(func(context.Context) error {
					if first == "" { // no lock: there is one goroutine
						first = name
					}
					return nil
				})
			}
			return s.Wait()
		}))
		if err != nil {
			log.Fatal(err)
		}
		orders[first] = true
		ex.Close()
	}
	fmt.Println(len(orders))
	// Output: 3
}

// A task waits for something that the executor knows nothing of, here what another task of the only worker sends.
func ExampleBlocking() {
	ex, err := executor.New(executor.Config{Workers: 1, Spares: 4})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	answer := make(chan string)
	err = ex.Run(context.Background(), executor.NewJob("ask", func(s *executor.Scope) error {
		s.Go(func(context.Context) error {
			answer <- "from a spare worker"
			return nil
		})
		executor.Blocking(func() { fmt.Println(<-answer) })
		return s.Wait()
	}))
	if err != nil {
		log.Fatal(err)
	}
	// Output: from a spare worker
}
