package deque

import "fmt"

// A Queue is a deque of any kind, as a scheduler sees it. [NewGroup] makes them. Only the owner calls its methods,
// except those of [Thief].
//
// Owner and thieves of a scheduler whose thieves sleep keep these rules. Then no thief sleeps for ever while the owner
// could show it an item (L1).
//
//   - A thief prepares to sleep, then calls Ask of each queue, and sleeps if every Ask has returned false.
//   - The owner notifies a thief if Push, Pop or Poll returns Shown.
//   - A notified thief that finds an item notifies another: Shown may stand for several items.
//   - The owner polls if Push returns Refused, and before it runs anything that takes long.
//   - An owner that will not push, pop or poll for long, because it sleeps or blocks, has nothing left, or gives it
//     away before.
//
// The owner of a kind that hides nothing ([Kind.Hides]) need not poll, nor give anything away.
type Queue[T any] interface {
	Thief[T]

	// Push adds p, and answers thieves that have asked. It never waits for a thief. p must not be nil: a nil item comes
	// out as nil, as if there were none.
	Push(p *T) Effect
	// Pop removes the newest item that no thief has, of a first-in-first-out queue the oldest, and answers thieves. It
	// returns nil if no item is left. The effect is Nothing or Shown.
	Pop() (*T, Effect)
	// Poll answers thieves that have asked. The effect is Nothing or Shown.
	Poll() Effect
	// Wanted reports whether a thief could do with an item: there is none to steal, or more have been asked for.
	Wanted() bool
}

// A Thief is the end of a [Queue] that any thread may use.
type Thief[T any] interface {
	// Steal removes one of the oldest items that the owner has shown. If there is none, it leaves a request, as Ask
	// does.
	Steal() (*T, Outcome)
	// Ask reports whether there was something to steal at some moment during the call. If not, it leaves a request with
	// the owner, if this is a queue of which thieves ask ([Kind.Asks]).
	Ask() bool
	// Len is about the number of items to steal. Hidden items do not count.
	Len() int
}

// An Effect says what an operation of the owner has done for thieves.
type Effect uint8

const (
	Nothing Effect = iota // thieves see no more than before
	Shown                 // there is more to steal than before: an owner whose thieves sleep notifies
	Refused               // Push only: there is no room, the item is still the caller's
)

func (e Effect) String() string {
	if e > Refused {
		return fmt.Sprintf("Effect(%d)", uint8(e))
	}
	return [...]string{"nothing", "shown", "refused"}[e]
}

// A Batcher is a queue of which thieves can take several items at once.
type Batcher[T any] interface {
	// StealBatch removes the oldest items that are to steal, oldest first, and returns how many: at least one if the
	// outcome is Stolen, otherwise none. It takes as many as batch says, but not more than fit, and one must fit. Any
	// thread.
	StealBatch(into []*T, batch Batch) (int, Outcome)
}

// A Receiver is a queue that nobody can steal from: its Steal finds nothing. Its owner, when it has no items, waits for
// what the owners of others deal out.
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

// of is how many of n items a thief with this much room takes.
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
