package bench

import "golang.org/x/sys/unix"

// pin keeps the calling thread, to which its goroutine is locked, on the i-th of the processors that it may use, if
// there are enough for each of n threads. restore is called on the same thread. Without pin the kernel may leave an
// owner and its thief on one core for a whole run if other cores are busy: then they take turns, and the kernel is
// measured.
func pin(i, n int) (restore func()) {
	var may, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &may); err != nil || may.Count() < n {
		return func() {}
	}
	for cpu := 0; ; cpu++ {
		if !may.IsSet(cpu) {
			continue
		}
		if i == 0 {
			one.Set(cpu)
			break
		}
		i--
	}
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return func() {}
	}
	return func() { _ = unix.SchedSetaffinity(0, &may) } // the set was allowed before
}
