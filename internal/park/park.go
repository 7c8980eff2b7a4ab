// Package park blocks the calling OS thread until another thread unblocks it.
//
// On Linux a [Parker] sleeps on a futex. Elsewhere, and under the build tag magpie_portable_park, it sleeps on a
// sync.Cond. Both sit behind the same word protocol, so the same tests run on both.
package park

import "github.com/magpie-go/magpie/internal/xatomic"

// A Parker holds at most one permission to go on. The zero value holds none. One thread, the owner, parks on it; any
// thread may unpark it.
//
// An Unpark before the Park is kept: that Park returns at once. Everything before an Unpark happens before the return
// of the Park that takes its permission.
type Parker struct {
	word xatomic.Uint32
	sleeper
}

// States of the word.
const (
	empty    uint32 = iota
	parked          // the owner sleeps or is about to sleep; a thread that replaces this word must wake it
	notified        // one permission is there
)

// Park takes a permission, and sleeps until there is one. Owner only.
func (p *Parker) Park() {
	// P1(park): parked is written before the kernel compares the word. So an Unpark either changes the word before the
	// comparison, and the wait returns at once, or finds parked and wakes the owner. If the word is notified already,
	// the permission is there.
	if p.word.CompareAndSwap(empty, parked) {
		for p.word.Load() == parked {
			// A wait may end for no reason (EINTR, EAGAIN, a stray wake): only the word tells.
			p.sleep(&p.word, parked)
		}
	}
	p.word.Store(empty)
}

// Unpark gives the permission. Two calls before a Park give one. Any thread.
func (p *Parker) Unpark() {
	// P1(unpark): see Park.
	if p.word.Swap(notified) == parked {
		p.wake(&p.word)
	}
}
