package jet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSkew: how old a message is does not depend on how far the clock of the server is from that of the worker.
func TestSkew(t *testing.T) {
	for _, skew := range []time.Duration{0, -30 * 24 * time.Hour, 30 * 24 * time.Hour} {
		var c clock
		server := time.Now().Add(skew)
		c.set(server)
		before := time.Now()
		old, young := c.since(server.Add(-time.Hour)), c.since(server.Add(time.Hour))
		took := time.Since(before) + time.Since(server.Add(-skew))
		require.GreaterOrEqual(t, old, time.Hour)
		require.LessOrEqual(t, old, time.Hour+took)
		require.Zero(t, young, "a message of a time to come is not of a negative age")
	}
}
