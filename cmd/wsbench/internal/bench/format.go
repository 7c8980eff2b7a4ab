package bench

import (
	"fmt"
	"math"
)

// Significant formats a figure with three digits, or with all of those before the point.
func Significant(x float64) string {
	switch a := math.Abs(x); {
	case x == 0:
		return "0"
	case a < 0.001:
		return fmt.Sprintf("%.2g", x)
	case a < 1:
		return fmt.Sprintf("%.3f", x)
	case a < 10:
		return fmt.Sprintf("%.2f", x)
	case a < 100:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.0f", x)
	}
}
