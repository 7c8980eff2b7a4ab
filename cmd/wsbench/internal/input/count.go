package input

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Count reads a whole number as people write large ones: 1000000, 1_000_000 or 1e6.
func Count(s string) (int, error) {
	plain := strings.ReplaceAll(s, "_", "")
	if n, err := strconv.Atoi(plain); err == nil {
		return n, nil
	}
	// 2^53 is the largest number up to which a float64 has all whole ones.
	f, err := strconv.ParseFloat(plain, 64)
	if err != nil || strings.ContainsAny(plain, "xX") || f != math.Trunc(f) || math.Abs(f) > min(1<<53, math.MaxInt) {
		return 0, fmt.Errorf("%q is no whole number", s)
	}
	return int(f), nil
}
