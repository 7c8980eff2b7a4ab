package deque_test

import (
	"fmt"

	"github.com/magpie-go/magpie/deque"
)

// A scheduler that takes the kind of its queues by name, and asks a queue what it needs to know.
func ExampleNewGroup() {
	for _, name := range []string{"chaselev", "padws"} {
		kind, err := deque.ParseKind(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		group, err := deque.NewGroup[string](kind, 2, deque.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		q := group.Queue(0) // the first worker's

		// A thief that would sleep: if the queue hides what it has, it has been asked.
		fmt.Println(kind, "has something:", q.Offers())
		// Its owner's next push: of what it tells, a sleeper is to be notified.
		item := "work"
		q.Push(&item)
		fmt.Println("to steal:", q.Poll())
		p, outcome := q.Steal()
		fmt.Println(*p, outcome)
	}
	// Output:
	// chaselev has something: false
	// to steal: 1
	// work stolen
	// padws has something: false
	// to steal: 1
	// work stolen
}
