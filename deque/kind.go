package deque

import (
	"fmt"
	"slices"
	"strings"
)

// A Kind is one of the algorithms of this package, as a [Queue].
type Kind uint8

const (
	KindChaseLev Kind = iota // [Deque]: it grows, and hides nothing
	KindABP                  // bounded, and hides nothing
	KindBWoS                 // bounded, and hides the newest items, as many as a block has
	KindBWoSFIFO             // as KindBWoS, but the owner, too, gets the oldest first
	KindPadWS                // bounded; thieves ask for what is in the newest block
	KindADWS                 // it grows; thieves ask for each item
	KindPDQR                 // private deques, which grow; thieves ask for each item, and wait for the answer
	KindPDQS                 // private deques, which grow; owners deal out to workers that have nothing
	KindLocked               // it grows, under a mutex
)

var kindNames = [...]string{"chaselev", "abp", "bwos", "bwos-fifo", "padws", "adws", "pdqr", "pdqs", "locked"}

func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// Kinds returns all kinds.
func Kinds() []Kind {
	kinds := make([]Kind, len(kindNames))
	for i := range kinds {
		kinds[i] = Kind(i)
	}
	return kinds
}

// ParseKind returns the kind of which name is the String.
func ParseKind(name string) (Kind, error) {
	if i := slices.Index(kindNames[:], name); i >= 0 {
		return Kind(i), nil
	}
	return 0, fmt.Errorf("deque: there is no kind %q: choose one of %s", name, strings.Join(kindNames[:], ", "))
}

// Hides reports whether thieves may find nothing although the owner has items. See [Queue] for what follows.
func (k Kind) Hides() bool {
	switch k {
	case KindBWoS, KindBWoSFIFO, KindPadWS, KindADWS, KindPDQR, KindPDQS:
		return true
	}
	return false
}

// FIFO reports whether the owner, too, gets the oldest item.
func (k Kind) FIFO() bool { return k == KindBWoSFIFO }

// Batches reports whether queues of this kind are a [Batcher].
func (k Kind) Batches() bool { return k.blocks() || k == KindLocked }

// Receives reports whether queues of this kind are a [Receiver].
func (k Kind) Receives() bool { return k == KindPDQS }

// blocks reports whether queues of this kind have blocks.
func (k Kind) blocks() bool { return k == KindBWoS || k == KindBWoSFIFO || k == KindPadWS }

// Asks reports whether thieves of this kind ask the owner, which may keep something.
func (k Kind) Asks() bool { return k == KindPadWS || k == KindADWS || k == KindPDQR }
