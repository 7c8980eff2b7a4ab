package executor

import (
	"fmt"

	"github.com/magpie-go/magpie/deque"
)

// A Policy controls how many of the idle workers look for work and when they sleep.
type Policy uint8

const (
	// Adaptive keeps what [AdaptivePublished] promises, that no item waits in a deque while a worker sleeps, and that
	// the number of thieves follows the work there is. In addition the last thief sleeps too when there is nothing to
	// steal: publishing an item wakes a worker if nobody is looking.
	Adaptive Policy = iota
	// AdaptivePublished is the algorithm of document 000 (Algorithms 2 to 5) to the letter: publishing an item wakes
	// nobody, so as long as any worker has work, one thief stays awake and looks around.
	AdaptivePublished

	policies // how many there are
)

var policyNames = [policies]string{Adaptive: "adaptive", AdaptivePublished: "adaptive-published"}

func (p Policy) String() string { return nameOf(p, "Policy", policyNames[:]) }

// Policies lists every policy.
func Policies() []Policy { return all[Policy](policies) }

// ParsePolicy is the reverse of [Policy.String].
func ParsePolicy(name string) (Policy, error) { return parse[Policy](name, "policy", policyNames[:]) }

// A Deque is what each worker keeps its items in until it runs them or others steal them. Which is best for what is told, with
// figures, in the documentation of package deque.
type Deque uint8

// With [Split], [PadWS], [ADWS] and [PDQR] forks, those of [Fork], stay in the worker's own hands until others want them; the
// others keep them as any other item. What does not fit into a bounded one goes to a growable deque of the worker's, or with
// [BWoSFIFO] to the queue that all workers share: it is not lost, and nobody waits.
//
// With those of which thieves do not see everything a task must not wait for what it has pushed, other than by what this module
// offers for it, or inside [Blocking]: while it runs, nobody may see that.
const (
	// Split is ChaseLev, but keeps the newest forks in the worker's own hands and pushes them, the oldest first, when there is
	// nothing to steal from it, or when one function has two that are not joined and there are few. A fork that nobody steals
	// costs no locked instruction. Nobody sees that work until the worker's next Fork or Join.
	Split Deque = iota
	// ChaseLev is [deque.Deque]: it grows, and thieves see everything.
	ChaseLev
	// ABP is [deque.ABP]: bounded, and thieves see everything.
	ABP
	// BWoS is [deque.BWoS]: bounded. Thieves do not see the newest items, as many as a block has.
	BWoS
	// BWoSFIFO is [deque.BWoSFIFO]: as BWoS, but a worker, too, runs the oldest first. It is for graphs, jobs of one's own and
	// futures: a [Scope] needs the newest back, and a run of [Func] or [Call] fails with [ErrFIFO].
	BWoSFIFO
	// PadWS is [deque.PadWS]: bounded. Thieves ask for what is in the newest block, and the worker answers between two items.
	PadWS
	// ADWS is [deque.ADWS]: it grows. Thieves ask for each item.
	ADWS
	// PDQR is [deque.PDQR]: it grows. Thieves ask for each item, and wait for it.
	PDQR
	// PDQS is [deque.PDQS]: it grows. Workers with items deal them to those without, but not to those that wait in a Join, a Wait
	// or a Run: these help with what spilled only.
	PDQS
	// Locked is [deque.Locked]: it grows, under a mutex.
	Locked

	deques // how many there are
)

// Kind is what package deque calls it. Split has the deque of ChaseLev.
func (d Deque) Kind() deque.Kind {
	switch d {
	case ABP:
		return deque.KindABP
	case BWoS:
		return deque.KindBWoS
	case BWoSFIFO:
		return deque.KindBWoSFIFO
	case PadWS:
		return deque.KindPadWS
	case ADWS:
		return deque.KindADWS
	case PDQR:
		return deque.KindPDQR
	case PDQS:
		return deque.KindPDQS
	case Locked:
		return deque.KindLocked
	}
	return deque.KindChaseLev
}

var dequeNames = func() (names [deques]string) {
	for d := range deques {
		names[d] = d.Kind().String()
	}
	names[Split] = "split"
	return names
}()

func (d Deque) String() string { return nameOf(d, "Deque", dequeNames[:]) }

// Deques lists every kind of deque.
func Deques() []Deque { return all[Deque](deques) }

// ParseDeque is the reverse of [Deque.String].
func ParseDeque(name string) (Deque, error) { return parse[Deque](name, "deque", dequeNames[:]) }

// A kind is a small enumeration.
type kind interface{ ~uint8 }

func nameOf[K kind](k K, typ string, names []string) string {
	if int(k) >= len(names) {
		return fmt.Sprintf("%s(%d)", typ, uint8(k))
	}
	return names[k]
}

func all[K kind](n K) []K {
	list := make([]K, n)
	for i := range list {
		list[i] = K(i)
	}
	return list
}

func parse[K kind](name, what string, names []string) (K, error) {
	for i, n := range names {
		if n == name {
			return K(i), nil
		}
	}
	return 0, fmt.Errorf("executor: no %s %q: use one of %v", what, name, names)
}
