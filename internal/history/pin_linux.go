package history

import "golang.org/x/sys/unix"

// pin keeps the calling thread on one of the cores that it may use, counted from place round and round. Left alone, the
// kernel finds that threads which yield all the time fit well on one core, where nothing ever overlaps. It returns what
// undoes it. Pinning that fails is no error: the tally will tell.
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
