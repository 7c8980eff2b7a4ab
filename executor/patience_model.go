//go:build modelcheck

package executor

import "github.com/magpie-go/magpie/internal/xsync"

// closesSoon waits until the executor is closed. The model has no time, so Shutdown has patience for ever.
func (ex *executor) closesSoon() bool {
	xsync.Await(ex.life.closed, nil)
	return true
}
