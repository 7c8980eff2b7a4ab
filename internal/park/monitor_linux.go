//go:build linux && !magpie_portable_park && !modelcheck

package park

import (
	"time"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// A monitorTimer keeps the runtime's monitor from long sleeps while threads go to sleep on futexes.
//
// With Go 1.26, a stop-the-world, such as each garbage collection has two of, may stall the process. A thread that
// enters a system call looks whether a stop-the-world has begun, and then marks its goroutine. A stop-the-world that
// begins in between does not find the mark. It waits for the thread's P until the system call ends, or until the
// monitor, a thread of the runtime, takes the P away. But the monitor sleeps while a stop-the-world is in progress: for
// a minute, or until the program's next timer is due. testdata/stall shows it without this module.
//
// So timers are soon due whenever a thread goes to sleep, and the stall is over within 20 ms as a rule. When no thread
// goes to sleep any more they expire three more times, after growing intervals, since a thread may lose its core
// between its look and its mark.
type monitorTimer struct {
	set   func(time.Duration) // the timers expire after that time, and not at one set before
	news  xatomic.Uint32
	quiet xatomic.Int32 // times in a row that the timers have expired without news
}

// States of news: whether a thread has gone to sleep since the timers have expired.
const (
	noNews  uint32 = iota
	setting        // a thread goes to sleep and is about to set the timers
	isSet          // a thread has set them: others need not
)

// monitorIntervals are those from each expiry to the next, by the number of times that there was no news.
var monitorIntervals = [...]time.Duration{10 * time.Millisecond, 100 * time.Millisecond, time.Second}

var monitor = newMonitorTimer()

// newMonitorTimer has a second timer, due later: between the expiry of the first and the call of expired, which runs
// on a goroutine, the monitor may look for the next timer.
func newMonitorTimer() *monitorTimer {
	m := &monitorTimer{}
	first, second := time.AfterFunc(time.Hour, m.expired), time.AfterFunc(time.Hour, m.expired)
	first.Stop()
	second.Stop()
	m.set = func(d time.Duration) {
		second.Reset(4 * d)
		first.Reset(d)
	}
	return m
}

// begun is when the program began.
var begun = time.Now()

// note is called before a thread goes to sleep. The timers are then due within the first interval, and again after
// another. Any thread.
func (m *monitorTimer) note() {
	if m.news.Load() == isSet { // it changes once an interval, so threads seldom wait for its cache line
		return
	}
	if time.Since(begun) < 0 {
		return // in a testing/synctest bubble, where Reset would take the bubble's time, of the year 2000
	}
	m.news.Store(setting) // M1(note): write news, then set the timers
	m.set(monitorIntervals[0])
	m.news.CompareAndSwap(setting, isSet)
}

// expired is called by the timers. Calls may overlap if one is late.
func (m *monitorTimer) expired() {
	if m.news.Swap(noNews) != noNews {
		m.quiet.Store(0)
		m.set(monitorIntervals[0])
		return
	}
	if quiet := int(m.quiet.Add(1)); quiet < len(monitorIntervals) {
		m.set(monitorIntervals[quiet])
		// M1(expired): set the timers, then look at news. Without the look, a thread that has gone to sleep meanwhile,
		// and has set the timers before, would be left with the long interval.
		if m.news.Load() != noNews {
			m.set(monitorIntervals[0])
		}
	}
}
