package bench

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBall: a pass takes some time, and a game without another player ends.
func TestBall(t *testing.T) {
	var played ball
	done := make(chan struct{})
	go func() {
		defer close(done)
		played.answer()
	}()
	require.Positive(t, played.serve())
	<-done

	var alone ball
	require.GreaterOrEqual(t, alone.serve(), float64(gameLimit.Nanoseconds()), "the first pass has not come back")
	alone.answer()
	require.GreaterOrEqual(t, time.Since(alone.begin), gameLimit)
}
