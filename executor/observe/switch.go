package observe

import (
	"weak"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A Switch lets an observer be put in and taken out while the executor runs. A program installs the observer of a
// Switch once, in its Config, and takes a trace when somebody asks for one. While nothing is put in, an event costs a
// load and a call.
//
// All methods may be called from any goroutine.
type Switch struct {
	now xatomic.Pointer[executor.Observer]

	mu xsync.Mutex                     // held during Set, Attach and Detach
	ex weak.Pointer[executor.Executor] // between the two; weak, so that the executor can be abandoned
	on bool                            // between the two
}

// NewSwitch returns a Switch with nothing put in.
func NewSwitch() *Switch { return &Switch{} }

// Set puts in an observer in place of the one before. nil puts in none. The observer's Attach is called if the executor
// has been started, and the Detach of the one before, on the calling goroutine. Calls of other functions of the one
// before may still be in progress then. The new one is not told the begin of runs and tasks in progress, but it is told
// their end: the observers of this package leave these tasks out. An observer that was taken out must not be put in
// again.
func (s *Switch) Set(o *executor.Observer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(o)
}

// swap puts in o in place of old, and reports whether old was put in.
func (s *Switch) swap(old, o *executor.Observer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.Load() != old {
		return false
	}
	s.put(o)
	return true
}

// put is Set. The caller has locked mu.
func (s *Switch) put(o *executor.Observer) {
	if ex := s.ex.Value(); ex != nil && o != nil && o.Attach != nil {
		o.Attach(ex)
	}
	old := s.now.Swap(o)
	if s.on && old != nil && old.Detach != nil {
		old.Detach()
	}
}

// Observer returns the observer for the Config of one executor at a time.
func (s *Switch) Observer() *executor.Observer {
	return &executor.Observer{
		Attach: func(ex *executor.Executor) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.on {
				panic("observe: a Switch is for one executor at a time: make one for each")
			}
			s.ex, s.on = weak.Make(ex), true
			if o := s.now.Load(); o != nil && o.Attach != nil {
				o.Attach(ex)
			}
		},
		Detach: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if o := s.now.Load(); o != nil && o.Detach != nil {
				o.Detach()
			}
			s.ex, s.on = weak.Pointer[executor.Executor]{}, false
		},
		RunBegin: func(run *executor.Run) {
			if o := s.now.Load(); o != nil && o.RunBegin != nil {
				o.RunBegin(run)
			}
		},
		RunEnd: func(run *executor.Run) {
			if o := s.now.Load(); o != nil && o.RunEnd != nil {
				o.RunEnd(run)
			}
		},
		TaskBegin: func(worker int, run *executor.Run, task *executor.Task) {
			if o := s.now.Load(); o != nil && o.TaskBegin != nil {
				o.TaskBegin(worker, run, task)
			}
		},
		TaskEnd: func(worker int, run *executor.Run, task *executor.Task) {
			if o := s.now.Load(); o != nil && o.TaskEnd != nil {
				o.TaskEnd(worker, run, task)
			}
		},
		Steal: func(thief, victim, n int) {
			if o := s.now.Load(); o != nil && o.Steal != nil {
				o.Steal(thief, victim, n)
			}
		},
		Park: func(worker int) {
			if o := s.now.Load(); o != nil && o.Park != nil {
				o.Park(worker)
			}
		},
		Unpark: func(worker int) {
			if o := s.now.Load(); o != nil && o.Unpark != nil {
				o.Unpark(worker)
			}
		},
		Relabel: func(worker int) {
			if o := s.now.Load(); o != nil && o.Relabel != nil {
				o.Relabel(worker)
			}
		},
	}
}
