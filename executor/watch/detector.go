package watch

import (
	"slices"
	"strings"
	"time"

	"github.com/magpie-go/magpie/executor"
)

// A sample is the state of an executor at one moment.
type sample struct {
	now    time.Time
	stats  executor.Stats
	tasks  []running       // by worker ID; nil without an Observer
	stacks func() []string // see Executor.Stacks; called at most once for a sample
}

// done returns a number that changes when a task ends, perhaps later. With an Observer it does so as soon as the worker
// begins the next one.
func (s *sample) done() (n uint64) {
	t := &s.stats.Total
	n = t.Tasks + t.Pops + t.StealsWon
	for _, r := range s.tasks {
		n += r.begins
	}
	return n
}

// isOver reports whether the executor is closed and its work is done.
func (s *sample) isOver() bool {
	g := &s.stats.Gauges
	return g.Closed && g.Runs == 0 && g.Futures == 0
}

// hasWork reports whether there is work that could go on: an item waits for a worker, or a task has begun. A run in
// progress alone is none: such a run may wait for work from outside. While a task is in Blocking, tasks that have begun
// are none either: they may wait for that one.
func (s *sample) hasWork() bool {
	g := &s.stats.Gauges
	return g.Pending() > 0 || g.Blocked == len(g.Silent) && (g.Active > 0 || g.Waiting > 0)
}

// A detector decides by samples what to report. Times are those of the samples: a stall and a task may have begun up to
// a period before.
type detector struct {
	opts Options

	done     uint64      // of the latest sample that differed
	since    time.Time   // of that sample, or the latest one without work
	lookAt   time.Time   // the stacks are not looked at before
	seen     []string    // where the workers waited at the latest look; nil if there was none since progress
	stalled  bool        // a stall was reported and is not over
	previous []workerRun // by worker ID

	silent uint64    // SilentBlocks when that was reported last
	quiet  time.Time // none is reported before
}

// A workerRun is a time in which a worker runs one task, as far as samples tell.
type workerRun struct {
	busy     bool
	key      uint64 // changes when the worker begins another task, perhaps later
	since    time.Time
	reported bool
	running  // without a task if that is unknown
}

// step takes a sample and returns the reports.
func (d *detector) step(s sample) (reports []report) {
	var stacks []string
	stacksOf := s.stacks
	s.stacks = func() []string {
		if stacks == nil {
			stacks = stacksOf()
		}
		return stacks
	}
	if d.opts.NoProgress > 0 {
		reports = append(d.silence(&s), d.progress(&s)...)
	}
	if d.opts.LongTask > 0 {
		reports = append(reports, d.long(&s)...)
	}
	return reports
}

// silence reports that tasks wait outside Blocking, once a NoProgress at most, with those that do at the moment.
func (d *detector) silence(s *sample) []report {
	n := s.stats.SilentBlocks
	if n == d.silent || s.now.Before(d.quiet) {
		return nil
	}
	d.silent, d.quiet = n, s.now.Add(d.opts.NoProgress)
	var tasks []running
	if s.tasks != nil {
		tasks = make([]running, len(s.tasks))
		for _, worker := range s.stats.Gauges.Silent {
			tasks[worker] = s.tasks[worker]
		}
	}
	return []report{{kind: silent, at: s.now, since: s.now, stats: s.stats, tasks: tasks}}
}

// progress reports stalls.
func (d *detector) progress(s *sample) []report {
	if done := s.done(); d.since.IsZero() || done != d.done || !s.hasWork() {
		ended := report{kind: stallOver, at: s.now, since: d.since}
		stalled := d.stalled
		d.done, d.since, d.seen, d.stalled = done, s.now, nil, false
		d.lookAt = s.now.Add(d.opts.NoProgress)
		if stalled {
			return []report{ended}
		}
		return nil
	}
	if d.stalled || s.now.Before(d.lookAt) {
		return nil
	}
	// The counters lag, and a task that computes for long counts nothing. So the workers' stacks decide: no worker with
	// a task computes, in Blocking or not, and each waits at the same place at two looks.
	places, waiting := places(s)
	if !waiting {
		d.seen = nil
		d.lookAt = s.now.Add(d.opts.NoProgress)
		return nil
	}
	switch {
	case d.seen == nil:
		d.seen = places
		return nil
	case !slices.Equal(d.seen, places):
		d.seen = nil
		d.lookAt = s.now.Add(d.opts.NoProgress)
		return nil
	}
	d.stalled = true
	return []report{{kind: stall, at: s.now, since: d.since, stats: s.stats, tasks: s.tasks, stacks: s.stacks()}}
}

// places returns where each worker with a task waits. waiting is false if one of them computes, or may do so.
func places(s *sample) (places []string, waiting bool) {
	states := s.stats.Gauges.States
	places = make([]string, len(states))
	if !slices.ContainsFunc(states, hasTask) {
		return places, true
	}
	stacks := s.stacks()
	for i, state := range states {
		if !hasTask(state) {
			continue
		}
		if i >= len(stacks) || !waits(stacks[i], state) {
			return nil, false
		}
		places[i] = place(stacks[i])
	}
	return places, true
}

// hasTask reports whether a worker in that state runs a task.
func hasTask(state executor.WorkerState) bool {
	return state == executor.WorkerRunning || state == executor.WorkerBlocked
}

// computes are the states of goroutines, in tracebacks, that do not wait for another goroutine or for a time.
var computes = []string{"running", "runnable", "syscall", "preempted", "copystack", "idle", "dead"}

// waits reports whether a worker's goroutine waits, by its stack as text: "goroutine 7 [chan receive, 2 minutes, locked
// to thread]:". A system call in Blocking is taken for a wait.
func waits(stack string, worker executor.WorkerState) bool {
	_, rest, ok := strings.Cut(stack, "[")
	if !ok {
		return false
	}
	state := rest[:strings.IndexAny(rest+"]", ",]")]
	state = strings.TrimSuffix(state, " (scan)")
	if state == "syscall" && worker == executor.WorkerBlocked {
		return true
	}
	return !slices.Contains(computes, state) && !strings.HasPrefix(state, "GC ")
}

// place returns a stack without its first line, which tells for how long the goroutine has waited.
func place(stack string) string {
	_, frames, _ := strings.Cut(stack, "\n")
	return frames
}

// long reports tasks that run for long.
func (d *detector) long(s *sample) (reports []report) {
	for i, state := range s.stats.Gauges.States {
		if i == len(d.previous) {
			d.previous = append(d.previous, workerRun{})
		}
		worker := &s.stats.Workers[i]
		now := workerRun{busy: state == executor.WorkerRunning, key: worker.Tasks + worker.Skipped, since: s.now}
		if s.tasks != nil {
			now.key, now.running = s.tasks[i].begins, s.tasks[i]
			now.busy = now.busy && now.task != nil
		}
		was := &d.previous[i]
		if was.busy && now.busy && was.key == now.key && was.task == now.task {
			if !was.reported && s.now.Sub(was.since) >= d.opts.LongTask {
				was.reported = true
				r := report{kind: longTask, at: s.now, since: was.since, worker: i, running: was.running, stats: s.stats}
				if stacks := s.stacks(); i < len(stacks) {
					r.stacks = stacks[i : i+1]
				}
				reports = append(reports, r)
			}
			continue
		}
		if was.reported {
			reports = append(reports, report{kind: longTaskOver, at: s.now, since: was.since, worker: i, running: was.running})
		}
		*was = now
	}
	return reports
}
