package stalls

import (
	"slices"
	"time"

	"github.com/magpie-go/magpie/internal/xsync"
)

// clock calls look of each watch listed, once a period. It has a timer only while any is.
type clock struct {
	mu     xsync.Mutex // guards what follows
	all    []*Watch
	timer  *time.Timer
	ticks  bool // the timer runs
	period time.Duration
	looks  bool          // tick runs
	most   time.Duration // while tick looks: the next period is not to be longer
}

var ticker clock

func (c *clock) add(w *Watch) {
	next := w.resume()
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.slow.Load() != 0 {
		next = longPeriod // a Submitted that has found slow set hurries after this: it waits for mu
	}
	if !slices.Contains(c.all, w) { // else it was about to be taken out
		c.all = append(c.all, w)
	}
	if c.timer == nil {
		c.timer = time.AfterFunc(next, c.tick)
		c.ticks, c.period = true, next
		return
	}
	c.within(next)
}

// hurry makes the next look come after the short period at the latest.
func (c *clock) hurry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ticks {
		c.within(period)
	}
}

// within makes the next look come after that time at the latest. The caller holds mu.
func (c *clock) within(most time.Duration) {
	if !c.ticks || c.period > most {
		c.timer.Reset(most)
		c.ticks, c.period = true, most
	}
	c.most = min(c.most, most)
}

func (c *clock) tick() {
	c.mu.Lock()
	// First: the runtime wakes another thread beside this one, which polls until the next timer is due. Set after the
	// looks, the timer would wake that thread once more.
	c.timer.Reset(c.period)
	if c.looks {
		c.mu.Unlock()
		return
	}
	all := slices.Clone(c.all)
	c.looks, c.most = true, longestPeriod
	c.mu.Unlock()
	next := longestPeriod
	for _, w := range all {
		_, due := w.look()
		next = min(next, due)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.all[:0]
	for _, w := range c.all {
		if w.on.Load() != 0 {
			kept = append(kept, w)
		}
	}
	clear(c.all[len(kept):])
	c.looks = false
	if c.all = kept; len(kept) == 0 {
		c.ticks = false
		c.timer.Stop()
		return
	}
	if next = min(next, c.most); next != c.period {
		c.period = next
		c.timer.Reset(next)
	}
}
