package osthread

import (
	"math"
	"sync"
)

// A threadMaximum asks for the number of threads at which the Go runtime ends the process. debug.SetMaxThreads is the
// only way to ask, and sets it: asking must not undo what the program sets at the same time, nor set less than there
// are threads, which ends the process at once.
type threadMaximum struct {
	set func(int) int // debug.SetMaxThreads

	mu    sync.Mutex // two that ask must not meet: the second would take the first's value for the program's
	guess int        // the answer of last time
}

// ask returns the number. The process has so many threads.
//
// Setting what is set already changes nothing, so ask sets its guess. Only if that was wrong it has changed the number
// and sets it back, and if then something else is found than what ask has left, the program has set that meanwhile, and
// it stands. In that moment the program's own SetMaxThreads returns the guess, and is undone if it sets just the guess.
func (m *threadMaximum) ask(threads int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	left := m.guess // what ask has set last
	if threads > int64(left)/2 {
		left = math.MaxInt32
	}
	want := m.set(left)
	for want != left {
		found := m.set(want)
		if found == left {
			break
		}
		left, want = want, found
	}
	m.guess = want
	return int64(want)
}
