package deque

import (
	"fmt"
	"strings"
)

// A Kind is one of the algorithms of this package. The package comment says which is for which work.
type Kind uint8

const (
	KindChaseLev Kind = iota // of Chase and Lev: grows, hides nothing; a Deque
	KindABP                  // of Arora, Blumofe and Plaxton: bounded, hides nothing
	KindBWoS                 // in blocks: bounded, hides the items of the owner's block
	KindBWoSFIFO             // in blocks, first in, first out for the owner too: bounded, hides the items of two blocks
	KindPadWS                // in blocks, whose owners answer thieves: bounded
	KindADWS                 // private, whose owners answer thieves: grows
	KindPDQR                 // private, whose owners answer thieves that wait: grows
	KindPDQS                 // private, whose owners deal items to those that wait: grows
	KindLocked               // under a mutex: grows, hides nothing
	numKinds
)

// rows is the table of kinds. To add one, write a file with its type and its row, give it a constant, and list it here:
// tests, fuzz targets, model programs and benchmarks go by the table.
func rows[T any]() [numKinds]row[T] {
	return [numKinds]row[T]{
		KindChaseLev: chaseLevRow[T](),
		KindABP:      abpRow[T](),
		KindBWoS:     bwosRow[T](),
		KindBWoSFIFO: bwosFIFORow[T](),
		KindPadWS:    padWSRow[T](),
		KindADWS:     adwsRow[T](),
		KindPDQR:     pdqrRow[T](),
		KindPDQS:     pdqsRow[T](),
		KindLocked:   lockedRow[T](),
	}
}

// A row is all that the rest of the package knows of a kind.
type row[T any] struct {
	name  string
	about string // one line
	traits
	// most is the largest capacity, if it is not maxCapacity.
	most int
	// group makes n queues: it returns what makes queue i. The options have been checked, and their Capacity is not
	// zero.
	group func(n int, o Options) func(i int) Queue[T]
}

// traits are the answers to the questions of a Kind.
type traits struct {
	hides, asks, fifo, bounded, blocks, batches, receives bool
}

// table has what does not depend on the type of items.
var table = rows[byte]()

// row is that of k, or an empty one if there is no such kind.
func (k Kind) row() row[byte] {
	if k >= numKinds {
		return row[byte]{}
	}
	return table[k]
}

func (k Kind) String() string {
	if k >= numKinds {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return table[k].name
}

// About describes the kind in one line.
func (k Kind) About() string { return k.row().about }

// Kinds returns all kinds.
func Kinds() []Kind {
	kinds := make([]Kind, numKinds)
	for i := range kinds {
		kinds[i] = Kind(i)
	}
	return kinds
}

// ParseKind returns the kind of which name is the String.
func ParseKind(name string) (Kind, error) {
	var names []string
	for _, k := range Kinds() {
		if k.String() == name {
			return k, nil
		}
		names = append(names, k.String())
	}
	return 0, fmt.Errorf("deque: there is no kind %q: choose one of %s", name, strings.Join(names, ", "))
}

// Hides reports whether thieves may find nothing although the owner has items. See [Queue] for what follows.
func (k Kind) Hides() bool { return k.row().hides }

// Asks reports whether thieves leave requests that the owner answers. Its [Options.Keep] is how many items it keeps.
func (k Kind) Asks() bool { return k.row().asks }

// FIFO reports whether the owner, too, gets the oldest item.
func (k Kind) FIFO() bool { return k.row().fifo }

// Bounded reports whether a Push may be [Refused].
func (k Kind) Bounded() bool { return k.row().bounded }

// Blocks reports whether queues of this kind have blocks: [Options.BlockSize] is of use.
func (k Kind) Blocks() bool { return k.row().blocks }

// Batches reports whether queues of this kind are a [Batcher].
func (k Kind) Batches() bool { return k.row().batches }

// Receives reports whether queues of this kind are a [Receiver].
func (k Kind) Receives() bool { return k.row().receives }
