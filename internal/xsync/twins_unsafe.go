//go:build modelcheck

package xsync

import (
	"sync"
	"time"
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

// Close closes c, which threads may wait for in Await.
func Close(c chan struct{}) {
	if !model.Active() {
		close(c)
		return
	}
	model.Point(model.Update, wordOf(c))
	close(c)
	model.Done(model.Update, wordOf(c))
}

// AwaitFor waits until c is closed, but for d at most. The model has no time: there it waits until c is closed.
func AwaitFor(c <-chan struct{}, d time.Duration) {
	if model.Active() {
		Await(c, nil)
		return
	}
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-c:
	case <-over.C:
	}
}

// Await waits until one of the channels is closed. A nil channel never is.
func Await(a, b <-chan struct{}) {
	if !model.Active() {
		select {
		case <-a:
		case <-b:
		}
		return
	}
	model.Block(model.Load, nil, func() bool { return isClosed(a) || isClosed(b) })
	for _, c := range []<-chan struct{}{a, b} {
		if c != nil {
			model.Done(model.Load, wordOf(c))
		}
	}
}

// IsClosed reports whether c is closed. Nothing is ever sent on it.
func IsClosed(c <-chan struct{}) bool {
	if !model.Active() {
		return isClosed(c)
	}
	model.Point(model.Load, wordOf(c))
	closed := isClosed(c)
	model.Done(model.Load, wordOf(c))
	return closed
}

// wordOf stands for the channel, whose representation is a pointer.
func wordOf(c <-chan struct{}) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&c)) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
