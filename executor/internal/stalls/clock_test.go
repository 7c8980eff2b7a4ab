//go:build !modelcheck

package stalls

import (
	"regexp"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// The clock ticks while a watch is on, and then not.
func TestClock(t *testing.T) {
	p, w := newPlant(t, 1)
	w.on.Store(0)
	told := make(chan bool, 1)
	system.asleep = func(int64) (asleep, known bool) {
		select {
		case told <- true:
		default:
		}
		return true, true
	}
	w.Wake()
	<-told
	w.mu.Lock()
	p.workers[0].Doing = Idle
	w.mu.Unlock()
	testkit.Until(t, "the clock stops", func() bool {
		ticker.mu.Lock()
		defer ticker.mu.Unlock()
		return !ticker.ticks && len(ticker.all) == 0
	})
	w.Close()
	require.Empty(t, p.asleep)
}

// A clock with the long period looks soon after an item was submitted or a watch was added, also one that it still has.
func TestClockHurries(t *testing.T) {
	_, w := newPlant(t, 1)
	for name, hurry := range map[string]func(c *clock){
		"submitted": (*clock).hurry,
		"added":     func(c *clock) { c.add(w) },
	} {
		c := &clock{all: []*Watch{w}, ticks: true, period: longPeriod, timer: time.AfterFunc(time.Hour, func() {})}
		hurry(c)
		require.Equal(t, period, c.period, name)
		c.timer.Stop()
	}
	idle := &clock{timer: time.AfterFunc(time.Hour, func() {})}
	idle.hurry()
	require.False(t, idle.ticks, "there is nothing to look at")
	idle.timer.Stop()
}

// Tasks that are in Blocking most of the time, while no item waits, let the clock have its long period when they go on,
// until an item is submitted.
func TestSlowBesideBlocking(t *testing.T) {
	p, w := newPlant(t, 2)
	c := &clock{timer: time.AfterFunc(time.Hour, func() {})}
	defer c.timer.Stop()
	pause := func(queued bool) {
		p.queued = queued
		for i := range p.workers {
			p.workers[i].Doing = Away
		}
		on, _ := w.look()
		require.False(t, on)
		for i := range p.workers {
			p.workers[i].Doing = InTask
		}
		c.ticks = false
		w.on.Store(1)
		c.add(w)
	}
	for range calmLooks - 1 {
		pause(false)
		require.Equal(t, period, c.period)
	}
	pause(false)
	require.Equal(t, longPeriod, c.period)
	require.EqualValues(t, 1, w.slow.Load())
	c.hurry()
	require.Equal(t, period, c.period)
	pause(true)
	require.Equal(t, period, c.period)
	require.Zero(t, w.slow.Load())
}

// An item that is submitted while a worker goes on, before the clock ticks, makes the first look come soon.
func TestSubmittedBeforeTheClockTicks(t *testing.T) {
	_, w := newPlant(t, 1)
	c := &clock{timer: time.AfterFunc(time.Hour, func() {})}
	defer c.timer.Stop()
	w.slow.Store(1)
	w.on.Store(1)
	added := make(chan struct{})
	c.mu.Lock() // as hurry does, which finds that the clock does not tick
	go func() {
		c.add(w)
		close(added)
	}()
	testkit.Until(t, "the worker waits for the clock", func() bool {
		stacks := make([]byte, 1<<20)
		waits := regexp.MustCompile(`\[sync\.Mutex\.Lock[^\]]*\]:(\n.+)*\.\(\*clock\)\.add\(`)
		return waits.Match(stacks[:runtime.Stack(stacks, true)])
	})
	w.slow.Store(0)
	c.mu.Unlock()
	<-added
	require.Equal(t, period, c.period)
}

// An item that is submitted while the clock looks counts, too.
func TestClockHurriesWhileItLooks(t *testing.T) {
	p, w := newPlant(t, 1)
	p.queued = false
	p.looks(w, calmLooks)
	c := &clock{all: []*Watch{w}, ticks: true, period: longPeriod, timer: time.AfterFunc(time.Hour, func() {})}
	c.tick()
	require.Equal(t, longestPeriod, c.period)
	system.asleep, system.used = nil, func(Worker) (time.Duration, bool) { c.hurry(); return 0, true }
	c.tick()
	require.Equal(t, period, c.period)
	c.timer.Stop()
}

// The timer is set before the looks. If they take longer than the period, the next begin after them.
func TestClockSetsItsTimerFirst(t *testing.T) {
	_, w := newPlant(t, 1)
	c := &clock{all: []*Watch{w}, ticks: true, period: longPeriod, timer: time.AfterFunc(time.Hour, func() {})}
	c.timer.Stop()
	looks := 0
	system.used = func(Worker) (time.Duration, bool) {
		if looks++; looks == 1 {
			require.True(t, c.timer.Stop(), "it was set")
			c.tick() // it has expired
			require.True(t, c.timer.Stop(), "it was set again")
			require.Equal(t, 1, looks)
		}
		return 0, true
	}
	c.tick()
	require.False(t, c.looks)
	require.Positive(t, looks)
	c.timer.Stop()
}

// An item of a bubble of testing/synctest does not set the clock, which would go by the bubble's time.
func TestSubmittedInBubble(t *testing.T) {
	p, w := newPlant(t, 1)
	p.queued = false
	p.looks(w, calmLooks)
	synctest.Test(t, func(*testing.T) { w.Submitted() })
	require.EqualValues(t, 1, w.slow.Load())
}

// A watch at which nothing changes lets the clock have its long period, until an item is submitted.
func TestSlow(t *testing.T) {
	p, w := newPlant(t, 1)
	p.queued = false
	p.looks(w, calmLooks-1)
	require.Zero(t, w.slow.Load())
	p.looks(w, 1)
	require.EqualValues(t, 1, w.slow.Load())
	w.Submitted()
	require.Zero(t, w.slow.Load())
	p.queued = true
	_, next := w.look()
	require.Equal(t, period, next)
	require.Equal(t, []int{0}, p.asleep, "it has slept for long")
}

// The clock forgets a watch that was closed while workers were awake.
func TestClockForgets(t *testing.T) {
	_, w := newPlant(t, 1)
	w.on.Store(0)
	w.Wake()
	w.Close()
	testkit.Until(t, "the clock stops", func() bool {
		ticker.mu.Lock()
		defer ticker.mu.Unlock()
		return !ticker.ticks && len(ticker.all) == 0
	})
}

// A Wake in a bubble of testing/synctest does not set the clock, which would go by the bubble's time.
func TestWakeInBubble(t *testing.T) {
	_, w := newPlant(t, 1)
	w.on.Store(0)
	synctest.Test(t, func(*testing.T) { w.Wake() })
	require.Zero(t, w.on.Load())
	w.Wake()
	require.EqualValues(t, 1, w.on.Load())
	w.Close()
}
