package executor

import (
	"fmt"
	"iter"

	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A PerWorker holds a value for each worker of an executor, such as a buffer, a generator of random numbers, or part of
// a sum. Tasks need no lock.
//
// A value is made when it is first used, also by a spare worker. Each takes 256 bytes more than its type, so that no
// two are on one cache line or on neighbouring ones. The garbage collector frees them with the PerWorker.
//
// A task that waits, in a Run, Wait or Join, may find its value changed afterwards: meanwhile its worker may have run
// other tasks, which use the same value. So a task should not wait, or call parallel loops, while the value is
// inconsistent. [Blocking] by itself runs no other task on the worker.
//
// A PerWorker does not keep its executor from being closed by the garbage collector. Its values can be read after
// Close. A zero PerWorker panics.
type PerWorker[T any] struct {
	ex   *executor // not the Executor, so that this can become unreachable
	init func() T

	slots []xatomic.Pointer[slot[T]] // by worker; a worker writes its own, Reset all

	// For callers outside.
	mu      xsync.Mutex
	outside *slot[T] // guarded by mu
}

// A slot keeps a value apart from all others. The Lines serve any alignment of the value.
type slot[T any] struct {
	_ pad.Line
	v T
	_ pad.Line
}

// NewPerWorker returns a PerWorker for the workers of ex. Each value begins as the result of a call of init, on the
// worker when it is first used, or as the zero value if init is nil. It panics if ex is nil.
func NewPerWorker[T any](ex *Executor, init func() T) *PerWorker[T] {
	if ex == nil {
		panic("executor: NewPerWorker of a nil executor")
	}
	ex.mustBeMade()
	slots := make([]xatomic.Pointer[slot[T]], len(ex.roster))
	return &PerWorker[T]{ex: ex.executor, init: init, slots: slots}
}

// mustBeMade panics if p is nil or zero.
func (p *PerWorker[T]) mustBeMade() {
	if p == nil || p.ex == nil {
		panic("executor: a PerWorker is made by NewPerWorker")
	}
}

func (p *PerWorker[T]) make() *slot[T] {
	s := new(slot[T])
	if p.init != nil {
		s.v = p.init()
	}
	return s
}

// Local returns the value of the caller's worker, for use until the task ends. It panics if the caller is on no worker
// of the executor, see [PerWorker.Do]. It costs as much as [Executor.WorkerIndex]: a loop should call it once for a
// range of elements. A function with a scope calls [PerWorker.In].
func (p *PerWorker[T]) Local() *T {
	p.mustBeMade()
	w := p.ex.currentWorker()
	if w == nil {
		panic(fmt.Sprintf("executor: PerWorker.Local outside the tasks of executor %q: use Do there", p.ex.cfg.Name))
	}
	return p.of(w)
}

// In is Local for the function that was given scope, which must be of the same executor: In panics otherwise. It costs
// a few loads.
func (p *PerWorker[T]) In(scope *Scope) *T {
	if p == nil {
		p.mustBeMade()
	}
	if scope == nil || scope.body == nil {
		misused()
	}
	return p.Of(scope.w)
}

// Of is Local for the item that w runs, see [Item]. It costs a few loads. It panics if w is of another executor.
func (p *PerWorker[T]) Of(w *Worker) *T {
	if p.ex == nil || w.core != &p.ex.core {
		p.foreign(w)
	}
	return p.of(w)
}

func (p *PerWorker[T]) foreign(w *Worker) {
	p.mustBeMade()
	other := "executor"
	if executorOf(w.core).cfg.Name == p.ex.cfg.Name {
		other = "another executor named"
	}
	panic(fmt.Sprintf("executor: a PerWorker of executor %q is used by a task of %s %q",
		p.ex.cfg.Name, other, executorOf(w.core).cfg.Name))
}

func (p *PerWorker[T]) of(w *Worker) *T {
	if s := p.slots[w.id].Load(); s != nil {
		return &s.v
	}
	return p.first(w)
}

// first makes the value of the calling worker.
func (p *PerWorker[T]) first(w *Worker) *T {
	s := p.make()
	if made := p.slots[w.id].Load(); made != nil {
		return &made.v // init has waited, and the worker has run another task that uses the value
	}
	p.slots[w.id].Store(s)
	return &s.v
}

// Do calls fn with the value of the worker that the caller runs on. On any other goroutine it calls fn with a value
// that all such goroutines share, under a lock. fn must not call Do of the same PerWorker.
func (p *PerWorker[T]) Do(fn func(v *T)) {
	p.mustBeMade()
	if fn == nil {
		panic("executor: PerWorker.Do of a nil function")
	}
	if w := p.ex.currentWorker(); w != nil {
		fn(p.of(w))
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outside == nil {
		p.outside = p.make()
	}
	fn(&p.outside.v)
}

// All returns an iterator over the values that were used, with the indices of their workers, in the order of these.
// Last comes the value that [PerWorker.Do] has used outside, with index -1. No task may use values meanwhile.
func (p *PerWorker[T]) All() iter.Seq2[int, *T] {
	if p == nil {
		p.mustBeMade()
	}
	return func(yield func(int, *T) bool) {
		for i := range p.slots {
			if s := p.slots[i].Load(); s != nil && !yield(i, &s.v) {
				return
			}
		}
		p.mu.Lock()
		outside := p.outside
		p.mu.Unlock()
		if outside != nil {
			yield(-1, &outside.v)
		}
	}
}

// Combine returns the values that were used combined in the order of [PerWorker.All], as fn(fn(v1, v2), v3), or the
// result of init if there is none. Which worker has run which task depends on timing, so fn should be associative and
// commutative. No task may use values meanwhile.
func (p *PerWorker[T]) Combine(fn func(a, b T) T) T {
	if p == nil {
		p.mustBeMade()
	}
	var sum T
	none := true
	for _, v := range p.All() {
		if none {
			sum, none = *v, false
		} else {
			sum = fn(sum, *v)
		}
	}
	if none && p.init != nil {
		return p.init()
	}
	return sum
}

// Reset forgets all values: they are made anew. No task may use any meanwhile.
func (p *PerWorker[T]) Reset() {
	if p == nil {
		p.mustBeMade()
	}
	for i := range p.slots {
		p.slots[i].Store(nil)
	}
	p.mu.Lock()
	p.outside = nil
	p.mu.Unlock()
}
