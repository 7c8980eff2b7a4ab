package executor

import (
	"fmt"

	"github.com/magpie-go/magpie/executor/internal/policy"
)

// A Policy controls how many of the idle workers look for work and when they sleep.
type Policy uint8

const (
	// Adaptive keeps the promises of [AdaptivePublished]: no item waits in a deque while a worker sleeps, and the
	// number of workers that look for work follows the available work. In addition the last of these sleeps too when
	// there is nothing to steal. Pushing an item wakes a worker if none is looking.
	Adaptive Policy = policy.Adaptive
	// AdaptivePublished is the algorithm of document 000 (Algorithms 2 to 5) to the letter. Pushing an item wakes no
	// worker. Instead, as long as any worker has work, one worker without work stays awake and looks for some.
	AdaptivePublished Policy = policy.Published
)

var policyNames = func() (names []string) {
	for _, row := range policy.Table {
		names = append(names, row.Name)
	}
	return names
}()

func (p Policy) String() string { return nameOf(p, "Policy", policyNames) }

// About describes the policy in one line.
func (p Policy) About() string {
	if int(p) >= len(policy.Table) {
		return ""
	}
	return policy.Table[p].About
}

// Policies lists every policy.
func Policies() []Policy { return all(Policy(len(policyNames))) }

// ParsePolicy is the reverse of [Policy.String].
func ParsePolicy(name string) (Policy, error) { return parse[Policy](name, "policy", policyNames) }

// Forks says when calls of [Fork] are pushed to the worker's deque, where thieves find them.
type Forks uint8

const (
	// PrivateForks stay with the worker until thieves need them. In a Fork or Join the worker pushes them, the oldest
	// first, if there is nothing to steal from it, if a thief has asked, or if one function has two that are not joined
	// and there is little to steal. A fork that is not pushed costs no locked instruction.
	PrivateForks Forks = iota
	// PushedForks are pushed at once, as other items are. Thieves see them as soon as the kind of deque allows.
	PushedForks

	forksModes // the number of values
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
