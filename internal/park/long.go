//go:build !modelcheck

package park

import "sync"

// A LongParker is a [Parker] for sleeps of tens of milliseconds. Its owner sleeps as any goroutine does, and gives its P
// up at once. A thread that sleeps on a futex keeps its P until the runtime's monitor takes it, after ten milliseconds,
// and the monitor then polls fifty times at short intervals. Waking the owner of a LongParker takes some microseconds
// longer.
type LongParker struct {
	mu       sync.Mutex
	notified bool
	cond     *sync.Cond // made by the first sleep
}

// Park takes a permission, and sleeps until there is one. Owner only.
func (p *LongParker) Park() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cond == nil {
		p.cond = sync.NewCond(&p.mu)
	}
	for !p.notified {
		p.cond.Wait()
	}
	p.notified = false
}

// Unpark gives the permission. Two calls before a Park give one. Any thread.
func (p *LongParker) Unpark() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notified = true
	if p.cond != nil {
		p.cond.Signal()
	}
}
