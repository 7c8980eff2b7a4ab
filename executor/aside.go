package executor

import "github.com/magpie-go/magpie/internal/xsync"

// closeAside is Close on a goroutine of its own.
func (ex *Executor) closeAside() { xsync.Go(func() { _ = ex.Close() }) }

// aside calls f on a goroutine of its own, for a finalizer: f may call functions of the program, which may wait.
func aside(f func()) { xsync.Go(f) }

// appoint starts a manager. It is called when a run begins while the executor desires nothing.
func (s *sharing) appoint() {
	s.manager.Add(1)
	xsync.Go(s.manage)
}
