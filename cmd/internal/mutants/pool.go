package main

import (
	"iter"
	"runtime"
	"sync"
)

// inOrder calls f for each element of list, as many at a time as there are processors, and yields the results in the
// order of list. When the loop over it ends, even early, no call of f is running.
func inOrder[T, R any](list []T, f func(T) R) iter.Seq2[T, R] {
	return func(yield func(T, R) bool) {
		results := make([]chan R, len(list))
		for i := range results {
			results[i] = make(chan R, 1)
		}
		next := make(chan int)
		stop := make(chan struct{})
		var all sync.WaitGroup
		defer all.Wait()
		defer close(stop)
		all.Go(func() {
			defer close(next)
			for i := range list {
				select {
				case next <- i:
				case <-stop:
					return
				}
			}
		})
		for range runtime.GOMAXPROCS(0) {
			all.Go(func() {
				for i := range next {
					results[i] <- f(list[i])
				}
			})
		}
		for i, result := range results {
			if !yield(list[i], <-result) {
				return
			}
		}
	}
}
