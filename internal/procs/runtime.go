package procs

import (
	"os"
	"runtime"
	"strconv"
)

// runtimeProcs is the part of the runtime that the ledger uses; tests have a fake. A set or setDefault that changes
// something stops the world.
type runtimeProcs interface {
	get() int
	set(n int)
	setDefault() // and switch automatic updates on
	fixed() bool // GOMAXPROCS is set in the environment
}

type goRuntime struct{}

func (goRuntime) get() int    { return runtime.GOMAXPROCS(0) }
func (goRuntime) set(n int)   { runtime.GOMAXPROCS(n) }
func (goRuntime) setDefault() { runtime.SetDefaultGOMAXPROCS() }
func (goRuntime) fixed() bool { return fixedAtStart }

// fixedAtStart is read once, as the runtime reads it: later changes of the program's environment have no effect.
var fixedAtStart = isFixed(os.Getenv("GOMAXPROCS"))

// isFixed reports whether the runtime takes the variable's value. The runtime ignores values that are not positive
// numbers.
func isFixed(env string) bool {
	n, err := strconv.ParseInt(env, 10, 32)
	return err == nil && n > 0
}
