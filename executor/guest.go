package executor

import (
	"context"
	"iter"
	"runtime/pprof"
	"slices"

	"github.com/magpie-go/magpie/executor/internal/policy"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A goroutine that waits in Run, or in a Wait, takes the place of a worker that sleeps: it borrows the worker from the
// notifier, and is the worker's guest. It runs items of the run that it waits for, or the future, and inside its
// tasks' waits what these wait for. The worker's thread sleeps on. So a run of a few short tasks wakes no thread, and
// there are never more tasks at a time than workers.
//
// What belongs to a worker, its lane above all, is the guest's as long as it has the place: the notifier's Borrow and
// Return publish it, as Commit and Notify do for the worker's own thread. The worker's policy knows of no
// guest, only of wake-ups that one has taken back. So only policies that rely on nothing but Thieves and Shown admit
// guests, see policy.Row.
//
// A guest uses a P of the rest of the process, as any goroutine. With BriefCallers it stays for a short time only, see
// callerSpan.

// guests says whether callers may be guests.
type guests struct {
	host    policy.Hosting
	stays   bool          // BusyCallers: guests do not leave before they find nothing to do; constant
	barred  xatomic.Int64 // no guest is received before this time, of nanotime
	late    xatomic.Int32 // guests in a row that have stayed too long, up to maxRest
	quiets  quiets
	returns returns
}

// newGuests returns nil if callers do not take part.
func newGuests(cfg *settings, inline *inline, p policy.Policy) *guests {
	if inline != nil || cfg.Callers == IdleCallers {
		return nil
	}
	return &guests{
		host:   p.(policy.Hosting),
		stays:  cfg.Callers == BusyCallers,
		quiets: quiets{seen: make([]uint32, cfg.Workers)}, // only configured workers have guests
	}
}

// guestOf returns the guest of worker w.
func guestOf(w *Worker) *guest { return &partsOf(w).guest }

// A guest is the state of a worker's guest, and what the guest has taken over from the worker's own thread and gives
// back when it leaves. Owner only, plain.
type guest struct {
	w   *Worker // constant
	run *Run    // that the guest works for, or that of all futures; nil if the worker has no guest
	trial
	quiet  bool   // it wakes nobody for what it pushes
	hushed bool   // its lane was hushed, and may not be any more
	begun  uint64 // the number of tasks when it came: counts.items without counts.overhead
	look   uint64 // counts.items when it looks at the clock next
	leaves bool   // it runs no further item
	wakes  uint64 // 1 more than how often the thread had been woken when the last guest left; 0 before the first

	burst burst // of which the guest runs a piece that was withheld; nil once that is told of, or if there is none

	caller context.Context // holds the labels that the goroutine is taken to have

	// Of the worker on its own thread.
	labels labels
	inner  innerLoop
}

// A burst is work that is withheld beside a piece that a guest runs, see site.
type burst interface {
	show() // makes it available
}

// A guestThread is the thread of a worker's latest guests. Owner only, plain.
type guestThread struct {
	self   int64
	id     uint64
	guests uint
}

// idOf returns the system's ID of the calling thread, a guest's. Guests often come on one thread, and the system call
// takes a third of the time of a short run. A thread may have got the self of one that has ended, and then has another
// ID: so the system is asked now and then all the same. Until then the watch of package stalls finds no clock for it.
func (t *guestThread) idOf(self int64) uint64 {
	if t.guests++; self != t.self || t.guests%64 == 0 {
		t.self, t.id = self, uint64(osthread.ID())
	}
	return t.id
}

// runQuietly is runAsGuest for a guest that is quiet, and one item, of a burst.
func (ex *executor) runQuietly(r *Run, it *Item, of burst) bool {
	seat := ex.seat()
	if seat == nil {
		return false
	}
	seat.burst = of
	ex.guests.letOthersRun(seat.takePart(r, it, nil, true))
	return true
}

// seat returns a guest that the caller may be, whose worker it has borrowed, or nil.
func (ex *executor) seat() *guest {
	if g := ex.guests; g != nil && g.mayCome() {
		if id := ex.borrow(); id >= 0 {
			return guestOf(ex.roster[id])
		}
	}
	return nil
}

// borrowTries bounds the workers among which borrow chooses. Arbitrary.
const borrowTries = 4

// borrow borrows a worker that sleeps, and returns its index, or -1 if there is none. It prefers one that is cold, and
// otherwise takes the last of those that it has tried. The threads that went to sleep last stay available for what the
// guest will push: such a thread may still have its P, and its core is awake. Without the choice two workers take
// turns, one loop after the other: the guest has the place of the thread that has helped last. Loops of 1 ms into new
// images then took 1.4 to 1.6 times as long as on goroutines, and with it 1.2 to 1.3 (KeepGOMAXPROCS; Xeon,
// 2026-11-30).
func (ex *executor) borrow() int {
	id := ex.notifier.Borrow(ex.cfg.Workers)
	var warm [borrowTries - 1]int
	n := 0
	for id >= 0 && n < len(warm) && !guestOf(ex.roster[id]).isCold() {
		next := ex.notifier.Borrow(ex.cfg.Workers)
		if next < 0 {
			break
		}
		warm[n] = id
		n++
		id = next
	}
	for _, w := range slices.Backward(warm[:n]) { // the last to sleep remains the first to be woken
		ex.notifier.Return(w)
		ex.makeUp() // for each: with some policies a thief wakes no other
	}
	return id
}

// isCold reports whether the worker's thread has not been awake since the last guest left. The worker is borrowed. What
// goes by it is only quicker or slower.
func (g *guest) isCold() bool { return g.wakes == g.w.seen.wakeups.Load()+1 }

// takePart runs the first items of r, and what follows from them, until there are none for this worker or the guest
// has been here long enough. If a task calls Goexit, the deferred calls hand over what is left, and the caller ends.
func (g *guest) takePart(r *Run, first *Item, others iter.Seq[*Item], quietly bool) (t trial) {
	w := g.w
	returned := false
	defer executorOf(w.core).afterGuest(r, &returned)
	g.sitDown(r, r.ctx.labels)
	defer g.getUp()
	defer func() {
		if !returned { // another thread ends the run
			r.keepUnlessEnded(true)
		}
	}()
	g.quietly, g.quiet = quietly, quietly
	g.joinCrowd()
	if others != nil {
		// A Push is for the body that the worker is in. Nobody else has a slot of the run yet.
		first = w.enterAdmitted(first)
		for it := range others {
			w.Push(it)
		}
	}
	for it := first; it != nil; it = g.nextFor(r) {
		w.exploit(it)
		if g.leaves {
			break
		}
		g.hurry()
	}
	r.keepUnlessEnded(g.leaves)
	returned = true
	return g.stayed()
}

// stayed notes how long the guest, which is about to leave, has stayed, and returns its trial.
func (g *guest) stayed() trial {
	g.stay = executorOf(g.w.core).guests.taken(g.trial)
	return g.trial
}

// keepUnlessEnded is keep unless the calling guest has ended r by endLone: that is done by a thread which alone has run
// items of r. Otherwise another thread may be about to end r, or have met an item of it. left says that the guest has
// given items of r away.
func (r *Run) keepUnlessEnded(left bool) {
	if left || !r.over.Load() {
		r.keep()
	}
}

// afterGuest is called when the guest that waits for e has left. If *returned is false, a task has called Goexit, and
// the caller's deferred calls come after the end of e too.
func (ex *executor) afterGuest(e ending, returned *bool) {
	if *returned {
		return
	}
	if v := recover(); v != nil {
		panic(v) // of this package or of a layer: a task's panic is a failure of the run
	}
	ex.block(e)
}

// sitDown makes the caller the guest of w, which it has borrowed, for items of r or for a future. ctx has the labels
// that the caller is taken to have, for observers that set others. getUp must follow. The worker, which sleeps, has no
// body and no waits: unlike enterNested, sitDown has nothing to save.
func (g *guest) sitDown(r *Run, ctx context.Context) {
	osthread.LockBriefly()
	g.seat(r, ctx)
	g.w.waits = waits{run: r, mark: noMark, helps: 1}
}

// getUp ends what sitDown has begun, also after Goexit.
func (g *guest) getUp() {
	w := g.w
	defer osthread.UnlockBriefly()
	defer g.unseat()
	w.waits = waits{}
	if w.body != nil { // after runOne, or a panic
		w.switchTo(nil, nil)
	}
}

// nextFor looks for an item of r for the guest that works for it, about as long as a thread needs to be woken.
func (g *guest) nextFor(r *Run) *Item {
	w := g.w
	if !r.over.Load() && executorOf(w.core).isNext(r) {
		if it := g.submittedFor(r, nil); it != nil {
			return it
		}
	}
	for range policy.Looks {
		if r.over.Load() {
			break
		}
		if it := w.stealFor(r); it != nil {
			return it
		}
	}
	return nil
}

// submittedFor takes the oldest item of r's priority from the injector, for the guest of w, if it is one of r or, if
// only is not nil, that item. One that is not goes to the end of the queue: the caller has asked isNext.
func (g *guest) submittedFor(r *Run, only *Item) *Item {
	w := g.w
	it := w.search.nextSubmitted(r.priority)
	if it == nil || it == only || only == nil && it.Body.owner() == r {
		return it
	}
	w.core.inject(it)
	return nil
}

// isNext reports whether the item that was submitted first is probably one of r: there is no other, or r is the only
// run in progress, and no future is.
func (ex *executor) isNext(r *Run) bool {
	if ex.injector.of(r.priority).IsEmpty() {
		return false
	}
	if ex.injector.len() == 1 {
		return true
	}
	ex.mu.Lock()
	defer ex.mu.Unlock()
	return ex.isOnly(r)
}

// seat makes the calling goroutine, which is locked to its thread, the guest of worker w, which it has borrowed.
func (g *guest) seat(r *Run, caller context.Context) {
	w := g.w
	g.run, g.caller, g.leaves = r, caller, false
	g.begin(w)
	executorOf(w.core).guests.returns.came(g.since)
	g.labels, g.inner = w.labels, w.inner
	w.labels = labels{} // none are set: the goroutine keeps those of the caller
	w.inner = innerLoop{run: runGuest}
	self := osthread.Self()
	w.thread.lend(self, partsOf(w).guestThread.idOf(self))
	w.core.attached.woken.make(w)
	w.setState(WorkerRunning)
}

// unseat gives the worker back to its thread, which sleeps. The worker has no items then (I10).
func (g *guest) unseat() {
	w := g.w
	ex := executorOf(w.core)
	for it := w.popOwn(); it != nil; it = w.popOwn() { // after a Goexit, or of runs nested in the one that is over
		w.inject(it)
	}
	w.lane.NoteEmpty()
	g.endHush()
	left := ex.guests.note(g.trial)
	w.publishCounts()
	w.setState(WorkerParked)
	w.core.attached.parked.make(w)
	if len(w.core.attached.labelled) > 0 {
		pprof.SetGoroutineLabels(labelled(g.caller)) // the observer has set others
	}
	w.thread.takeBack()
	w.labels, w.inner = g.labels, g.inner
	*g = guest{w: w, wakes: w.seen.wakeups.Load() + 1} // it would keep the run alive, and with it the executor
	ex.notifier.Return(w.id)
	ex.missed(left) // no longer by g, which may be the next guest's
}

// missed makes up for wake-ups that a worker has missed while it was borrowed, and has been returned since. Those for
// items in lanes may be put off, see putsOff.
func (ex *executor) missed(now int64) {
	if ex.guests.returns.word.Load() == 0 || ex.stop.Load() || !ex.putsOff(now) {
		ex.makeUp()
	}
}

// makeUp makes up for wake-ups that a worker has missed: it wakes one if there is no thief and an item that any could
// take, and all if they are to stop.
//
// D1(return): return the worker, then look for work and the stop. Pairs with D1(push), D1(inject) and D1(stop).
func (ex *executor) makeUp() {
	if ex.stop.Load() {
		ex.notifier.NotifyAll()
	}
	if ex.policy.Thieves().Load() == 0 && ex.anyItem() {
		ex.policy.Shown()
	}
}

func labelled(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// runGuest runs items until the guest has no more, is to leave, or one fails to return. It answers thieves before each
// item, if the lane's thieves ask. Stacks finds the guest's goroutine by the name of runGuest and its argument w: to
// ask for its number would take each guest a microsecond.
func runGuest(w *Worker, it *Item) {
	returned := false
	defer w.endLoop(w.inner.current, &returned)
	w.inner.current = it
	polled := w.lane.IsPolled()
	for it != nil {
		if it.Body != w.body {
			if guestOf(w).isFree() && it.Body.owner() != guestOf(w).run {
				w.inject(it) // its run was started by a task of the guest's and may go on after that
				it = w.pop()
				continue
			}
			if it = w.enterAdmitted(it); it == nil {
				break
			}
		}
		if polled && w.lane.Demand() {
			w.tell(w.lane.Poll())
		}
		if w.counts.items++; w.counts.items >= guestOf(w).look || w.counts.items%pollInterval == 0 {
			if it = guestOf(w).checkpointOfGuest(it); it == nil {
				break
			}
		}
		w.inner.current = it
		if it = it.Exec(w, it); it == nil {
			it = w.pop()
		}
	}
	returned = true
}

// noLook is the look of a guest that needs no clock any more.
const noLook = 1<<64 - 1

// stayOn is called when the guest has been here for callerSpan. It reports whether the guest stays all the same. Then
// the guest is no longer quiet, unless there still is a crowd: the run is not one of those that are over sooner
// than a thread is awake.
func (g *guest) stayOn() bool {
	ex := executorOf(g.w.core)
	if !ex.guests.stays {
		return false
	}
	if g.quiet && g.crowded {
		if crowd, _ := ex.isCrowd(ex.guests.now()); crowd {
			g.look = g.w.counts.items + crowdPolls*pollInterval
			return true
		}
	}
	g.continues()
	g.look = noLook
	g.speak()
	return true
}

// continues lets items go on to the next one by themselves, as on the worker's own thread, see Continue. Before, each
// comes back to the loop, where the guest may have to look at the clock.
func (g *guest) continues() {
	own, now := g.inner, &g.w.inner
	own.run, own.current = now.run, now.current
	*now = own
}

// isFree reports whether no task waits on the guest's stack: a wait adds to helps, or has a mark.
func (g *guest) isFree() bool { return g.w.waits.helps == 1 && g.w.waits.mark == noMark }

// checkpointOfGuest is called before some of the items that a guest is to run, see guest.look and pollInterval. It
// returns the item to go on with, or nil if the guest is to leave. The guest then has handed everything over. It leaves
// when there is a submitted item, or when it has been here long enough, see stayOn. While a task waits on its stack, it
// stays.
func (g *guest) checkpointOfGuest(it *Item) *Item {
	w := g.w
	polls := w.counts.items%pollInterval == 0
	if !g.isFree() {
		if polls {
			return w.checkpoint(it)
		}
		return it
	}
	if g.leaves || g.lookAtClock(w) && !g.stayOn() || polls && !w.core.injector.isEmpty() {
		g.leaves = true
		g.look = 0 // should there be another item, it is handed over too
		w.spare.handOver(it)
		return nil
	}
	if polls {
		w.publishAtCheckpoint()
	}
	return it
}
