package observe

import (
	"log"
	"runtime/debug"
	"weak"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A Switch lets an observer be put in and taken out while the executor runs. A program installs the observer of a
// Switch once, in its Config, and takes a trace when somebody asks for one. While nothing is put in, an event costs a
// load and a call.
//
// An observer that panics in a Switch is not called again, and the panic is logged with package log: the next observer
// that is put in works. A function of an observer that calls [runtime.Goexit], which it must not, disables the Switch
// for as long as its executor lives. [Switch.Record] says so.
//
// All methods may be called from any goroutine.
type Switch struct {
	now xatomic.Pointer[seat] // nil: nothing is put in

	mu   xsync.Mutex                     // held during Set, Attach and Detach
	ex   weak.Pointer[executor.Executor] // between the two; weak, so that the executor can be abandoned
	on   bool                            // between the two
	dead xatomic.Pointer[string]         // why the executor does not call the Switch any more
}

// A seat is an observer while it is put in.
type seat struct {
	*executor.Observer
	of     *Switch
	taken  func()                  // is called when the observer is taken out; may be nil
	failed xatomic.Pointer[string] // what it has panicked with; then it is not called again
}

// NewSwitch returns a Switch with nothing put in.
func NewSwitch() *Switch { return &Switch{} }

// Set puts in an observer in place of the one before. nil puts in none. The observer's Attach is called if the executor
// has been started, and the Detach of the one before unless it has panicked, on the calling goroutine. Calls of other
// functions of the one before may still be in progress then. The new one is not told the begin of runs and tasks in
// progress, but it is told their end: the observers of this package leave these tasks out. An observer that was taken
// out must not be put in again. A [Switch.Record] in progress ends. Set panics if Attach does, and then changes
// nothing. An Attach or Detach of an observer in the Switch must not call Set or Record, which would wait for it.
func (s *Switch) Set(o *executor.Observer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(s.seat(o))
}

func (s *Switch) seat(o *executor.Observer) *seat {
	if o == nil {
		return nil
	}
	return &seat{Observer: o, of: s}
}

// swap puts in o in place of old, and reports whether old was put in.
func (s *Switch) swap(old, o *seat) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.Load() != old {
		return false
	}
	s.put(o)
	return true
}

// put is Set. The caller has locked mu.
func (s *Switch) put(o *seat) {
	if ex := s.ex.Value(); ex != nil && o != nil && o.Attach != nil {
		o.Attach(ex) // a panic goes to the caller of Set
	}
	old := s.now.Swap(o)
	if old == nil {
		return
	}
	if old.taken != nil {
		defer old.taken() // also if Detach calls Goexit
	}
	if s.on && old.Detach != nil && old.failed.Load() == nil {
		defer old.contain()
		old.Detach()
	}
}

// tell makes a call of the observer for the executor, and contains its panic.
func (o *seat) tell(call func()) {
	if o.failed.Load() != nil {
		return
	}
	returned := false
	defer func() {
		if !returned {
			o.fail(recover())
		}
	}()
	call()
	returned = true
}

// pass returns a function that passes an event on to the one that of selects, of the observer that is put in.
func (s *Switch) pass(of func(*executor.Observer) func(*executor.Event)) func(*executor.Event) {
	return func(e *executor.Event) {
		o := s.now.Load()
		if o == nil {
			return
		}
		if call := of(o.Observer); call != nil {
			o.tell(func() { call(e) })
		}
	}
}

// contain is deferred around a call of the observer for the caller of Set.
func (o *seat) contain() {
	if v := recover(); v != nil {
		o.fail(v)
	}
}

// fail disables the observer, which has panicked with value, or has called Goexit in a call of the executor if value is
// nil. The executor then calls the Switch no more.
func (o *seat) fail(value any) {
	defer func() { _ = recover() }() // methods of value, and the writer of the log, are user code
	said := "called runtime.Goexit"
	if value != nil {
		said = (&executor.PanicError{Value: value}).Error()
	} else {
		o.of.dead.Store(&said)
	}
	if o.failed.CompareAndSwap(nil, &said) { // of several workers one
		log.Printf("observe: an observer in a Switch is not called again: %s\n%s", said, debug.Stack())
	}
}

// attach is called by the executor.
func (s *Switch) attach(ex *executor.Executor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.on && s.dead.Load() == nil {
		panic("observe: a Switch is for one executor at a time: make one for each")
	}
	s.ex, s.on = weak.Make(ex), true
	s.dead.Store(nil)
	if o := s.now.Load(); o != nil && o.Attach != nil {
		o.tell(func() { o.Attach(ex) })
	}
}

// detach is called by the executor.
func (s *Switch) detach() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.now.Load(); o != nil && o.Detach != nil {
		o.tell(o.Detach)
	}
	s.ex, s.on = weak.Pointer[executor.Executor]{}, false
}

// Observer returns the observer for the Config of one executor at a time.
func (s *Switch) Observer() *executor.Observer {
	return &executor.Observer{
		Attach:    s.attach,
		Detach:    s.detach,
		RunBegin:  s.pass(func(o *executor.Observer) func(*executor.Event) { return o.RunBegin }),
		RunEnd:    s.pass(func(o *executor.Observer) func(*executor.Event) { return o.RunEnd }),
		TaskBegin: s.pass(func(o *executor.Observer) func(*executor.Event) { return o.TaskBegin }),
		TaskEnd:   s.pass(func(o *executor.Observer) func(*executor.Event) { return o.TaskEnd }),
		TaskSkip:  s.pass(func(o *executor.Observer) func(*executor.Event) { return o.TaskSkip }),
		Steal:     s.pass(func(o *executor.Observer) func(*executor.Event) { return o.Steal }),
		Park:      s.pass(func(o *executor.Observer) func(*executor.Event) { return o.Park }),
		Unpark:    s.pass(func(o *executor.Observer) func(*executor.Event) { return o.Unpark }),
		Relabel:   s.pass(func(o *executor.Observer) func(*executor.Event) { return o.Relabel }),
	}
}
