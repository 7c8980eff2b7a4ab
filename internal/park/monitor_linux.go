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
// monitor, a thread of the runtime, takes the P away. But the monitor sleeps while a stop-the-world is in progress: for a
// minute, or until the program's next timer is due. internal/park/testdata/stall shows it without this module.
//
// So there is a timer that is soon due whenever a thread goes to sleep: the stall ends 10 to 20 ms after its begin. When
// no thread goes to sleep any more the timer expires three more times, after growing intervals, since a thread may lose
// its core between its look and its mark.
type monitorTimer struct {
	set   func(time.Duration) // the timer expires after that time, and not at one set before
	news  xatomic.Bool        // a thread goes to sleep, and the timer has not expired since then
	quiet xatomic.Int32       // times in a row that the timer has expired without news
}

// monitorIntervals are those from each expiry to the next, by the number of times that there was no news.
var monitorIntervals = [...]time.Duration{10 * time.Millisecond, 100 * time.Millisecond, time.Second}

// monitor is made when the program starts, so that no testing/synctest bubble owns its timer.
var monitor = newMonitorTimer()

func newMonitorTimer() *monitorTimer {
	m := &monitorTimer{}
	timer := time.AfterFunc(time.Hour, m.expired)
	timer.Stop()
	m.set = func(d time.Duration) { timer.Reset(d) }
	return m
}

// note is called before a thread goes to sleep. The timer is then due within the first interval, and again after
// another. Any thread.
func (m *monitorTimer) note() {
	// news changes once an interval, so threads seldom wait for its cache line.
	if m.news.Load() || m.news.Swap(true) {
		return
	}
	m.set(monitorIntervals[0]) // M1(note): write news, then set the timer
}

// expired is called by the timer. Calls may overlap if one is late.
func (m *monitorTimer) expired() {
	if m.news.Swap(false) {
		m.quiet.Store(0)
		m.set(monitorIntervals[0])
		return
	}
	if quiet := int(m.quiet.Add(1)); quiet < len(monitorIntervals) {
		m.set(monitorIntervals[quiet])
		// M1(expired): set the timer, then look at news. Without the look, a thread that has gone to sleep meanwhile,
		// and has set the timer before, would be left with the long interval.
		if m.news.Load() {
			m.set(monitorIntervals[0])
		}
	}
}
