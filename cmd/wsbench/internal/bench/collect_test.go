package bench

import "github.com/magpie-go/magpie/internal/testkit"

// Quick tests collect no garbage before their measurements.
func init() {
	if testkit.Quick() {
		Collect = func() {}
	}
}
