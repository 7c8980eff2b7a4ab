// Package peer tells a thread of the process about another one, its peer: whether the peer is on a core now, and how
// much processor time it has used. It can also give the caller's core to the peer.
//
// Ding and others, BWS: Balanced Work Stealing for Time-Sharing Multicores (EuroSys 2012), added two system calls to
// Linux for that. The calls here are what a stock kernel has instead. None is exact:
//
//   - [Thread.SharesCPU] compares CPU numbers that the kernel keeps in user memory (rseq). It costs some loads. It
//     finds only the preempted peers whose last CPU is the caller's. Where the C library has the kernel keep a thread's
//     number already, as glibc does since 2.35, that one is read, on amd64 only.
//   - [Thread.Clock] reads the peer's CPU clock. It is a system call. A clock that stands still between two calls some
//     microseconds apart says that the peer is not running.
//   - [Thread.Pull] moves a preempted peer to the caller's CPU and gives that CPU up. The kernel then picks the peer,
//     or another thread that waits for that CPU.
//
// A caller that shares its CPU with a preempted peer gives the CPU up by sched_yield (osthread.Yield).
//
// A [Recorder] is the reference: it has the kernel's own records of when a thread got and lost its core.
// [Recorder.Check] counts in [Counts] how often the calls above are wrong.
//
// Linux has all of it. Elsewhere, and under the tag modelcheck, everything returns [ErrUnsupported], false or zero.
package peer

import (
	"errors"
	"fmt"
)

// ErrUnsupported says that the system lacks a [Feature], or refuses it to this process. It wraps
// [errors.ErrUnsupported].
var ErrUnsupported = fmt.Errorf("peer: not available: %w", errors.ErrUnsupported)

// ErrRefused says that [Thread.Pull] has left a peer where it was. It is wrapped by errors that tell why.
var ErrRefused = errors.New("peer: pull refused")

// A Feature is what a system may have or lack.
type Feature uint8

// The features.
const (
	SameCPU Feature = iota // Thread.SharesCPU
	Clock                  // Thread.Clock
	Pull                   // Thread.Pull
	Records                // Record
)

func (f Feature) String() string {
	switch f {
	case SameCPU:
		return "SameCPU"
	case Clock:
		return "Clock"
	case Pull:
		return "Pull"
	case Records:
		return "Records"
	}
	return fmt.Sprintf("Feature(%d)", uint8(f))
}

// A State is what a [Recorder] knows about its thread.
type State uint8

// The states.
const (
	Unknown   State = iota // no record yet, or the state has changed while it was read
	Running                // on a core
	Preempted              // the thread lost its core while it could go on, to the kernel or by sched_yield
	Blocked                // the thread gave its core up to wait; it may wait for a core by now
)

func (s State) String() string {
	switch s {
	case Unknown:
		return "unknown"
	case Running:
		return "running"
	case Preempted:
		return "preempted"
	case Blocked:
		return "blocked"
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Counts are a worker's questions whether a peer is preempted, and the errors that records have shown. The worker that
// counts is the only one to write them.
type Counts struct {
	Asked     uint64
	Preempted uint64 // the answers "preempted"

	Checked       uint64 // answers that a record could judge
	FalsePositive uint64 // of those: "preempted", and the peer was running
	FalseNegative uint64 // of those: "not preempted", and the peer was preempted
	Blocked       uint64 // of those: "preempted", and the peer slept in the system
	Unknown       uint64 // answers that no record could judge: the peer was switched meanwhile, or never yet
}

// Count counts an answer.
func (c *Counts) Count(preempted bool) {
	c.Asked++
	if preempted {
		c.Preempted++
	}
}

// judge counts an answer about a thread that was in one state all the time, or in state Unknown.
//
// A blocked thread is off its core, as the answer "preempted" says, but needs none: it is an error of a kind of its
// own.
func (c *Counts) judge(preempted bool, s State) {
	c.Count(preempted)
	if s == Unknown {
		c.Unknown++
		return
	}
	c.Checked++
	switch {
	case preempted && s == Running:
		c.FalsePositive++
	case !preempted && s == Preempted:
		c.FalseNegative++
	case preempted && s == Blocked:
		c.Blocked++
	}
}
