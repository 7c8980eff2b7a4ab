package host

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"github.com/magpie-go/magpie/executor/internal/enum"
	"github.com/magpie-go/magpie/executor/internal/hosting"
	"github.com/magpie-go/magpie/internal/allot"
	"github.com/magpie-go/magpie/internal/gat"
)

// A Share makes an executor share the processors of the machine with the other executors that have one, in this process
// and in others of the same user (document 003, chapters 4 to 6). It is for machines on which several programs, or
// several executors of one, would together run more workers than there are processors.
//
// Each executor is a job. Once a cycle a job estimates its desire: how many processors it can use without wasting more
// than a part of them. A table in memory that all jobs map has the desires of all of them, and what each is allotted.
// No job is allotted more than it desires, and processors that are left go to those that desire more, evenly by weight.
// A job that desires any is allotted at least one, so that with more such jobs than processors the processors are
// shared by the kernel as they are without a Share.
//
// Workers beyond the allotment rest, each from its next boundary on: the end of a task, a Fork, a Join, a Yield, or a
// look for work. A worker can rest at a Fork, a Join or a Yield while its task holds a lock, as a thread can lose its
// processor there. It then has its turn after eight cycles, or more if others rest too, and as soon as those that are
// awake have nothing else to do. A worker in executor.Blocking uses no processor. An executor without a run in progress
// soon desires nothing; the next run begins at once with one worker, and within a cycle with what the executor desired
// before.
//
// A job cannot take more than its share by desiring more. But nothing forces it to keep to its allotment: jobs trust
// each other, as processes of one user do. A job that is killed gives everything back. One that is stopped counts with
// its Minimum after two seconds.
//
// If the table cannot be used, the executor works alone for good, as without a Share, and [ShareStats].Err says why.
// New waits up to a second for a table that others have locked. There is no table on systems other than Linux, its file
// may belong to somebody else, or its jobs may have another Cycle.
type Share struct {
	// Path is the table's file. "" means the default: magpie-v1.gat in $XDG_RUNTIME_DIR, else in /dev/shm with the
	// user's number in its name. Executors with the same path share. The directory must exist; the file need not.
	Path string
	// Weight is the executor's part of contended processors, relative to others. 0 means 1.
	Weight int
	// Minimum is how many processors the executor is allotted before others have more than one, if it desires them. If
	// the minima of all jobs are more than there are processors, they are shared evenly by weight.
	Minimum int
	// Maximum is the largest allotment. 0 means Config.Workers.
	Maximum int
	// Processors is the number of processors that all jobs of the table share, and Cycle the time between two
	// estimates, document 003's est_cycle. All jobs of a table must have the same. 0 means the processors that the
	// process may use, and 5 ms, which is the document's choice.
	Processors int
	Cycle      time.Duration
	// Desire is the rule by which the executor estimates its desire. "" means "steal-ratio", document 003's WSAP (sections
	// 4.2 and 6.1). Of the attempts to steal during a cycle it counts those whose victim was looking for work itself.
	// While few are, the executor desires more than the workers that were awake. When most are, it desires fewer.
	//
	// "ready-items" takes the number of items that run or could, at the end of each cycle, for the desire, as the
	// document's Cilk-AP-INST does. It is for comparisons: a loop that forks the rest of itself and then runs a part of
	// itself never has more than one such item that no worker has.
	Desire string
	// Efficiency is the target η of "steal-ratio", above 0 and at most 1: how much of its processors a job uses at least
	// when it has just got more. The lower it is, the sooner the desire grows, and the more it may waste. 0 means 0.5,
	// which is the document's choice; its last experiment has 0.75. It counts in thousandths.
	Efficiency float64
	// QuotaShare is as if it stood alone in the place of the Share: it bounds the workers besides. 0 means no such bound.
	QuotaShare QuotaShare
}

// Checked implements [Sharing].
func (s *Share) Checked(workers int, bad func(format string, args ...any)) Sharing {
	if s == nil {
		return nil
	}
	if q := s.QuotaShare; !q.isPart() {
		bad("Share.QuotaShare is %v: give a part of the CPU quota above 0 and below 1, or 0 for none", float64(q))
	}
	return s.withDefaults(workers, bad)
}

func (*Share) sealed() {}

// Begin implements [Sharing].
func (s *Share) Begin(on hosting.Machine) hosting.Sharing[ShareStats, QuotaStats] {
	return newSharing(on, s, true, float64(s.QuotaShare))
}

// ruleOf returns the rule by which s estimates the desire. Desire is a known name, or "".
func (s *Share) ruleOf() allot.Rule {
	i, _ := enum.Find("Desire", s.Desire, allot.Names())
	return allot.Rules[i].New(s.permille())
}

// permille returns the target efficiency in thousandths.
func (s *Share) permille() allot.Permille { return allot.Permille(s.Efficiency*1000 + 0.5) }

const (
	defaultCycle      = 5 * time.Millisecond
	defaultEfficiency = 0.5
	shortestCycle     = time.Millisecond
	longestCycle      = time.Second
)

// withDefaults returns a copy of s with the defaults filled in. It reports every bad field to bad.
func (s *Share) withDefaults(workers int, bad func(format string, args ...any)) *Share {
	c := *s
	c.Path = cmp.Or(c.Path, gat.Path())
	if path, err := filepath.Abs(c.Path); err == nil {
		c.Path = path // the process may change its directory
	}
	c.Processors = cmp.Or(c.Processors, runtime.NumCPU())
	c.Cycle = cmp.Or(c.Cycle, defaultCycle)
	c.Efficiency = cmp.Or(c.Efficiency, defaultEfficiency)
	c.Maximum = cmp.Or(c.Maximum, workers)
	c.Weight = cmp.Or(c.Weight, 1)
	for _, f := range []struct {
		name  string
		value int
		zero  string
	}{
		{"Weight", c.Weight, "1"},
		{"Minimum", c.Minimum, "none"},
		{"Maximum", c.Maximum, "Config.Workers"},
		{"Processors", c.Processors, "those that the process may use"},
	} {
		if f.value < 0 {
			bad("Share.%s is %d: give a positive number, or 0 for %s", f.name, f.value, f.zero)
		}
	}
	if c.Cycle < shortestCycle || c.Cycle > longestCycle {
		bad("Share.Cycle is %v: give %v to %v, or 0 for %v", c.Cycle, shortestCycle, longestCycle, defaultCycle)
	}
	if !(c.Efficiency >= 0.001 && c.Efficiency <= 1) {
		bad("Share.Efficiency is %v: give a number above 0 and at most 1, or 0 for %v",
			c.Efficiency, defaultEfficiency)
	}
	if _, err := enum.Find("Desire", c.Desire, allot.Names()); err != nil {
		bad("Share.%w", err)
	}
	return &c
}

// ShareStats is how an executor shares the machine.
type ShareStats struct {
	Joined     bool    // the executor has a Share, and a place in the table
	Err        error   // why the executor is alone although it has a Share
	Desire     int     // processors that the executor desires, 0 when it has had no work for ten cycles
	Allotment  int     // processors that it is allotted
	Usage      int     // workers awake on average during the last cycle, while a run was in progress
	Efficiency float64 // 1 less the part of steal attempts in that cycle whose victim was looking for work itself
	Awake      int     // workers awake now
	Resting    int     // workers that rest now, because more would be awake than allotted
	Cycles     uint64  // cycles so far with a run in progress
	Rests      uint64  // how often workers have gone to rest so far
	MeanUsage  float64 // the mean of Usage over these cycles, 0 without any
}

// String returns the main figures for people, "no" without a Share, or why the executor is alone.
func (s ShareStats) String() string {
	switch {
	case s.Err != nil:
		return fmt.Sprintf("alone: %v", s.Err)
	case !s.Joined:
		return "no"
	}
	return fmt.Sprintf("desire %d, allotted %d, used %d at an efficiency of %.2f, %d awake, %d resting",
		s.Desire, s.Allotment, s.Usage, s.Efficiency, s.Awake, s.Resting)
}
