package deque_test

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/magpie-go/magpie/deque"
)

// The owner works on the items that it pushed last, a thief helps with the items that were pushed first.
func Example() {
	type job struct{ from, to int }
	d := deque.New[job](16)
	var sum, left atomic.Int64
	left.Store(1000)
	work := func(j *job) {
		for i := j.from; i < j.to; i++ {
			sum.Add(int64(i))
		}
		left.Add(-int64(j.to - j.from))
	}

	var thief sync.WaitGroup
	thief.Go(func() {
		for left.Load() > 0 {
			switch j, outcome := d.Steal(); outcome {
			case deque.Stolen:
				work(j)
			case deque.Lost:
				// Another thread was faster; there may be more.
			case deque.Empty:
				// A scheduler would look at another victim now.
			}
		}
	})

	for i := 0; i < 1000; i += 10 {
		d.Push(&job{i, i + 10})
	}
	for j := d.Pop(); j != nil; j = d.Pop() {
		work(j)
	}
	thief.Wait()
	fmt.Println(sum.Load())
	// Output: 499500
}

func ExampleDeque() {
	d := deque.New[string](8)
	for _, s := range []string{"first", "second", "third"} {
		d.Push(&s)
	}
	fmt.Println(*d.Pop())
	s, outcome := d.Steal()
	fmt.Println(*s, outcome)
	fmt.Println(d.Len())
	d.Pop()
	_, outcome = d.Steal()
	fmt.Println(outcome)
	// Output:
	// third
	// first stolen
	// 1
	// empty
}
