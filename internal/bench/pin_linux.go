package bench

import "golang.org/x/sys/unix"

// pin has the calling thread, to which its goroutine is locked, run on the i-th of the processors that it may use, if it may
// use so many that each of n threads can have one. What restores is called on the same thread. Otherwise the kernel may leave an
// owner and its thief on one core for the whole of a run if the others are busy: then they take turns, and what is measured is
// the kernel.
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
	return func() { _ = unix.SchedSetaffinity(0, &may) } // what was allowed is
}
