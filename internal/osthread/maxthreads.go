package osthread

import (
	"math"
	"sync"
)

// A threadMaximum asks for the number of threads at which the Go runtime ends the process. debug.SetMaxThreads is the
// only way to ask, and it sets the number as well. So asking must not undo a value that the program sets at the same
// time. Nor may it set a number below that of the threads that exist, which ends the process at once.
type threadMaximum struct {
	set func(int) int // debug.SetMaxThreads

	mu    sync.Mutex // of two concurrent calls, the second would take the first one's value for the program's
	guess int        // the answer of the last call
}

// ask returns the number, in a process that has the given number of threads.
//
// Setting a number that is already set changes nothing, so ask sets its guess. If the guess was wrong, ask has changed
// the number and sets it back. If it then finds a value other than the one that it left, the program has set that value
// meanwhile, and the value stands. Between the two calls the program's own SetMaxThreads returns the guess, and is
// undone if it sets exactly the guess.
func (m *threadMaximum) ask(threads int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	left := m.guess // the value that ask has set last
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
