package deque

import (
	"fmt"
	"strings"
)

// A Kind is one of the algorithms of this package. The package comment says for which work each is meant.
type Kind uint8

const (
	KindChaseLev Kind = iota // of Chase and Lev: grows, hides nothing; a Deque
	KindABP                  // of Arora, Blumofe and Plaxton: bounded, hides nothing
	KindBWoS                 // in blocks: bounded, hides the items of the owner's block
	KindBWoSFIFO             // in blocks, first in, first out for the owner too: bounded, hides the items of two blocks
	KindPadWS                // in blocks, the owner answers requests of thieves: bounded
	KindADWS                 // private, the owner answers requests of thieves: grows
	KindPDQR                 // private, the owner answers requests of thieves, which wait: grows
	KindPDQS                 // private, owners deal items to owners that wait: grows
	KindLocked               // under a mutex: grows, hides nothing
	numKinds
)

// rows is the table of kinds. To add a kind, write a file with its type, its row and its queues, add a constant, and
// list both here: tests, fuzz targets, model programs and benchmarks iterate over the table.
var rows = [numKinds]row{
	KindChaseLev: chaseLevRow,
	KindABP:      abpRow,
	KindBWoS:     bwosRow,
	KindBWoSFIFO: bwosFIFORow,
	KindPadWS:    padWSRow,
	KindADWS:     adwsRow,
	KindPDQR:     pdqrRow,
	KindPDQS:     pdqsRow,
	KindLocked:   lockedRow,
}

// queues is the column of the table that depends on the type of items. It is apart from the others: a program has the
// code of the kinds only for the types of its own items. A function of it prepares n queues and returns the function
// that makes queue i. The options have been checked, and their Capacity is not zero.
func queues[T any]() [numKinds]func(n int, o Options) func(i int) Queue[T] {
	return [numKinds]func(int, Options) func(int) Queue[T]{
		KindChaseLev: chaseLevQueues[T],
		KindABP:      abpQueues[T],
		KindBWoS:     bwosQueues[T],
		KindBWoSFIFO: bwosFIFOQueues[T],
		KindPadWS:    padWSQueues[T],
		KindADWS:     adwsQueues[T],
		KindPDQR:     pdqrQueues[T],
		KindPDQS:     pdqsQueues[T],
		KindLocked:   lockedQueues[T],
	}
}

// A row describes a kind to the rest of the package.
type row struct {
	name  string
	about string // one line
	traits
	// most is the largest capacity; 0 means maxCapacity.
	most int
}

// traits are the results of a Kind's methods.
type traits struct {
	hides, asks, fifo, bounded, blocks, batches, receives bool
}

// row returns the row of k, or an empty row if there is no such kind.
func (k Kind) row() row {
	if k >= numKinds {
		return row{}
	}
	return rows[k]
}

func (k Kind) String() string {
	if k >= numKinds {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return rows[k].name
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

// MarshalText returns the name of k. It implements [encoding.TextMarshaler].
func (k Kind) MarshalText() ([]byte, error) {
	if k >= numKinds {
		return nil, fmt.Errorf("deque: there is no %v", k)
	}
	return []byte(k.String()), nil
}

// UnmarshalText sets k to the kind of that name, for [flag.TextVar], JSON and the like. "" is KindChaseLev. For any
// other name it returns an error that lists the names.
func (k *Kind) UnmarshalText(name []byte) error {
	if len(name) == 0 {
		*k = KindChaseLev
		return nil
	}
	var names []string
	for _, known := range Kinds() {
		if known.String() == string(name) {
			*k = known
			return nil
		}
		names = append(names, known.String())
	}
	return fmt.Errorf("deque: there is no kind %q: choose one of %s", name, strings.Join(names, ", "))
}

// Hides reports whether thieves may find nothing although the owner has items. [Queue] has the rules for such kinds.
func (k Kind) Hides() bool { return k.row().hides }

// Asks reports whether thieves leave requests that the owner answers. [Options.Keep] is the number of items that the
// owner keeps for itself when it answers.
func (k Kind) Asks() bool { return k.row().asks }

// FIFO reports whether the owner pops the oldest item, not the newest.
func (k Kind) FIFO() bool { return k.row().fifo }

// Bounded reports whether a Push may be [Refused].
func (k Kind) Bounded() bool { return k.row().bounded }

// Blocks reports whether queues of this kind have blocks, for which [Options.BlockSize] is.
func (k Kind) Blocks() bool { return k.row().blocks }

// Batches reports whether queues of this kind are a [Batcher].
func (k Kind) Batches() bool { return k.row().batches }

// Receives reports whether queues of this kind are a [Receiver].
func (k Kind) Receives() bool { return k.row().receives }
