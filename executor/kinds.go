package executor

import (
	"fmt"

	"github.com/magpie-go/magpie/executor/internal/policy"
)

// A Policy controls how many of the idle workers look for work and when they sleep.
type Policy uint8

const (
	// Adaptive keeps what [AdaptivePublished] promises, that no item waits in a deque while a worker sleeps, and that
	// the number of thieves follows the work there is. In addition the last thief sleeps too when there is nothing to
	// steal: publishing an item wakes a worker if nobody is looking.
	Adaptive Policy = policy.Adaptive
	// AdaptivePublished is the algorithm of document 000 (Algorithms 2 to 5) to the letter: publishing an item wakes
	// nobody, so as long as any worker has work, one thief stays awake and looks around.
	AdaptivePublished Policy = policy.Published
)

var policyNames = func() (names []string) {
	for _, row := range policy.Table {
		names = append(names, row.Name)
	}
	return names
}()

func (p Policy) String() string { return nameOf(p, "Policy", policyNames) }

// Policies lists every policy.
func Policies() []Policy { return all(Policy(len(policyNames))) }

// ParsePolicy is the reverse of [Policy.String].
func ParsePolicy(name string) (Policy, error) { return parse[Policy](name, "policy", policyNames) }

// Forks says when calls of [Fork] are pushed to the worker's deque, where thieves find them.
type Forks uint8

const (
	// PrivateForks stay with the worker until others want them. The worker pushes them, the oldest first, when there is
	// nothing to steal from it, when a thief has asked, or when one function has two that are not joined and there are
	// few to steal. A fork that nobody steals costs no locked instruction. Thieves do not see the others until the
	// worker's next Fork or Join.
	PrivateForks Forks = iota
	// PushedForks are pushed at once, as any other item: thieves see them as soon as the kind of deque lets them.
	PushedForks

	forksModes // how many there are
)

var forksNames = [forksModes]string{PrivateForks: "private", PushedForks: "pushed"}

func (f Forks) String() string { return nameOf(f, "Forks", forksNames[:]) }

// AllForks lists every value of Forks.
func AllForks() []Forks { return all[Forks](forksModes) }

// ParseForks is the reverse of [Forks.String].
func ParseForks(name string) (Forks, error) { return parse[Forks](name, "way to fork", forksNames[:]) }

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
