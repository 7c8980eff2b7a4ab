package bench

import (
	"fmt"
	"math"

	"golang.org/x/perf/benchmath"
)

// spread formats a summary as in "10.2 ± 3%", without the interval if there are too few repetitions for one.
func spread(s benchmath.Summary) string {
	if math.IsInf(s.Hi, 0) {
		return significant(s.Center)
	}
	return fmt.Sprintf("%s ± %s", significant(s.Center), s.PctRangeString())
}

// significant formats a figure with three digits, or with all of those before the point.
func significant(x float64) string {
	switch {
	case x == 0:
		return "0"
	case x < 0.001:
		return fmt.Sprintf("%.2g", x)
	case x < 10:
		return fmt.Sprintf("%.2f", x)
	case x < 100:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.0f", x)
	}
}
