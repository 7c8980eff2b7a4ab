//go:build modelcheck

package xatomic

import (
	"sync/atomic"
	"unsafe"

	"github.com/magpie-go/magpie/internal/model"
)

// The twins of the types in sync/atomic, as far as the module uses them.

// number is what the integer types of sync/atomic have in common.
type number[V any, A any] interface {
	*A
	Load() V
	Store(V)
	Add(V) V
	Or(V) V
	CompareAndSwap(old, new V) bool
	Swap(V) V
}

type integer[V any, A any, P number[V, A]] struct{ a A }

func (x *integer[V, A, P]) word() unsafe.Pointer { return unsafe.Pointer(&x.a) }

func (x *integer[V, A, P]) Load() V {
	model.Point(model.Load, x.word())
	v := P(&x.a).Load()
	model.Done(model.Load, x.word())
	return v
}

func (x *integer[V, A, P]) Store(v V) {
	model.Point(model.Store, x.word())
	P(&x.a).Store(v)
	model.Done(model.Store, x.word())
}

func (x *integer[V, A, P]) Add(d V) V {
	model.Point(model.Update, x.word())
	v := P(&x.a).Add(d)
	model.Done(model.Update, x.word())
	return v
}

func (x *integer[V, A, P]) Or(bits V) V {
	model.Point(model.Update, x.word())
	v := P(&x.a).Or(bits)
	model.Done(model.Update, x.word())
	return v
}

func (x *integer[V, A, P]) Swap(v V) V {
	model.Point(model.Update, x.word())
	v = P(&x.a).Swap(v)
	model.Done(model.Update, x.word())
	return v
}

func (x *integer[V, A, P]) CompareAndSwap(old, v V) bool {
	model.Point(model.Update, x.word())
	ok := P(&x.a).CompareAndSwap(old, v)
	if ok {
		model.Done(model.Update, x.word())
	} else {
		model.Done(model.Load, x.word())
	}
	return ok
}

type (
	Int32  = integer[int32, atomic.Int32, *atomic.Int32]
	Uint32 = integer[uint32, atomic.Uint32, *atomic.Uint32]
	Int64  = integer[int64, atomic.Int64, *atomic.Int64]
	Uint64 = integer[uint64, atomic.Uint64, *atomic.Uint64]
)

// A Bool is the twin of atomic.Bool.
type Bool struct{ n Uint32 }

func (x *Bool) Load() bool { return x.n.Load() != 0 }

func (x *Bool) Store(v bool) {
	if v {
		x.n.Store(1)
	} else {
		x.n.Store(0)
	}
}

// A Pointer is the twin of atomic.Pointer.
type Pointer[T any] struct{ a atomic.Pointer[T] }

func (x *Pointer[T]) word() unsafe.Pointer { return unsafe.Pointer(&x.a) }

func (x *Pointer[T]) Load() *T {
	model.Point(model.Load, x.word())
	p := x.a.Load()
	model.Done(model.Load, x.word())
	return p
}

func (x *Pointer[T]) Store(p *T) {
	model.Point(model.Store, x.word())
	x.a.Store(p)
	model.Done(model.Store, x.word())
}

// Peek is a Load that is no step of its own: for the futex, which compares and sleeps in one.
func (x *integer[V, A, P]) Peek() V { return P(&x.a).Load() }
