//go:build modelcheck

package xatomic

import (
	"unsafe"

	"github.com/magpie-go/magpie/internal/model"
)

const (
	load   = model.Load
	store  = model.Store
	update = model.Update
)

func before(k model.Kind, p unsafe.Pointer) { model.Point(k, p) }
func after(k model.Kind, p unsafe.Pointer)  { model.Done(k, p) }
func read(p unsafe.Pointer)                 { model.Read(p) }
func write(p unsafe.Pointer)                { model.Write(p) }

// Await is a Load that waits until ok returns true. It replaces a polling loop.
func (x *integer[V, A, P]) Await(ok func(V) bool) {
	model.Block(model.Load, x.word(), func() bool { return ok(P(&x.a).Load()) })
	after(load, x.word())
}

// Await is a Load that waits until true.
func (x *Bool) Await() { x.n.Await(func(v uint32) bool { return v != 0 }) }

// Await is a Load that waits until the word holds p.
func (x *Pointer[T]) Await(p *T) {
	model.Block(model.Load, x.word(), func() bool { return x.a.Load() == p })
	after(load, x.word())
}

// Peek is a Load that is no step of its own: the futex compares and sleeps in one step.
func (x *integer[V, A, P]) Peek() V { return P(&x.a).Load() }
