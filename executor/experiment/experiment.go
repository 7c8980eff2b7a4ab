// Package experiment has the options of an executor that are for comparisons: policies, kinds of deques and ways to
// fork, of which the documents compare some, and the parameters of these. Their zero values are what a program should
// use. Their values are names and numbers, so that they come from flags and files as they are.
//
//	ex, err := executor.New(executor.Config{Experiment: experiment.Options{Policy: "abp", Deque: deque.KindPadWS}})
//
// Document 000 is Lin, Huang and Wong, "An Efficient Work-Stealing Scheduler for Task Dependency Graph" (2020), and
// document 004 Ding et al., "BWS: Balanced Work Stealing for Time-Sharing Multicores" (2012).
package experiment

import (
	"errors"
	"slices"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor/internal/policy"
)

// ErrFIFO is the error of what needs an executor.Scope, on an executor whose Deque is [deque.KindBWoSFIFO]: a run of
// executor.NewJob or Call, First, and every function of package parallel.
var ErrFIFO = errors.New("executor: a Scope needs a deque that gives the newest item back, and Experiment.Deque is " +
	deque.KindBWoSFIFO.String())

// Options are what a comparison sets in executor.Config. New refuses a name that it does not know, and an option that
// the policy or the kind of deque does not have; the error lists the names. "" and 0 are the defaults.
type Options struct {
	// Policy controls how many of the idle workers look for work and when they sleep. "" means "adaptive". [About]
	// describes a policy, and [Policies] lists them:
	//
	//   - "adaptive" keeps the promises of "adaptive-published": no item waits in a deque while a worker sleeps, and the
	//     number of workers that look for work follows the available work. In addition the last of these sleeps too when
	//     there is nothing to steal. Pushing an item wakes a worker if none is looking.
	//   - "adaptive-published" is the algorithm of document 000 (Algorithms 2 to 5). Pushing an item wakes no worker.
	//     Instead, as long as any worker has work, one worker without work stays awake and looks for some. The executor
	//     around it differs from the document, less so with Verbatim; executor/protocol/documents.md lists the
	//     differences.
	//   - "abp" is the policy of Arora, Blumofe and Plaxton, with which documents 000 (section III) and 004 (section 2)
	//     compare. A worker without work offers its core before each attempt to steal, and tries until it has an item.
	//     During a run every worker keeps a core busy, also one that waits in a Join or a Wait. While no run is in
	//     progress the workers sleep.
	//   - "mbws" is the balanced work stealing of document 004 (Algorithm 2) as document 000 has it, without support by
	//     the kernel. Each steal lets other thieves wake two workers, and a thief that has failed often sleeps, unless it
	//     is the last thief and a run is in progress.
	//   - "mbws-role" is "mbws" whose thief that does not sleep is the watchdog of document 004: a role, which a thief
	//     that gets an item hands over. It is what "bws-same" is without its stand-in.
	//   - "bws-same" is "mbws-role" with a stand-in for the kernel support of document 004: a worker without work yields
	//     to a busy one that was last on the same CPU, and so has no core. It needs Linux with rseq, and except on amd64
	//     no C library that uses rseq itself, see [Available]. It misses workers that lost another core.
	//   - "bws-clock" is "bws-same" that also yields to a busy worker whose thread's processor time stands still. It
	//     finds nearly all workers without a core, and needs microseconds and two system calls for each look.
	//   - "bws-pull" is "bws-clock" that has the kernel move the thread of such a worker to the thief's CPU, and gives
	//     that up. It is the closest to document 004: each move costs some system calls and a cold cache.
	//   - "wsgi" is the work stealing with global information of document 004 (section 5.5): one worker without work
	//     stays awake for every two with work. It shows the price of exact counts, which a lock guards.
	//   - "taskflow" is the control of the library of that name since its version 3.5. Each item pushed wakes a worker
	//     that sleeps, and a worker sleeps when it has found all deques empty.
	Policy string
	// SleepThreshold is after how many failed attempts in a row a worker without work considers sleeping, 1 to 1048576.
	// 0 means 64. Document 004 (section 5.4) studies 32 to 4096. The policies "mbws", "mbws-role", "bws-same",
	// "bws-clock", "bws-pull" and "wsgi" have it. It counts for a worker that waits inside a task, too, which a spare
	// stands in for only after that.
	SleepThreshold int
	// Yields says when a worker without work offers its core to other threads (document 004, section 5.3). Only the
	// policy "abp" has it. [Yields] lists the names. "" means "each", which is before each attempt to steal: ABP as
	// published. "never" is not at all. "delayed" is before each attempt, once twice as many as there are workers have
	// failed in a row. "selective" is before each 64th attempt.
	Yields string
	// BusyWakes lets a worker wake two others for each item that it pushes, if they sleep. Thieves then wake no worker
	// (004, section 5.5, "downgraded BWS"). "mbws", "mbws-role", "bws-same", "bws-clock" and "bws-pull" have it.
	BusyWakes bool
	// CheckPeers compares each answer about a busy worker's thread with the kernel's records of when that thread had a
	// core, where the system permits it, see [PeerStats]. "bws-same", "bws-clock" and "bws-pull" have it.
	CheckPeers bool
	// Deque is the kind of deque in which workers keep their items. The zero value is [deque.KindChaseLev], which grows
	// and hides no items. The documentation of package deque says, with figures, which kind suits which work.
	//
	// If a bounded deque has no room for an item, the item goes to a growable deque beside it, or with
	// [deque.KindBWoSFIFO] to the queue that all workers share. It is not lost, and the worker does not wait. Items
	// that a worker gives away, because it blocks or a caller leaves its place, go to the shared queue too: with
	// [deque.KindBWoSFIFO] they come behind younger ones there. With that kind a run of executor.NewJob or Call fails
	// with [ErrFIFO]. With [deque.KindPDQS] a worker that waits in a Join, a Wait or a Run is dealt no items,
	// and helps only with items that others have shown because a worker was about to sleep.
	//
	// If the kind hides items, see [deque.Kind.Hides], a task must wait for items that it has pushed only by the means
	// of this module, or inside executor.Blocking. While the task runs, other workers may not see these items.
	Deque deque.Kind
	// Forks says when calls of executor.Fork are pushed to the worker's deque, where thieves find them. [Forks] lists the
	// names. "" means "private": they stay with the worker until thieves need them. In a Fork or Join the worker pushes
	// them, the oldest first, if there is nothing to steal from it, if a thief has asked, or if one function has two that
	// are not joined and there is little to steal. A fork that is not pushed costs no locked instruction. "pushed" pushes
	// them at once, as other items are. Thieves see them as soon as the kind of deque allows. With [deque.KindBWoS] and
	// [deque.KindPDQS], which hide items and whose thieves cannot ask, forks are pushed at once, whatever Forks says.
	Forks string
	// Capacity is about how many items a worker's deque has room for, or at first has room for if it grows. 0 means
	// 1024, or 512 for [deque.KindChaseLev].
	Capacity int
	// BlockSize is the number of items of a block, in a deque with blocks. 0 means about the square root of the
	// capacity. But without Verbatim and "pushed" forks it means at most 4 for [deque.KindBWoS] and
	// [deque.KindBWoSFIFO], of which thieves see nothing in the owner's block.
	BlockSize int
	// Steal is how much a thief takes at once: [deque.One], the zero value, or more if the kind of deque allows it, but
	// at most 64 items. The thief puts the items that it does not run at once into its own deque. More than one is for
	// many small items of graphs and other jobs: forks and children that a thief does not run at once go to the queue
	// that all workers share.
	Steal deque.Batch
	// Verbatim leaves out what this executor adds to the work stealing of document 000 (Lin, Huang and Wong, "An
	// Efficient Work-Stealing Scheduler for Task Dependency Graph", 2020), to compare with the paper. It goes with
	// every Policy. The paper's own is "adaptive-published".
	//
	//   - Each task of a graph is an item of its own. The sources are submitted together, with one notification, or
	//     pushed one by one if a task starts the run. A task pushes all successors that it makes ready but the last,
	//     which it leaves to its worker. Without Verbatim many tasks may be one item, of which a thief takes half.
	//   - A busy worker does not look at the queue of submissions. So runs that keep all workers busy for ever starve
	//     all later runs.
	//   - A worker that has run out of items always becomes a thief, whatever the policy.
	//   - A thief that has lost a steal does not yield for that. With "adaptive" it still does.
	//   - One worker alone has a deque as any other worker does.
	//   - The blocks of a deque are as large as their documents say.
	//
	// What the paper does not have stays as it is: among others nested runs, forks, executor.Blocking and its spares. The
	// list of all differences is in executor/protocol/documents.md.
	Verbatim bool
}

// Policies returns the names that Options.Policy takes, the default first.
func Policies() []string {
	names := make([]string, len(policy.Table))
	for i, row := range policy.Table {
		names[i] = row.Name
	}
	return names
}

// About describes the policy of that name in three lines: its algorithm, when it is the right one, and its costs. It
// returns "" if there is none.
func About(name string) string {
	i := slices.Index(Policies(), name)
	if i < 0 {
		return ""
	}
	return policy.Table[i].About()
}

// Yields returns the names that Options.Yields takes, the default first.
func Yields() []string { return slices.Clone(policy.YieldsNames[:]) }

// Forks returns the names that Options.Forks takes, the default first.
func Forks() []string { return []string{"private", "pushed"} }
