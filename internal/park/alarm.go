package park

import (
	"time"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// An Alarm ends its owner's sleeps after a fixed time, until it is cancelled. The owner may be any goroutine.
//
// On Linux it is a file that the runtime's poller waits for. The thread that is woken runs the owner itself: one switch
// of context to it, and one back. A timer of the runtime makes the owner runnable on the thread that is woken, which
// then wakes a second thread to look for more.
type Alarm struct {
	after time.Duration
	clock *clock // nil where the system has none to give

	// Without a clock.
	cancelled xatomic.Bool
	parker    LongParker
}

// NewAlarm returns an Alarm whose sleeps last for the given time. It is to be cancelled.
func NewAlarm(after time.Duration) *Alarm { return &Alarm{after: after, clock: openClock()} }

// Sleep sleeps for the Alarm's time, or until it is cancelled. It returns false if it was cancelled. Owner only.
func (a *Alarm) Sleep() bool {
	if a.clock != nil {
		return a.clock.sleep(a.after)
	}
	if !a.cancelled.Load() { // if Cancel comes next, its permission is there for the Park
		defer time.AfterFunc(a.after, a.parker.Unpark).Stop()
		a.parker.Park()
	}
	return !a.cancelled.Load()
}

// Cancel ends the owner's sleep, and all later ones at once. It is to be called once. Any thread.
func (a *Alarm) Cancel() {
	if a.clock != nil {
		a.clock.close()
		return
	}
	a.cancelled.Store(true)
	a.parker.Unpark()
}
