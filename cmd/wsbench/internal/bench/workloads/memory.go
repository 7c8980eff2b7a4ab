package workloads

import (
	"fmt"
	"math"

	"github.com/magpie-go/magpie/internal/osthread"
)

// Available returns how much memory may be used, in bytes. It is at most the addressable memory, which is also the
// result if the rest is unknown.
func Available() float64 {
	if a := osthread.AvailableMemory(); a > 0 {
		return min(float64(a), math.MaxInt)
	}
	return math.MaxInt
}

// GiB formats a number of bytes.
func GiB(bytes float64) string { return fmt.Sprintf("%.1f GiB", bytes/(1<<30)) }
