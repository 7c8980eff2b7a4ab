package bench

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/pad"
)

// A crowd has the threads of one run: an owner and thieves, or workers.
type crowd struct {
	_     pad.Line
	over  atomic.Bool // read by all; set when the run is over, or has to end early
	_     pad.Line
	ready atomic.Int32
	_     pad.Line
}

// RunLimit is how long an owner goes on at most, if something has been stolen by then. Where threads share a core some
// kinds take milliseconds for an item; the measurements up to the limit are as good.
const RunLimit = time.Second

// Tests make these shorter.
var (
	runLimit   = RunLimit
	stallLimit = 10 * time.Second // a run without progress for so long is given up
)

// run runs each function on a thread of its own, and on a core of its own if there are enough. No function begins
// before all threads exist. run returns when all functions have. The functions look at over now and then: it is set
// when ctx ends, or when progress has returned the same for too long, which shows that a queue has lost something.
func (c *crowd) run(ctx context.Context, progress func() int64, threads ...func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	// A P for each thread, however few cores there are: the kernel shares the cores out fairly, and in less than 10 ms.
	defer withProcs(max(runtime.GOMAXPROCS(0), len(threads)+1))()
	defer context.AfterFunc(ctx, func() { c.over.Store(true) })()
	left := make(chan struct{})
	for i, f := range threads {
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			defer pin(i, len(threads))()
			c.ready.Add(1)
			for int(c.ready.Load()) < len(threads) {
				osthread.Yield()
			}
			f()
			left <- struct{}{}
		}()
	}
	stalled := c.attend(len(threads), left, progress)
	if err := ctx.Err(); err != nil {
		return err
	}
	return stalled
}

// attend waits until n threads have left.
func (c *crowd) attend(n int, left <-chan struct{}, progress func() int64) (stalled error) {
	tick := time.NewTicker(stallLimit)
	defer tick.Stop()
	for last := int64(-1); n > 0; {
		select {
		case <-left:
			n--
		case <-tick.C:
			now := progress()
			if now == last && stalled == nil {
				stalled = fmt.Errorf("nothing has happened for %v", stallLimit)
				c.over.Store(true)
			}
			last = now
		}
	}
	return stalled
}

// A patience decides how often a thread that finds nothing to do gives its core away. Where every thread has a core of
// its own that is rare, for it costs as much as some steals.
type patience struct{ spins, limit int }

func newPatience(threads int) patience {
	if threads > runtime.NumCPU() {
		return patience{limit: 4}
	}
	return patience{limit: 32}
}

func (p *patience) pause() {
	if p.spins++; p.spins >= p.limit {
		p.spins = 0
		osthread.Yield()
	}
}

// spin is work that takes about n ns.
//
//go:noinline
func spin(n int) uint32 {
	x := uint32(n)
	for range n {
		x ^= x << 13
		x ^= x >> 17
	}
	return x
}
