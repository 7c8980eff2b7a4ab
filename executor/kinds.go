package executor

import (
	"github.com/magpie-go/magpie/executor/internal/enum"
	"github.com/magpie-go/magpie/executor/internal/policy"
)

// A Policy controls how many of the idle workers look for work and when they sleep.
type Policy uint8

const (
	// Adaptive keeps the promises of [AdaptivePublished]: no item waits in a deque while a worker sleeps, and the
	// number of workers that look for work follows the available work. In addition the last of these sleeps too when
	// there is nothing to steal. Pushing an item wakes a worker if none is looking.
	Adaptive Policy = policy.Adaptive
	// AdaptivePublished is the algorithm of document 000 (Algorithms 2 to 5). Pushing an item wakes no worker. Instead,
	// as long as any worker has work, one worker without work stays awake and looks for some. The executor around it
	// differs from the document, less so with [Config.Verbatim]; protocol/documents.md lists the differences.
	AdaptivePublished Policy = policy.Published
	// ABP is the policy of Arora, Blumofe and Plaxton, with which documents 000 (section III) and 004 (section 2)
	// compare. A worker without work offers its core before each attempt to steal, and tries until it has an item. It
	// is for comparisons, and for a machine that has nothing else to do: during a run every worker keeps a core busy,
	// also one that waits in a Join or a Wait. While no run is in progress the workers sleep.
	ABP Policy = policy.ABP
	// MBWS is the balanced work stealing of document 004 (Algorithm 2) as document 000 has it, without support by the
	// kernel. Each steal lets other thieves wake two workers, and a thief that has failed often sleeps, unless it is
	// the last thief and a run is in progress. It is for comparisons: it keeps one more core busy than there is work
	// for, and is slower than [Adaptive] to find workers for new work.
	MBWS Policy = policy.MBWS
	// MBWSRole is MBWS whose thief that does not sleep is the watchdog of document 004: a role, which a thief that gets
	// an item hands over. It is for comparisons: it is what BWSSame is without its stand-in.
	MBWSRole Policy = policy.MBWSRole
	// BWSSame is MBWSRole with a stand-in for the kernel support of document 004, for machines that other programs use
	// too: a worker without work yields to a busy one that was last on the same CPU, and so has no core. It needs Linux
	// with rseq, and except on amd64 no C library that uses rseq itself (see [Policy.Available]). It misses workers
	// that lost another core.
	BWSSame Policy = policy.BWSSame
	// BWSClock is BWSSame that also yields to a busy worker whose thread's processor time stands still. It is for
	// comparisons: it finds nearly all workers without a core, and needs microseconds and two system calls for each
	// look.
	BWSClock Policy = policy.BWSClock
	// BWSPull is BWSClock that has the kernel move the thread of such a worker to the thief's CPU, and gives that up.
	// It is the closest to document 004, for comparisons: each move costs some system calls and a cold cache.
	BWSPull Policy = policy.BWSPull
	// WSGI is the work stealing with global information of document 004 (section 5.5): one worker without work stays
	// awake for every two with work. It is for comparisons: it shows the price of exact counts, which a lock guards.
	WSGI Policy = policy.WSGI
	// Taskflow is the control of the library of that name since its version 3.5. Each item pushed wakes a worker that
	// sleeps, and a worker sleeps when it has found all deques empty. It is for comparisons, and for few items that are
	// worth a wake-up each.
	Taskflow Policy = policy.Taskflow
)

var policyNames = func() (names []string) {
	for _, row := range policy.Table {
		names = append(names, row.Name)
	}
	return names
}()

// String returns the name that [ParsePolicy] takes. A value that is none of the constants is written as Policy(9).
func (p Policy) String() string { return enum.Name(p, "Policy", policyNames) }

// About describes the policy in three lines: its algorithm, when it is the right one, and its costs.
func (p Policy) About() string {
	if int(p) >= len(policy.Table) {
		return ""
	}
	return policy.Table[p].About()
}

// Policies lists every policy.
func Policies() []Policy { return enum.All(Policy(len(policyNames))) }

// ParsePolicy returns the Policy of that name: "adaptive", "adaptive-published", "abp", "mbws", "mbws-role",
// "bws-same", "bws-clock", "bws-pull", "wsgi" or "taskflow". For any other name it returns an error that lists these.
func ParsePolicy(name string) (Policy, error) { return enum.Parse[Policy](name, "policy", policyNames) }

// PolicyOptions are what some policies leave open. New refuses an option that the policy does not have.
type PolicyOptions struct {
	// SleepThreshold is after how many failed attempts in a row a worker without work considers sleeping, 1 to 1048576.
	// 0 means 64. Document 004 (section 5.4) studies 32 to 4096. MBWS, MBWSRole, BWSSame, BWSClock, BWSPull and WSGI
	// have it. It counts for a worker that waits inside a task, too, which a spare stands in for only after that.
	SleepThreshold int
	// Yields says when a worker without work offers its core to other threads. Only ABP has it.
	Yields Yields
	// BusyWakes lets a worker wake two others for each item that it pushes, if they sleep. Thieves then wake no worker
	// (004, section 5.5, "downgraded BWS"). MBWS, MBWSRole, BWSSame, BWSClock and BWSPull have it.
	BusyWakes bool
	// CheckPeers compares each answer about a busy worker's thread with the kernel's records of when that thread had a
	// core, where the system permits it, see [PeerStats]. BWSSame, BWSClock and BWSPull have it.
	CheckPeers bool
}

func (o PolicyOptions) internal() policy.Options {
	return policy.Options{
		SleepThreshold: o.SleepThreshold,
		Yields:         policy.Yields(o.Yields),
		BusyWakes:      o.BusyWakes,
		CheckPeers:     o.CheckPeers,
	}
}

// Yields says when a worker without work offers its core to other threads (document 004, section 5.3).
type Yields uint8

const (
	// YieldEach is before each attempt to steal: ABP as published.
	YieldEach Yields = Yields(policy.YieldEach)
	// YieldNever is not at all.
	YieldNever Yields = Yields(policy.YieldNever)
	// YieldDelayed is before each attempt, once twice as many as there are workers have failed in a row.
	YieldDelayed Yields = Yields(policy.YieldDelayed)
	// YieldSelective is before each 64th attempt.
	YieldSelective Yields = Yields(policy.YieldSelective)
)

var yieldsNames = policy.YieldsNames[:]

// String returns the name that [ParseYields] takes. A value that is none of the constants is written as Yields(9).
func (y Yields) String() string { return enum.Name(y, "Yields", yieldsNames) }

// AllYields lists every value of Yields.
func AllYields() []Yields { return enum.All(Yields(len(yieldsNames))) }

// ParseYields returns the Yields of that name: "each", "never", "delayed" or "selective". For any other name it
// returns an error that lists these.
func ParseYields(name string) (Yields, error) {
	return enum.Parse[Yields](name, "way to yield", yieldsNames)
}

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

// String returns the name that [ParseForks] takes. A value that is none of the constants is written as Forks(9).
func (f Forks) String() string { return enum.Name(f, "Forks", forksNames[:]) }

// AllForks lists every value of Forks.
func AllForks() []Forks { return enum.All[Forks](forksModes) }

// ParseForks returns the Forks of that name: "private" or "pushed". For any other name it returns an error that
// lists these.
func ParseForks(name string) (Forks, error) {
	return enum.Parse[Forks](name, "way to fork", forksNames[:])
}
