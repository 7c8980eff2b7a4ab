//go:build !unix && !windows

package osthread

import "time"

// ProcessCPU is unknown: 0.
func ProcessCPU() time.Duration { return 0 }

// ContextSwitches is unknown: 0.
func ContextSwitches() (voluntary, involuntary int64) { return 0, 0 }
