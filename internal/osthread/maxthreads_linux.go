package osthread

import (
	"math"
	"runtime/debug"
	"sync"
)

var asking sync.Mutex

// maxThreads is the number of threads at which the Go runtime ends the process, 10000 unless the program set another.
// It can be read only by setting it. The value set for a moment is the largest there is, as one below the number of
// threads would end the process at once. Two that ask must not meet: the second would take the first's value for the
// program's, and leave it.
func maxThreads() int64 {
	asking.Lock()
	defer asking.Unlock()
	n := debug.SetMaxThreads(math.MaxInt32)
	debug.SetMaxThreads(n)
	return int64(n)
}
