package park_test

import (
	"testing"

	"github.com/magpie-go/magpie/internal/park"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestLongParker: a permission is kept until it is taken, two are one, and what was written before an Unpark is seen
// after the Park.
func TestLongParker(t *testing.T) {
	testkit.Within(t, testkit.Patience, func() {
		var here, there park.LongParker
		here.Unpark()
		here.Unpark()
		here.Park()
		message := 0
		const rounds = 1000
		wait := onThread(func() {
			for range rounds {
				here.Park()
				message++
				there.Unpark()
			}
		})
		for round := range rounds {
			here.Unpark()
			there.Park()
			require.Equal(t, round+1, message)
		}
		wait()
	})
}
