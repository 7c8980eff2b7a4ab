package executor

import (
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// Await waits until over, which it calls itself, reports true, or the run has ended. The job calls [JobRun.Alert] when
// over may have become true. Meanwhile Await does as [Run.Wait] does, on a worker and outside. Any goroutine but that
// of a task of the run, also after the end.
func (r *JobRun) Await(over func() bool) {
	u := &until{&r.Run, over}
	if u.isOver() {
		return
	}
	w := r.core.currentWorker()
	if w == nil {
		r.core.block(u)
		return
	}
	before := w.labels.set
	w.helpUntil(u, &r.Run, before)
	w.labels.set = before // as in Run.wait
}

// Alert has those that wait in [JobRun.Await] ask again. It costs two loads if there are none. Any thread.
func (r *JobRun) Alert() {
	// D1(alert): change what over reports, then look for waiters. Pairs with D1(await), and with D1(alarm).
	if r.awaited.Load() > 0 {
		r.core.wakeHelpersOf(&r.Run)
	}
	r.alarm.ring()
}

// An until is a run of which a state is awaited.
type until struct {
	*Run
	over func() bool
}

func (u *until) isOver() bool { return u.over() || u.Run.isOver() }

// await implements ending.
func (u *until) await() {
	for {
		alarm := u.alarm.set()
		// D1(alarm): set the alarm, then ask. Pairs with D1(alert).
		if u.isOver() {
			return
		}
		xsync.Await(alarm, u.Done())
	}
}

// An alarm is a channel that the next Alert closes, for callers that are on no worker of the executor.
type alarm struct {
	c xatomic.Pointer[chan struct{}]
}

// set returns the channel.
func (a *alarm) set() <-chan struct{} {
	for {
		if c := a.c.Load(); c != nil {
			return *c
		}
		c := make(chan struct{})
		a.c.CompareAndSwap(nil, &c)
	}
}

// ring closes the channel, if there is one.
func (a *alarm) ring() {
	if a.c.Load() == nil {
		return
	}
	if c := a.c.Swap(nil); c != nil {
		xsync.Close(*c)
	}
}
