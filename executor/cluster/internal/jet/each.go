package jet

import (
	"sync"
	"sync/atomic"
)

// window is how many calls one caller has under way at the server at a time. Arbitrary: it hides the round trip.
const window = 64

// Each calls f(0) … f(n-1), a window of them at a time, until one fails, and returns an error of theirs.
func Each(n int, f func(i int) error) error {
	if n == 1 {
		return f(0)
	}
	var (
		next   atomic.Int64
		failed atomic.Pointer[error]
		wg     sync.WaitGroup
	)
	for range min(n, window) {
		wg.Go(func() {
			for failed.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := f(i); err != nil {
					failed.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}
