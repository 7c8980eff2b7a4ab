// Package park blocks the calling OS thread until another thread unblocks it.
//
// On Linux a [Parker] sleeps on a futex. Elsewhere, and under the build tag magpie_portable_park, it sleeps on a
// sync.Cond. Both sit behind the same word protocol, so the same tests run on both.
//
// PROTOCOL.md of package notifier has the obligation of this protocol, L1.
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
	parked          // the owner sleeps or will sleep; a thread that replaces this word must wake it
	notified        // one permission is there
)

// Park takes a permission, and sleeps until there is one. Owner only.
func (p *Parker) Park() {
	// L1(park): parked is written before the kernel compares the word. So an Unpark either changes the word before the
	// comparison, and the wait returns at once, or finds parked and wakes the owner. If the word is notified already,
	// the permission is there.
	p.word.CompareAndSwap(empty, parked)
	for !p.word.CompareAndSwap(notified, empty) {
		// A wait may end for no reason (EINTR, EAGAIN, a stray wake), or after Recall has taken the permission back:
		// only the word tells.
		p.sleep(&p.word, parked)
	}
}

// TryPark takes a permission if there is one, and reports whether there was. Owner only.
func (p *Parker) TryPark() bool {
	return p.word.Load() == notified && p.word.CompareAndSwap(notified, empty)
}

// Recall takes back a permission that no Park has taken yet, and reports whether there was one. The owner sleeps on, or
// will sleep. Any thread; but the owner must have begun its Park, or a Park must follow for certain. What is before the
// Unpark happens before Recall's return.
func (p *Parker) Recall() bool {
	// L1(recall): parked, so that the next Unpark wakes the owner. A permission that came before Park's first look is
	// taken back too: Park then finds parked, and sleeps.
	return p.word.Load() == notified && p.word.CompareAndSwap(notified, parked)
}

// Unpark gives the permission. Two calls before a Park give one. Any thread.
func (p *Parker) Unpark() {
	// L1(unpark): see Park.
	if p.word.Swap(notified) == parked {
		p.wake(&p.word)
	}
}
