package deque_test

import (
	"fmt"

	"github.com/magpie-go/magpie/deque"
)

// A scheduler takes the kind of its queues by name. A thief that finds nothing sleeps, and the owner learns from its
// next push that it has to notify one.
func ExampleNewGroup() {
	for _, name := range []string{"chaselev", "padws"} {
		var kind deque.Kind
		err := kind.UnmarshalText([]byte(name))
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

		fmt.Println(kind, "has something:", q.Ask())
		items := []string{"old", "new"}
		fmt.Println(q.Push(&items[0]), q.Push(&items[1]))
		p, outcome := q.Steal()
		fmt.Println(*p, outcome)
		p, effect := q.Pop()
		fmt.Println(*p, effect)
	}
	// Output:
	// chaselev has something: false
	// shown shown
	// old stolen
	// new nothing
	// padws has something: false
	// shown nothing
	// old stolen
	// new nothing
}
