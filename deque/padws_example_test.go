package deque_test

import (
	"fmt"

	"github.com/magpie-go/magpie/deque"
)

// A thief that finds nothing leaves a request. The owner's next push answers it, and tells.
func ExamplePadWS() {
	d := deque.NewPadWS[string](deque.PadWSConfig{})
	_, outcome := d.Steal()
	fmt.Println(outcome)

	for _, s := range []string{"a", "b", "c"} {
		if !d.Push(&s) {
			fmt.Println("no room for", s)
		}
		if n := d.Granted(); n > 0 {
			fmt.Println("notify", n)
		}
	}
	stolen, outcome := d.Steal()
	fmt.Println(outcome, *stolen)
	for p := d.Pop(); p != nil; p = d.Pop() {
		fmt.Println("popped", *p)
	}
	// Output:
	// not ready
	// notify 1
	// stolen a
	// popped c
	// popped b
}
