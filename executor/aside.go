package executor

import "github.com/magpie-go/magpie/internal/xsync"

// aside calls f on a goroutine of its own: f may wait, or call functions of the program, which may wait.
func aside(f func()) { xsync.Go(f) }
