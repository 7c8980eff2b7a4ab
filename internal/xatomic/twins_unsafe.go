//go:build modelcheck || magpie_chaos

package xatomic

import (
	"sync/atomic"
	"unsafe"
)

// The twins of the types in sync/atomic, as far as the module uses them, with the hooks of the seam around every step.

// number is the common part of the integer types of sync/atomic.
type number[V any, A any] interface {
	*A
	Load() V
	Store(V)
	Add(V) V
	And(V) V
	Or(V) V
	CompareAndSwap(old, new V) bool
	Swap(V) V
}

type integer[V any, A any, P number[V, A]] struct{ a A }

func (x *integer[V, A, P]) word() unsafe.Pointer { return unsafe.Pointer(&x.a) }

func (x *integer[V, A, P]) Load() V {
	before(load, x.word())
	v := P(&x.a).Load()
	after(load, x.word())
	return v
}

func (x *integer[V, A, P]) Store(v V) {
	before(store, x.word())
	P(&x.a).Store(v)
	after(store, x.word())
}

func (x *integer[V, A, P]) Add(d V) V {
	before(update, x.word())
	v := P(&x.a).Add(d)
	after(update, x.word())
	return v
}

func (x *integer[V, A, P]) And(bits V) V {
	before(update, x.word())
	v := P(&x.a).And(bits)
	after(update, x.word())
	return v
}

func (x *integer[V, A, P]) Or(bits V) V {
	before(update, x.word())
	v := P(&x.a).Or(bits)
	after(update, x.word())
	return v
}

func (x *integer[V, A, P]) Swap(v V) V {
	before(update, x.word())
	v = P(&x.a).Swap(v)
	after(update, x.word())
	return v
}

func (x *integer[V, A, P]) CompareAndSwap(old, v V) bool {
	before(update, x.word())
	ok := P(&x.a).CompareAndSwap(old, v)
	if ok {
		after(update, x.word())
	} else {
		after(load, x.word())
	}
	return ok
}

type (
	Int32   = integer[int32, atomic.Int32, *atomic.Int32]
	Uint32  = integer[uint32, atomic.Uint32, *atomic.Uint32]
	Int64   = integer[int64, atomic.Int64, *atomic.Int64]
	Uint64  = integer[uint64, atomic.Uint64, *atomic.Uint64]
	Uintptr = integer[uintptr, atomic.Uintptr, *atomic.Uintptr]
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
	before(load, x.word())
	p := x.a.Load()
	after(load, x.word())
	return p
}

func (x *Pointer[T]) Store(p *T) {
	before(store, x.word())
	x.a.Store(p)
	after(store, x.word())
}

func (x *Pointer[T]) Swap(p *T) *T {
	before(update, x.word())
	p = x.a.Swap(p)
	after(update, x.word())
	return p
}

func (x *Pointer[T]) CompareAndSwap(old, p *T) bool {
	before(update, x.word())
	ok := x.a.CompareAndSwap(old, p)
	if ok {
		after(update, x.word())
	} else {
		after(load, x.word())
	}
	return ok
}

// Words for dumps and statistics: see xatomic.go.
type (
	Tell32 = atomic.Uint32
	Tell64 = atomic.Uint64
)
