package notifier_test

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/magpie-go/magpie/notifier"
)

// A consumer takes from a counter and sleeps while it is zero. No lock is held during the check.
func Example() {
	const jobs = 5
	n := notifier.New(1)
	var available atomic.Int64

	var consumer sync.WaitGroup
	consumer.Go(func() {
		const me = 0
		for done := 0; done < jobs; {
			if available.Load() > 0 {
				available.Add(-1)
				done++
				continue
			}
			n.Prepare(me)
			if available.Load() > 0 { // the last check: a Notify tells of later changes
				n.Cancel(me)
				continue
			}
			n.Commit(me)
		}
		fmt.Println("all done")
	})

	for range jobs {
		available.Add(1) // first make the condition true
		n.Notify(1)      // then tell
	}
	consumer.Wait()
	// Output: all done
}

// A waiter that cancels has to act on its notification if no other waiter can take it.
func ExampleNotifier_Cancel() {
	n := notifier.New(2)
	n.Prepare(0)
	fmt.Println("woken:", n.Notify(1))
	fmt.Println("mine to act on:", n.Cancel(0))

	n.Prepare(0)
	n.Prepare(1)
	n.Notify(1)
	fmt.Println("mine to act on:", n.Cancel(0)) // waiter 1 can take it
	n.Commit(1)                                 // returns at once
	fmt.Println(n)
	// Output:
	// woken: 1
	// mine to act on: true
	// mine to act on: false
	// stack=none pre=0 signals=0 epoch=0
}
