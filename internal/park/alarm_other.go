//go:build !linux

package park

import "time"

// A clock does not exist here.
type clock struct{}

func (*clock) sleep(time.Duration) bool { return false }
func (*clock) close()                   {}

// openClock is replaced by tests.
var openClock = func() *clock { return nil }
