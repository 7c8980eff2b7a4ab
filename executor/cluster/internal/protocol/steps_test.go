package protocol

import (
	"fmt"
	"slices"
)

// A step is one that a world may take.
type step struct {
	kind  stepKind
	fault fault // 0: it is none
	actor int
	at    int // the entry of the queue, the pending effect, or the key that a read finds old
	n     int // the revision that it finds, or the posts that are appended
}

type stepKind int

const (
	stepDeliver stepKind = iota // an idle worker gets an entry
	stepCall                    // an actor's call happens, as it should
	stepRunFails
	stepRunEnds
	stepRunLate
	stepRunLacks
	stepDies    // the worker dies of the partition
	stepStale   // a read finds an old revision
	stepNoPlan  // or no plan
	stepNever   // a call has no answer, and no effect
	stepSilent  // it has no answer, and its effect
	stepLater   // it has no answer, and its effect comes later
	stepOwn     // a write was tried twice: its answer is that the record has changed, by itself
	stepPending // such an effect comes
	stepAckLost
	stepDrops // a Publish appends no message that was there before
	stepCrash
	stepLoses  // the queue loses an entry, or with n = 1 the record of a key
	stepMend   // someone looks whether the run stands still, and calls Resume
	stepExpire // the lease of an entry ends
	stepDouble // an entry is there twice
	stepAges   // the Start message becomes old
	stepSweep  // the records but the state are removed
	stepForget // the state is removed
	stepKinds
)

func (k stepKind) String() string {
	return [...]string{"deliver", "call", "run fails", "run is ended", "run is late", "run lacks", "dies", "stale read",
		"no plan", "never", "silent", "later", "own", "pending effect", "ack lost", "drops", "crash", "loses",
		"mend", "lease ends", "double", "ages", "sweep", "forget"}[k]
}

func (s step) String() string {
	return fmt.Sprintf("%v actor %d at %d n %d", s.kind, s.actor, s.at, s.n)
}

// steps appends the steps that w may take.
func (w *world) steps(to []step) []step {
	may := func(f fault) bool { return w.left > 0 && w.kinds&f != 0 }
	for i, a := range w.actors {
		if a.node != nil && a.node.op.kind == opRun && w.runsAlone() {
			return append(to, step{kind: stepCall, actor: i})
		}
	}
	served := false
	for i, a := range w.actors {
		if a.node != nil {
			to = w.calls(to, i)
			continue
		}
		if i >= w.workers || served {
			continue // it is over; or another worker is idle as well, and stands for this one
		}
		served = true
		for at, e := range w.queue {
			if e.free && !slices.Contains(w.queue[:at], e) {
				to = append(to, step{kind: stepDeliver, actor: i, at: at})
			}
		}
	}
	for at := range w.pending {
		to = append(to, step{kind: stepPending, at: at})
	}
	if len(to) == 0 && w.broken && !w.state().Final() {
		to = append(to, step{kind: stepMend})
	}
	if may(amnesia) && w.newest(stateNumber) != 0 && !w.state().Final() {
		for at := range w.queue {
			to = append(to, step{kind: stepLoses, fault: amnesia, at: at})
		}
		for key := 1 + len(w.plan.Parts); key < len(w.records); key++ {
			if w.newest(key) != 0 {
				to = append(to, step{kind: stepLoses, fault: amnesia, at: key, n: 1})
			}
		}
	}
	for at, e := range w.queue {
		if !e.free && may(slow) {
			to = append(to, step{kind: stepExpire, fault: slow, at: at})
		}
		same := func(o entry) bool { return o.message == e.message }
		if may(double) && !slices.ContainsFunc(w.queue[:at], same) {
			to = append(to, step{kind: stepDouble, fault: double, at: at})
		}
	}
	if w.ages && !w.old && w.sent {
		to = append(to, step{kind: stepAges})
	}
	if w.removes && w.newest(stateNumber) != 0 && w.state().Final() {
		switch {
		case !w.removed:
			to = append(to, step{kind: stepSweep})
		case w.old && !w.forgot && !w.beginsLate():
			to = append(to, step{kind: stepForget})
		}
	}
	return to
}

// beginsLate reports whether an actor or an effect is underway that may begin the run, although the Start message has
// become old meanwhile. No step takes as long as a state is kept after that (T2).
func (w *world) beginsLate() bool {
	return len(w.pending) > 0 || slices.ContainsFunc(w.actors, func(a actor) bool { return a.young })
}

// runsAlone reports whether partitions only run. A call of Run has no effect then and sees nothing but its arguments,
// so it may come before all steps of others, and a crash before it is one after it.
func (w *world) runsAlone() bool {
	return !w.cancels && !w.removes && !w.deadline && w.kinds&lack == 0 && len(w.failing) == 0 && len(w.poison) == 0
}

// calls appends what may become of the next call of an actor.
func (w *world) calls(to []step, actor int) []step {
	may := func(f fault) bool { return w.left > 0 && w.kinds&f != 0 }
	o := &w.actors[actor].node.op
	switch {
	case o.kind == opPlan && w.noPlan:
		return append(to, step{kind: stepNoPlan, actor: actor})
	case o.kind == opPlan && w.killing:
		return append(to, step{kind: stepDies, actor: actor})
	case o.kind != opRun:
		to = append(to, step{kind: stepCall, actor: actor})
	case w.poison[o.part]:
		to = append(to, step{kind: stepDies, actor: actor})
	default:
		if !w.failing[o.part] || !w.failsOnly {
			to = append(to, step{kind: stepCall, actor: actor})
		}
		if w.failing[o.part] {
			to = append(to, step{kind: stepRunFails, actor: actor})
		}
		if !w.runsAlone() && (w.newest(stateNumber) == 0 || w.state().Final()) {
			to = append(to, step{kind: stepRunEnds, actor: actor})
		}
		if w.deadline && w.old {
			to = append(to, step{kind: stepRunLate, actor: actor})
		}
		if may(lack) {
			to = append(to, step{kind: stepRunLacks, fault: lack, actor: actor})
		}
	}
	switch o.kind {
	case opGet:
		if may(stale) {
			for _, key := range o.keys {
				for revision := range len(w.history(key)) {
					to = append(to, step{kind: stepStale, fault: stale, actor: actor, at: key, n: revision})
				}
			}
		}
	case opPlan:
		if may(stale) {
			to = append(to, step{kind: stepNoPlan, fault: stale, actor: actor})
		}
	case opAck:
		if may(lost) {
			to = append(to, step{kind: stepAckLost, fault: lost, actor: actor})
		}
	case opCreate, opUpdate, opPublish, opBury:
		if may(doubt) {
			to = append(to, step{kind: stepNever, fault: doubt, actor: actor},
				step{kind: stepLater, fault: doubt, actor: actor})
			for posts := 1; posts < 1<<max(1, min(len(o.posts), 3)); posts++ {
				to = append(to, step{kind: stepSilent, fault: doubt, actor: actor, n: posts})
			}
		}
	}
	if (o.kind == opCreate || o.kind == opUpdate) && may(doubt) {
		to = append(to, step{kind: stepOwn, fault: doubt, actor: actor})
	}
	if o.kind == opPublish && may(window) && slices.ContainsFunc(o.posts, w.dropped) {
		to = append(to, step{kind: stepDrops, fault: window, actor: actor})
	}
	if may(crash) {
		to = append(to, step{kind: stepCrash, fault: crash, actor: actor})
	}
	return to
}

// dropped reports whether a window of duplicates may drop a message.
func (w *world) dropped(message int) bool {
	part := slices.Index(w.raw, message)
	return part >= 0 && w.had[part]
}

// take takes a step.
func (w *world) take(s step) {
	if s.fault != 0 {
		w.left--
	}
	var o *op
	if a := &w.actors[s.actor]; a.node != nil {
		o = &a.node.op
	}
	switch s.kind {
	case stepDeliver:
		e := &w.queue[s.at]
		young := int(e.message) == w.begin && !w.old
		over := w.newest(stateNumber) != 0 && w.state().Final()
		w.actors[s.actor] = actor{w.handling(int(e.message), e.again), s.at, young, over}
		e.again, e.free = true, false
		w.settle(s.actor)
	case stepCall:
		w.goOn(s.actor, w.call(s.actor))
	case stepRunFails:
		w.failed[o.part]++
		w.goOn(s.actor, result{verdict: fails})
	case stepRunEnds:
		w.goOn(s.actor, result{verdict: ended})
	case stepRunLate:
		w.goOn(s.actor, result{verdict: tooLate})
	case stepRunLacks:
		w.goOn(s.actor, result{verdict: lacksIt})
	case stepDies, stepCrash:
		w.leave(s.actor)
	case stepStale:
		r := w.get(o.keys)
		old := found{}
		if s.n > 0 && w.history(s.at)[s.n-1] != 0 {
			old = found{int(w.history(s.at)[s.n-1]), uint64(s.n)}
		}
		r.records[slices.Index(o.keys, s.at)] = old
		w.goOn(s.actor, r)
	case stepNoPlan:
		w.goOn(s.actor, result{verdict: notFound})
	case stepNever:
		w.goOn(s.actor, result{verdict: inDoubt})
	case stepSilent:
		w.effect(o, w.actors[s.actor].entry, s.n)
		w.goOn(s.actor, result{verdict: inDoubt})
	case stepLater:
		w.pending = append(w.pending, pending{*o, w.actors[s.actor].entry})
		w.goOn(s.actor, result{verdict: inDoubt})
	case stepOwn:
		w.effect(o, none, -1)
		w.goOn(s.actor, result{verdict: refused})
	case stepPending:
		p := w.pending[s.at]
		w.pending = slices.Delete(w.pending, s.at, s.at+1)
		w.effect(&p.op, p.entry, -1)
	case stepAckLost:
		w.goOn(s.actor, result{})
	case stepLoses:
		w.broken = true
		if s.n == 1 {
			w.write(s.at, 0)
		} else {
			w.remove(s.at)
		}
	case stepMend:
		w.actors = append(w.actors[:w.workers:w.workers], actor{node: w.mending(), entry: none})
	case stepDrops:
		posts := 0
		for i, message := range o.posts {
			posts |= int(bit(!w.dropped(message))) << i
		}
		w.goOn(s.actor, w.effect(o, none, posts))
	case stepExpire:
		w.queue[s.at].free = true
	case stepDouble:
		w.queue = append(w.queue, entry{message: w.queue[s.at].message, free: true})
	case stepAges:
		w.old = true
	case stepSweep:
		w.removed = true
		for key := 1; key < len(w.records); key++ {
			if w.newest(key) != 0 {
				w.write(key, 0)
			}
		}
	case stepForget:
		w.forgot = true
		w.write(stateNumber, 0)
	}
	w.check()
}

// call is the next call of an actor, as it should be.
func (w *world) call(actor int) result {
	o := &w.actors[actor].node.op
	switch o.kind {
	case opGet:
		return w.get(o.keys)
	case opRun:
		if o.wrong != "" && !w.removed {
			violated("%s", o.wrong)
		}
		if w.actors[actor].after && w.left == w.faults {
			violated("partition %d runs, and the run was over when its message was delivered", o.part)
		}
		return result{}
	case opPut:
		w.stored = true
		return result{}
	case opAge:
		if w.old {
			return result{verdict: tooLate}
		}
		return result{}
	case opEmpty:
		if len(w.queue) > 0 {
			return result{verdict: refused}
		}
		return result{}
	case opPublish:
		if w.actors[actor].node.run.name == mender && !w.broken && w.kinds&stale == 0 { // L1
			violated("a run is led on that does not stand still")
		}
	}
	if o.wrong != "" {
		violated("%s", o.wrong)
	}
	return w.effect(o, w.actors[actor].entry, -1)
}

// get reads the newest revisions.
func (w *world) get(keys []int) result {
	r := result{records: make([]found, len(keys))}
	for i, key := range keys {
		if value := w.newest(key); value != 0 {
			r.records[i] = found{value, uint64(len(w.history(key)))}
		}
	}
	return r
}

// effect is what a call does to the records and the queue. posts says which messages of a Publish are appended.
func (w *world) effect(o *op, at int, posts int) result {
	switch o.kind {
	case opCreate:
		if w.newest(o.keys[0]) != 0 {
			return result{verdict: refused}
		}
		w.write(o.keys[0], o.value)
	case opUpdate:
		if w.newest(o.keys[0]) == 0 || uint64(len(w.history(o.keys[0]))) != o.revision {
			return result{verdict: refused}
		}
		w.write(o.keys[0], o.value)
	case opPublish:
		for i, message := range o.posts {
			if posts&(1<<i) != 0 {
				w.enqueue(message)
			}
		}
	case opBury:
		if !slices.Contains(w.letters, int32(o.value)) {
			w.letters = append(w.letters, int32(o.value))
		}
	case opAck:
		w.acknowledge(at)
	}
	return result{}
}

// goOn gives an actor the result of its call.
func (w *world) goOn(actor int, r result) {
	a := &w.actors[actor]
	a.node = a.node.next(w.texts, r)
	w.settle(actor)
}

// settle lets an actor go whose program has returned.
func (w *world) settle(actor int) {
	n := w.actors[actor].node
	if n.op.kind != opReturns {
		return
	}
	if n.run.name == "canceller" && n.op.err == nil && n.op.state.Phase != w.state().Phase {
		violated("Cancel returns %s, and the state is %s", n.op.state.Phase, w.state().Phase)
	}
	w.leave(actor)
}

// leave ends the program of an actor. What it holds is delivered again.
func (w *world) leave(actor int) {
	at := w.actors[actor].entry
	if live := w.actors[actor].node.live; live != nil {
		live.stop()
	}
	w.actors[actor] = idle
	if at == none {
		return
	}
	for _, a := range w.actors {
		if a.entry == at {
			return
		}
	}
	w.queue[at].free = true
}

// idle is a worker without a message, or a program that is over.
var idle = actor{entry: none}
