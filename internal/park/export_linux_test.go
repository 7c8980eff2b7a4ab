//go:build linux && !magpie_portable_park && !modelcheck

package park

import (
	"syscall"
	"time"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// ReplaceWait replaces the futex call by wait until restore is called. wait may call real.
func ReplaceWait(wait func(real func() syscall.Errno) syscall.Errno) (restore func()) {
	real := futexWait
	futexWait = func(word *xatomic.Uint32, while uint32) syscall.Errno {
		return wait(func() syscall.Errno { return real(word, while) })
	}
	return func() { futexWait = real }
}

// A MonitorTimer is a monitorTimer of a test's own.
type MonitorTimer = monitorTimer

// NewMonitorTimer returns a MonitorTimer that calls set instead of setting a timer.
func NewMonitorTimer(set func(time.Duration)) *MonitorTimer { return &monitorTimer{set: set} }

func (m *MonitorTimer) Note()    { m.note() }
func (m *MonitorTimer) Expired() { m.expired() }

// LeftAlone is the Quiet from which on the timer is not set until a thread goes to sleep.
const LeftAlone = len(monitorIntervals)

// Quiet returns how many times in a row the timer that all sleeps share has expired without news.
func Quiet() int { return int(monitor.quiet.Load()) }

// Expire is an expiry of the timer that all sleeps share, before its time.
func Expire() { monitor.expired() }
