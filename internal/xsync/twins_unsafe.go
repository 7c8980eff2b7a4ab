//go:build modelcheck

package xsync

import (
	"sync"
	"unsafe"

	"github.com/magpie-go/magpie/internal/model"
)

// A Mutex is the twin of sync.Mutex. Outside an exploration it is a sync.Mutex.
type Mutex struct {
	real   sync.Mutex
	locked bool
}

func (m *Mutex) word() unsafe.Pointer { return unsafe.Pointer(m) }

func (m *Mutex) Lock() {
	if !model.Active() {
		m.real.Lock()
		return
	}
	model.Block(model.Lock, m.word(), func() bool { return !m.locked })
	m.locked = true
	model.Done(model.Lock, m.word())
}

func (m *Mutex) TryLock() bool {
	if !model.Active() {
		return m.real.TryLock()
	}
	model.Point(model.Lock, m.word())
	if m.locked {
		model.Done(model.Load, m.word())
		return false
	}
	m.locked = true
	model.Done(model.Lock, m.word())
	return true
}

func (m *Mutex) Unlock() {
	if !model.Active() {
		m.real.Unlock()
		return
	}
	model.Point(model.Store, m.word())
	model.Assert(m.locked, "unlock of a mutex that nobody has locked")
	m.locked = false
	model.Done(model.Store, m.word())
}

// A Once is the twin of sync.Once.
type Once struct {
	mu   Mutex
	done bool
}

func (o *Once) Do(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.done {
		o.done = true
		f()
	}
}

// A WaitGroup is the twin of sync.WaitGroup, as far as the module uses it. Outside an exploration it is a
// sync.WaitGroup.
type WaitGroup struct {
	real sync.WaitGroup
	n    int
}

func (g *WaitGroup) word() unsafe.Pointer { return unsafe.Pointer(g) }

func (g *WaitGroup) Add(delta int) {
	if !model.Active() {
		g.real.Add(delta)
		return
	}
	model.Point(model.Update, g.word())
	g.n += delta
	model.Assert(g.n >= 0, "a wait group's count is below zero")
	model.Done(model.Update, g.word())
}

func (g *WaitGroup) Done() { g.Add(-1) }

func (g *WaitGroup) Wait() {
	if !model.Active() {
		g.real.Wait()
		return
	}
	model.Block(model.Load, g.word(), func() bool { return g.n == 0 })
	model.Done(model.Load, g.word())
}

// Go starts f on a thread of the model program, or outside an exploration on a goroutine of its own.
func Go(f func()) {
	if !model.Active() {
		go f()
		return
	}
	model.Go(f)
}
