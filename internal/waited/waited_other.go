//go:build !linux

package waited

import "time"

// ForCores returns 0: the system does not tell.
func ForCores() time.Duration { return 0 }
