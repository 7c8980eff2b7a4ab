package deque

import "fmt"

// A Queue is what a scheduler needs of a deque, of whatever kind: [NewGroup] makes them. Its methods are for the owner only but
// for those of its [Thief].
//
// Some kinds hide items ([Kind.Hides]). With those of which thieves ask ([Kind.Asks]) the owner answers when it next does something; one
// that deals ([Kind.Receives]) acts at its alarms; one with blocks and no requests never shows the items of the block that it works
// in, or two. A scheduler whose thieves sleep keeps this rule, and then nothing that comes to be to steal stays unseen, and no
// request unanswered longer than until the owner's next operation (L1):
//
//   - The owner polls after each Push and Pop, and notifies if Poll does not return zero.
//   - A thief prepares to sleep, asks Offers of each queue, and sleeps if all said no.
//   - An owner that will do neither for long, because it sleeps or blocks, has nothing left, or gives it away before.
type Queue[T any] interface {
	Thief[T]

	// Push adds p and returns true, or false if there is no room: then p is still the caller's. It never waits for a
	// thief. p must not be nil: a nil item comes out as nil, as if there were none.
	Push(p *T) bool
	// Pop removes the newest item, of a queue that is first in, first out the oldest, of those that no thief has; or returns nil
	// if none is left.
	Pop() *T
	// Poll answers thieves that have asked, and returns how many items came to be to steal since the last call, by any
	// operation: about, but never 0 if any did. Of a queue that deals: how often it had an item for one who did not wait.
	Poll() int
	// Wanted reports whether a thief could do with an item: there is none to steal, or more have been asked for.
	Wanted() bool
}

// A Thief is the end of a [Queue] that any thread may use.
type Thief[T any] interface {
	// Steal removes one of the oldest items, of those that are to steal. A queue that hides items takes it for a request.
	Steal() (*T, Outcome)
	// Offers reports whether there was something to steal at some moment during the call. If it says no, a queue of which
	// thieves ask has been asked, and its owner's next operation grants if it can.
	Offers() bool
	// Len is about the number of items to steal; those that are hidden do not count.
	Len() int
}

// A Batcher is a queue of which thieves can take several items at once.
type Batcher[T any] interface {
	// StealBatch removes the oldest items that are to steal, oldest first, and returns how many: at least one if the outcome
	// is Stolen, otherwise none. It takes as many as batch says, but not more than fit, and one must fit. Any thread.
	StealBatch(into []*T, batch Batch) (int, Outcome)
}

// A Receiver is a queue that nobody can steal from: its Steal finds nothing. Its owner, when it has no items, waits for what
// the owners of others deal out.
type Receiver[T any] interface {
	// Receive waits for an item a bounded time. It is Stolen or NotReady. Owner only, of an empty queue.
	Receive() (*T, Outcome)
}

// A Batch says how much a thief takes at once.
type Batch uint8

const (
	One   Batch = iota // one item
	Half               // half of what it finds in one place, rounded up: the queue, or a block of it
	Block              // all that it finds in one place
)

func (b Batch) String() string {
	if b > Block {
		return fmt.Sprintf("Batch(%d)", uint8(b))
	}
	return [...]string{"one", "half", "block"}[b]
}

// of is how many of n items a thief takes who has room for so many.
func (b Batch) of(n, room int) int {
	if room < 1 {
		panic("deque: a batch without room for one item")
	}
	switch b {
	case One:
		n = 1
	case Half:
		n -= n / 2
	}
	return min(n, room)
}
