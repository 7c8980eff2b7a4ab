package executor

import (
	"context"

	"github.com/magpie-go/magpie/internal/xsync"
)

// An intake bounds the runs and futures in progress that were started from outside, see [Config.MaxRuns]. Those that
// find no room wait in a queue. The end of one hands its room to the first in the queue, under mu.
type intake struct {
	most int // constant, positive

	mu          xsync.Mutex // guards what follows
	inside      int
	first, last *seat // the queue
	waiting     int   // its length
	waited      uint64
	refused     uint64
	shut        bool
}

// A seat is a place in the queue. Its fields are guarded by intake.mu.
type seat struct {
	prev, next *seat
	called     chan struct{} // closed when the seat has got room, or when the intake is shut
	granted    bool          // it has got room
	gone       bool          // it is in the queue no longer
}

// IntakeStats says how an executor with a [Config.MaxRuns] bounds its work. All but Inside and Waiting are counts since
// the executor was made.
type IntakeStats struct {
	Limit   int    // Config.MaxRuns; 0 means that nothing is bounded, and the other fields are 0
	Inside  int    // runs and futures in progress that were started from outside
	Waiting int    // calls that wait for room
	Waited  uint64 // calls that have waited for room, or wait
	Refused uint64 // calls of TryStart and Group.TryGo that have found no room
}

func newIntake(most int) *intake {
	if most == 0 {
		return nil
	}
	return &intake{most: most}
}

// enter counts a run or future in. If there is no room, it waits until ctx ends or, if tries is set, returns ErrBusy.
// It calls methods of ctx, which may panic, only while nothing is counted.
func (in *intake) enter(ctx context.Context, job string, tries bool) error {
	over := ctx.Done()
	s, err := in.queue(tries)
	if s == nil {
		return err
	}
	Blocking(func() { xsync.Await(s.called, over) })
	if in.rise(s) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return newCancelError(job, err, context.Cause(ctx))
	}
	return ErrClosed
}

// queue counts a run or future in, or returns a seat if it must wait, or an error if it may not.
func (in *intake) queue(tries bool) (*seat, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.shut:
		return nil, ErrClosed
	case in.inside < in.most && in.waiting == 0:
		in.inside++
		return nil, nil
	case tries:
		in.refused++
		return nil, ErrBusy
	}
	s := &seat{called: make(chan struct{}), prev: in.last}
	if s.prev != nil {
		s.prev.next = s
	} else {
		in.first = s
	}
	in.last = s
	in.waiting++
	in.waited++
	return s, nil
}

// rise ends the wait of s, and reports whether s has got room.
func (in *intake) rise(s *seat) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !s.gone {
		in.remove(s)
	}
	return s.granted
}

// remove takes s out of the queue. Otherwise callers that give up would stay there until a run ends.
func (in *intake) remove(s *seat) {
	s.gone = true
	in.waiting--
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		in.first = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	} else {
		in.last = s.prev
	}
	s.prev, s.next = nil, nil
}

// call takes the first of the queue out of it, and ends its wait.
func (in *intake) call(granted bool) {
	s := in.first
	in.remove(s)
	s.granted = granted
	xsync.Close(s.called)
}

// leave counts a run or future out.
func (in *intake) leave() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.first != nil {
		in.call(true) // the first of the queue has the room
		return
	}
	in.inside--
}

// close refuses everything that waits, and everything that comes.
func (in *intake) close() {
	if in == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.shut = true
	for in.first != nil {
		in.call(false)
	}
}

func (in *intake) stats() IntakeStats {
	if in == nil {
		return IntakeStats{}
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return IntakeStats{in.most, in.inside, in.waiting, in.waited, in.refused}
}

// TryStart is [Executor.Start] for a caller that does not wait for room: if [Config.MaxRuns] leaves none, it returns
// [ErrBusy] at once. It also returns the error if the run cannot start for another reason. The Run is nil then. Called
// from a task, or without a MaxRuns, it always finds room.
func (ex *Executor) TryStart(ctx context.Context, j Job) (*Run, error) {
	w := ex.currentWorker()
	r := ex.launchOr(ctx, j, w, w.run(), true)
	if r.refused {
		return nil, r.err.Get()
	}
	return r, nil
}
