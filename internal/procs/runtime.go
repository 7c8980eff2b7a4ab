package procs

import (
	"os"
	"runtime"
	"strconv"
)

// runtimeProcs is what the ledger needs of the runtime; tests have another. A set or setDefault that changes something
// stops the world.
type runtimeProcs interface {
	get() int
	set(n int)
	setDefault() // and switch automatic updates on
	fixed() bool // GOMAXPROCS stands in the environment
}

type goRuntime struct{}

func (goRuntime) get() int    { return runtime.GOMAXPROCS(0) }
func (goRuntime) set(n int)   { runtime.GOMAXPROCS(n) }
func (goRuntime) setDefault() { runtime.SetDefaultGOMAXPROCS() }
func (goRuntime) fixed() bool { return fixedAtStart }

// fixedAtStart is read once, as the runtime does: what the program puts into its environment later changes nothing.
var fixedAtStart = isFixed(os.Getenv("GOMAXPROCS"))

// isFixed reports whether the runtime takes the variable's value. It passes over what is not a positive number.
func isFixed(env string) bool {
	n, err := strconv.ParseInt(env, 10, 32)
	return err == nil && n > 0
}
