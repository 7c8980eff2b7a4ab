package history

import "golang.org/x/sys/unix"

// pin keeps the calling thread on one of the cores that it may use: the one at place, counted round and round. Without
// it the kernel puts threads that yield all the time on one core, where calls never overlap. pin returns a function
// that undoes it. A failure to pin is no error: the tally shows it.
func pin(place int) (unpin func()) {
	var may, one unix.CPUSet
	if unix.SchedGetaffinity(0, &may) != nil || may.Count() == 0 {
		return func() {}
	}
	place %= may.Count()
	for cpu := 0; ; cpu++ {
		if !may.IsSet(cpu) {
			continue
		}
		if place == 0 {
			one.Set(cpu)
			break
		}
		place--
	}
	_ = unix.SchedSetaffinity(0, &one)
	return func() { _ = unix.SchedSetaffinity(0, &may) }
}
