package deque

import "fmt"

// A Queue is a deque of any kind, as a scheduler sees it. [Group.Queue] makes one. Only the owner calls its methods,
// except those of [Thief].
//
// In a scheduler whose thieves sleep, owners and thieves keep these rules. Then no thief sleeps for ever while the
// owner could show it an item (L1).
//
//   - A thief prepares to sleep, then calls Ask of each queue, and sleeps if every Ask has returned false.
//   - The owner notifies a thief if Push, Pop or Poll returns Shown.
//   - A notified thief that finds an item notifies another thief: Shown may stand for several items.
//   - The owner polls if Push returns Refused, and before it runs an item that takes long.
//   - An owner that will not push, pop or poll for long, because it sleeps or blocks, first empties its queue.
//
// With a kind that hides nothing ([Kind.Hides]) the owner need not poll, nor empty its queue.
type Queue[T any] interface {
	Thief[T]

	// Push adds p and answers requests of thieves. It never waits for a thief. p must not be nil: Pop and Steal would
	// return nil for it, as if there were no item.
	Push(p *T) Effect
	// Pop removes the newest item that no thief has, or the oldest if the kind is FIFO, and answers requests of
	// thieves. It returns nil if no item is left. The effect is Nothing or Shown.
	Pop() (*T, Effect)
	// Poll answers requests of thieves. The effect is Nothing or Shown.
	Poll() Effect
	// Wanted reports whether there is demand for items: there is none to steal, or thieves have asked for more.
	Wanted() bool
}

// A Thief is the end of a [Queue] that any thread may use.
type Thief[T any] interface {
	// Steal removes one of the oldest items that the owner has shown. If there is none, it leaves a request, as Ask
	// does.
	Steal() (*T, Outcome)
	// Ask reports whether there was an item to steal at some moment during the call. If not, and if the kind has
	// requests ([Kind.Asks]), it leaves a request with the owner.
	Ask() bool
	// Len is about the number of items to steal. Hidden items do not count.
	Len() int
}

// An Effect is the effect of an owner's operation on thieves.
type Effect uint8

const (
	Nothing Effect = iota // thieves see no more than before
	Shown                 // there is more to steal than before: if thieves sleep, the owner notifies one
	Refused               // Push only: there is no room, the item is still the caller's
)

func (e Effect) String() string {
	if e > Refused {
		return fmt.Sprintf("Effect(%d)", uint8(e))
	}
	return [...]string{"nothing", "shown", "refused"}[e]
}

// A Batcher is a queue from which a thief can take several items at once.
type Batcher[T any] interface {
	// StealBatch moves the oldest items that can be stolen to into, oldest first, and returns their number: at least
	// one if the outcome is Stolen, otherwise zero. It takes as many as batch says, at most len(into), which must be at
	// least one. Any thread.
	StealBatch(into []*T, batch Batch) (int, Outcome)
}

// A Receiver is a queue without steals: its Steal always finds nothing. An owner that has no items waits for items that
// other owners deal.
type Receiver[T any] interface {
	// Receive waits a bounded time for an item. The outcome is Stolen or NotReady. Owner only, of an empty queue.
	Receive() (*T, Outcome)
}

// A Batch says how many items a thief takes at once. It takes them from one place: the queue, or a block of it.
type Batch uint8

const (
	One   Batch = iota // one item
	Half               // half of the items in the place, rounded up
	Block              // all items in the place
)

var batchNames = [...]string{One: "one", Half: "half", Block: "block"}

func (b Batch) String() string {
	if b > Block {
		return fmt.Sprintf("Batch(%d)", uint8(b))
	}
	return batchNames[b]
}

// MarshalText returns the name of b: "one", "half" or "block". It implements [encoding.TextMarshaler].
func (b Batch) MarshalText() ([]byte, error) {
	if b > Block {
		return nil, fmt.Errorf("deque: there is no %v", b)
	}
	return []byte(batchNames[b]), nil
}

// UnmarshalText sets b to the value of that name, for [flag.TextVar], JSON and the like. "" is One. For any other name
// it returns an error that lists the names.
func (b *Batch) UnmarshalText(name []byte) error {
	if len(name) == 0 {
		*b = One
		return nil
	}
	for i, known := range batchNames {
		if known == string(name) {
			*b = Batch(i)
			return nil
		}
	}
	return fmt.Errorf("deque: there is no batch %q: choose one of %v", name, batchNames)
}

// of returns how many of n items a thief with that much room takes.
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
