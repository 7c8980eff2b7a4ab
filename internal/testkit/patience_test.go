package testkit

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A patience is over once, after its time and a look, if no thread waits for a core meanwhile. On a busy machine it
// lasts longer, but not for ever.
func TestPatience(t *testing.T) {
	t.Setenv("MAGPIE_PATIENCE", "")
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		for p := newPatience(time.Minute); !p.over(); {
			time.Sleep(time.Second)
		}
		passed := time.Since(begin)
		require.GreaterOrEqual(t, passed, time.Minute+lookTime)
		require.LessOrEqual(t, passed, 11*time.Minute+time.Minute)
	})
	t.Setenv("MAGPIE_PATIENCE", "5s")
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		for p := newPatience(time.Minute); !p.over(); {
			time.Sleep(time.Second)
		}
		require.Equal(t, time.Minute, time.Since(begin))
	})
}
