package observe

import (
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// slots have a *T for each worker of an executor. It is made by the worker at its first event. Other goroutines may
// read it.
type slots[T any] struct {
	at [executor.MaxWorkers]xatomic.Pointer[T]
}

// of returns the slot of a worker, or nil if there is none yet.
func (s *slots[T]) of(worker int) *T { return s.at[worker].Load() }

// set makes the slot of a worker. The worker only.
func (s *slots[T]) set(worker int, t *T) { s.at[worker].Store(t) }

// single has the Attach and Detach of an observer for one executor at a time. Two executors would share its slots,
// which are by worker ID.
type single struct{ taken xatomic.Uint32 } // 1 between Attach and Detach

// attach is the observer's Attach. The executor that it panics in goes on without the observer.
func (s *single) attach(*executor.Executor) {
	if !s.taken.CompareAndSwap(0, 1) {
		panic("observe: an observer is for one executor at a time: make one for each")
	}
}

// detach is the observer's Detach.
func (s *single) detach() { s.taken.Store(0) }
