package executor

import (
	"container/list"
	"context"

	"github.com/magpie-go/magpie/internal/xsync"
)

// An intake bounds the runs and futures in progress that were started from outside, see [Config.MaxRuns]. Those that
// find no room wait in a queue. The end of one hands its room to the first in the queue, under mu.
type intake struct {
	most int // constant, positive

	mu      xsync.Mutex // guards what follows
	inside  int
	seats   list.List // the queue, of *seat
	waited  uint64
	refused uint64
	shut    bool
}

// A seat is a place in the queue. Its fields are guarded by intake.mu.
type seat struct {
	place   *list.Element // in the queue, until it is gone from there
	called  chan struct{} // closed when the seat has got room, or when the intake is shut
	granted bool          // it has got room
}

func newIntake(most int) *intake {
	if most == 0 {
		return nil
	}
	return &intake{most: most}
}

// attachTo has the kernel ask the intake.
func (in *intake) attachTo(on *attachments) {
	if in != nil {
		on.gate = in
		on.refused = append(on.refused, in.close)
	}
}

// enter counts a run or future in. If there is no room, it waits until ctx ends or, if tries is set, returns ErrBusy.
// It calls methods of ctx, which may panic, only while nothing is counted. A function of OnEnd on a worker of another
// executor must not wait: what it starts is not counted, as on a worker of this one.
func (in *intake) enter(ctx context.Context, job string, tries bool) (counted bool, err error) {
	if isInOnEnd(workerHere()) {
		return false, nil
	}
	over := ctx.Done()
	s, err := in.queue(tries)
	if s == nil {
		return err == nil, err
	}
	Blocking(func() { xsync.Await(s.called, over) })
	if in.rise(s) {
		return true, nil
	}
	if err := ctx.Err(); err != nil {
		return false, newCancelError(job, err, context.Cause(ctx))
	}
	return false, ErrClosed
}

// queue counts a run or future in, or returns a seat if it must wait, or an error if it may not.
func (in *intake) queue(tries bool) (*seat, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.shut:
		return nil, ErrClosed
	case in.inside < in.most: // so none waits (I16)
		in.inside++
		return nil, nil
	case tries:
		in.refused++
		return nil, ErrBusy
	}
	s := &seat{called: make(chan struct{})}
	s.place = in.seats.PushBack(s)
	in.waited++
	return s, nil
}

// hasQueue reports whether callers wait for room.
func (in *intake) hasQueue() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.seats.Len() > 0
}

// rise ends the wait of s, and reports whether s has got room.
func (in *intake) rise(s *seat) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.seats.Remove(s.place) // unless it is gone. Otherwise callers that give up would stay until a run ends
	return s.granted
}

// call takes the first of the queue out of it, and ends its wait.
func (in *intake) call(granted bool) {
	s := in.seats.Remove(in.seats.Front()).(*seat)
	s.granted = granted
	xsync.Close(s.called)
}

// leave counts a run or future out.
func (in *intake) leave() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.seats.Len() > 0 {
		in.call(true) // the first of the queue has the room
		return
	}
	in.inside--
}

// close refuses everything that waits, and everything that comes.
func (in *intake) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.shut = true
	for in.seats.Len() > 0 {
		in.call(false)
	}
}

// stats fills in what s has of the intake.
func (in *intake) stats(s *Stats) {
	if in == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	s.Gauges.MaxRuns, s.Gauges.Inside, s.Gauges.Entering = in.most, in.inside, in.seats.Len()
	s.RunsWaited, s.RunsRefused = in.waited, in.refused
}

// TryStart is [Executor.Start] for a caller that does not wait for room: it returns [ErrBusy] at once if
// [Config.MaxRuns] leaves none. If the run cannot start for another reason it returns that error. The Run is nil then.
// Called from a task, or without a MaxRuns, it always finds room.
func (ex *Executor) TryStart(ctx context.Context, j Job) (*Run, error) {
	ex.mustBeMade()
	w := ex.currentWorker()
	r := ex.launch(ctx, ex, j, w, w.run(), true)
	if r.refused {
		return nil, r.err.Get()
	}
	return r, nil
}
