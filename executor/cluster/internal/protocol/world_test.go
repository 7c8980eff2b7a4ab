package protocol

import (
	"fmt"
	"slices"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// A scenario is a small run of a graph, and what may go wrong.
type scenario struct {
	name    string
	plan    *wire.Plan
	workers int
	faults  int // how many faults there may be in all
	kinds   fault

	submits   bool         // the submitter is an actor; else there is a Start message
	cancels   bool         // the canceller is an actor
	mends     bool         // someone who looks once, at any time, whether the run stands still is an actor
	failing   map[int]bool // partitions that may fail at each attempt, instead of having an output
	failsOnly bool         // and do
	poison    map[int]bool // partitions that their workers die of
	hidesPlan bool         // the plan may be missing, which is a stale read
	noPlan    bool         // the plan is missing
	killing   bool         // whoever loads the plan dies
	alien     bool         // there are messages that nobody of this queue has written
	ages      bool         // time passes: the Start message becomes old
	deadline  bool         // the deadline is when it does
	removes   bool         // records are removed after the end, and the state when the Start message is old
	limits    Limits
}

// A fault is a set of kinds of faults.
type fault int

const (
	crash   fault = 1 << iota // a worker, the submitter or the canceller dies
	doubt                     // a write has no answer or a wrong one, and an effect now, later or never; or some of it has
	stale                     // a read returns an old revision
	lost                      // an ack is lost
	slow                      // a lease ends while the worker goes on
	double                    // a message is there twice
	lack                      // a worker lacks the functions of a partition
	window                    // the queue drops messages that it had before
	amnesia                   // the queue loses a message or a mark that it has acknowledged; then Resume is called

	allFaults = crash | doubt | stale | lost | slow | double | window
)

const (
	runName  = "run"
	planHash = "plan"
)

func (s *scenario) beginning() wire.Begin {
	b := wire.Begin{Name: s.name, Parts: len(s.plan.Parts)}
	if s.deadline {
		b.Deadline = s.limits.Wait
	}
	return b
}

// newTexts numbers what every execution of s has.
func newTexts(s *scenario) *texts {
	t := &texts{scenario: s, handlers: make(map[int]*node), states: make(map[int]wire.State)}
	t.values.number("") // a removed record
	begin := s.beginning()
	start := wire.Message{V: wire.Version, Kind: wire.Start, Run: runName, Plan: planHash, Begin: &begin}
	t.begin = t.values.number(string(wire.Encode(start)))
	t.keys.number(StateKey(runName))
	outputs := make([]wire.Output, len(s.plan.Parts))
	for i := range s.plan.Parts {
		t.raw = append(t.raw, t.values.number(string(wire.Encode(post(start, s.plan, i).Message))))
		t.keys.number(OutputKey(runName, i))
	}
	far := post(start, s.plan, 0).Message
	far.Part = len(s.plan.Parts)
	t.alien = []int{t.values.number("hello"), t.values.number(string(wire.Encode(far)))}
	for range s.plan.Parts { // in any order: the last round has all inputs
		for i, part := range s.plan.Parts {
			var inputs []wire.Output
			for _, pred := range part.Preds {
				inputs = append(inputs, outputs[pred])
			}
			outputs[i] = serialOutput(i, inputs)
			outputs[i].V, outputs[i].Part, outputs[i].Worker = wire.Version, i, "w"
		}
	}
	for i := range outputs {
		t.serial = append(t.serial, t.values.number(string(wire.Encode(outputs[i]))))
	}
	return t
}

// outputOf is the number of the key of the output of a partition: newTexts gives them first.
func outputOf(part int) int { return 1 + part }

const stateNumber = 0

// A world is all that there is between two steps.
type world struct {
	*texts
	records [][]int32 // by the number of the key: the values that it had; 0 is none
	queue   []entry
	letters []int32   // messages that are buried
	pending []pending // effects that come later
	actors  []actor   // the workers, then others
	left    int       // faults
	old     bool      // the Start message is old
	removed bool      // the records other than the state
	forgot  bool      // the state was removed
	stored  bool      // the plan
	had     []bool    // by partition: its message was in the queue
	broken  bool      // the queue has lost something
	sent    bool      // the Start message was in the queue
	failed  []byte    // how often each partition has failed
}

// An entry is a message in the queue.
type entry struct {
	message int32
	again   bool // it was delivered before
	free    bool // it may be delivered
}

// An actor is a worker that is idle, with a nil node, or any program that is not over.
type actor struct {
	node  *node
	entry int  // of a worker: its message in the queue, or none if that is gone
	young bool // of a worker: its Start message was not old when it was delivered
	after bool // of a worker: the run was over when its message was delivered
}

const none = -1

// pending is an effect of a call that has no answer: of a Create, an Update, a Publish, a Bury or an Ack.
type pending struct {
	op    op
	entry int
}

// A violation is a broken promise: worlds panic with it.
type violation string

func violated(format string, args ...any) { panic(violation(fmt.Sprintf(format, args...))) }

func newWorld(t *texts) *world {
	parts := len(t.plan.Parts)
	w := &world{texts: t, left: t.faults, actors: make([]actor, t.workers), had: make([]bool, parts),
		failed: make([]byte, parts)}
	for i := range w.actors {
		w.actors[i] = idle
	}
	if t.submits {
		w.actors = append(w.actors, actor{node: t.submitting(), entry: none})
	} else {
		w.stored = true
		w.enqueue(t.begin)
	}
	if t.cancels {
		w.actors = append(w.actors, actor{node: t.cancelling(), entry: none})
	}
	if t.mends {
		w.actors = append(w.actors, actor{node: t.mending(), entry: none})
	}
	if t.scenario.alien {
		for _, message := range t.alien {
			w.enqueue(message)
		}
	}
	return w
}

func (w *world) clone() *world {
	c := *w
	c.records = slices.Clone(w.records) // histories are not changed in place
	c.queue = slices.Clone(w.queue)
	c.actors = slices.Clone(w.actors)
	c.pending = slices.Clone(w.pending)
	c.letters = slices.Clone(w.letters)
	c.had = slices.Clone(w.had)
	c.failed = slices.Clone(w.failed)
	return &c
}

// history returns the values that key had.
func (w *world) history(key int) []int32 {
	if key >= len(w.records) {
		return nil
	}
	return w.records[key]
}

// newest returns the value of key, or 0.
func (w *world) newest(key int) int {
	h := w.history(key)
	if len(h) == 0 {
		return 0
	}
	return int(h[len(h)-1])
}

// write appends a value to the history of key. It checks what may be written.
func (w *world) write(key, value int) {
	before := w.newest(key)
	for key >= len(w.records) {
		w.records = append(w.records, nil)
	}
	h := w.records[key]
	w.records[key] = append(h[:len(h):len(h)], int32(value))
	switch {
	case value == 0:
	case key == stateNumber:
		w.checkState(before, value, len(h) > 0)
	case key <= len(w.plan.Parts):
		w.checkOutput(key-1, before, value)
	}
}

func (w *world) state() (s wire.State) {
	value := w.newest(stateNumber)
	if value == 0 {
		return s
	}
	return w.stateIn(value)
}

func (w *world) stateIn(value int) wire.State {
	s, known := w.states[value]
	if !known {
		var err error
		if s, err = wire.DecodeState([]byte(w.values.text[value])); err != nil {
			violated("the state cannot be read: %v", err)
		}
		w.states[value] = s
	}
	return s
}

// checkState: I3, and G1.
func (w *world) checkState(before, value int, wasThere bool) {
	s := w.stateIn(value)
	if before == 0 {
		if s.Phase == wire.Running && wasThere {
			violated("a run whose state was removed begins again")
		}
	} else if was := w.stateIn(before); was.Phase != wire.Running {
		violated("the state changes from %s to %s", was.Phase, s.Phase)
	}
	if s.Phase == wire.Done {
		for part := range w.plan.Parts {
			if w.newest(outputOf(part)) == 0 {
				violated("the run is done, and partition %d has no output", part)
			}
		}
	}
}

// checkOutput: I1.
func (w *world) checkOutput(part, before, value int) {
	if before != 0 {
		violated("the output of partition %d changes", part)
	}
	if value != w.serial[part] {
		violated("the output of partition %d is %s instead of %s", part, w.values.text[value],
			w.values.text[w.serial[part]])
	}
}

// enqueue appends a message to the queue. It checks I2.
func (w *world) enqueue(message int) {
	if message == w.begin {
		w.sent = true
		if !w.stored {
			violated("the Start message is there before the plan")
		}
	}
	if part := slices.Index(w.raw, message); part >= 0 {
		w.had[part] = true
		for _, pred := range w.plan.Parts[part].Preds {
			if w.newest(outputOf(pred)) == 0 && !w.removed {
				violated("partition %d is published before partition %d has an output", part, pred)
			}
		}
	}
	w.queue = append(w.queue, entry{message: int32(message), free: true})
}

// acknowledge removes an entry from the queue.
func (w *world) acknowledge(at int) {
	if at == none {
		return
	}
	if message := w.queue[at].message; slices.Contains(w.alien, int(message)) {
		// What claims to be of a run that is over is dropped.
		dropped := int(message) != w.alien[0] && w.newest(stateNumber) != 0 && w.state().Final()
		if !dropped && !slices.Contains(w.letters, message) {
			violated("a message is lost: it is no dead letter")
		}
	}
	w.remove(at)
}

// remove takes an entry out of the queue.
func (w *world) remove(at int) {
	w.queue = slices.Delete(w.queue, at, at+1)
	shift := func(entry *int) {
		switch {
		case *entry == at:
			*entry = none
		case *entry > at:
			*entry--
		}
	}
	for i := range w.actors {
		shift(&w.actors[i].entry)
	}
	for i := range w.pending {
		shift(&w.pending[i].entry)
	}
}

// check: I4. As long as the run is not over, some message leads on: its own, or one that comes back and publishes it.
func (w *world) check() {
	if w.newest(stateNumber) == 0 || w.state().Phase != wire.Running || w.broken {
		return
	}
	queued := func(message int) bool {
		return slices.ContainsFunc(w.queue, func(e entry) bool { return int(e.message) == message })
	}
	over := true
	for i, part := range w.plan.Parts {
		if w.newest(outputOf(i)) != 0 {
			continue
		}
		over = false
		ready, leads := true, queued(w.raw[i])
		for _, pred := range part.Preds {
			ready = ready && w.newest(outputOf(pred)) != 0
			leads = leads || queued(w.raw[pred])
		}
		leads = leads || len(part.Preds) == 0 && queued(w.begin)
		if ready && !leads {
			violated("partition %d may run, and no message leads to it", i)
		}
	}
	if over && !slices.ContainsFunc(w.plan.Sinks(), func(i int) bool { return queued(w.raw[i]) }) {
		violated("all outputs are there, and no message leads to the end")
	}
}

// checkEnd: what holds when nothing can happen any more.
func (w *world) checkEnd() {
	if w.newest(stateNumber) == 0 {
		if w.sent && !w.old {
			violated("there is no message, and no state")
		}
		return
	}
	s := w.state()
	if !s.Final() {
		violated("there is no message, and the run is not over")
	}
	expected := s.Phase == wire.Done
	if s.Error != nil {
		switch s.Error.Reason {
		case wire.Task:
			counted := int(w.failed[s.Error.Part]) + w.faults - w.left // a failure in doubt counts twice
			expected = len(w.failing) > 0 && counted > w.plan.Parts[s.Error.Part].Retries
		case wire.Poison:
			expected = len(w.poison) > 0 || w.killing
			message := w.begin
			if s.Error.Part >= 0 {
				message = w.raw[s.Error.Part]
			}
			if !slices.Contains(w.letters, int32(message)) {
				violated("a poison message is not among the dead letters")
			}
		case wire.Lost:
			expected = w.noPlan && slices.Contains(w.letters, int32(w.begin))
		case wire.Cancel:
			expected = w.cancels
		case wire.Deadline:
			expected = w.deadline
		case wire.Gone:
			expected = w.old || w.scenario.alien // which may be delivered before the run begins
		}
	}
	if s.Phase == wire.Done && (w.failsOnly || len(w.poison) > 0) {
		expected = false
	}
	if !expected {
		violated("the run ends as %s: %+v", s.Phase, s.Error)
	}
	for _, letter := range w.letters {
		if len(w.poison) == 0 && !w.noPlan && !w.killing && !slices.Contains(w.alien, int(letter)) {
			violated("a good message is a dead letter")
		}
	}
}
