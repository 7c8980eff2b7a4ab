package executor

import "fmt"

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

// A Deque is what a worker keeps forks in, those of [Fork], until they are joined or stolen. Everything else is in a deque
// of Chase and Lev always.
type Deque uint8

const (
	// Split keeps the newest forks in the worker's own hands and pushes them, the oldest first, when there is nothing to
	// steal from it, or when one function has two that are not joined and there are few. A fork that nobody steals costs no locked
	// instruction. Nobody sees that work until the worker's next Fork or Join.
	Split Deque = iota
	// ChaseLev pushes every fork at once: two locked instructions each.
	ChaseLev

	deques // how many there are
)

var dequeNames = [deques]string{Split: "split", ChaseLev: "chaselev"}

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
