package spin

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRun: threads compute until the context ends, and use processor time. Meanwhile there is a P for each of them, and
// afterwards GOMAXPROCS is what it was.
func TestRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, threads := range []int{1, 3} {
		for wait := 20 * time.Millisecond; ; wait *= 2 {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan Usage)
			go func() { done <- Run(ctx, threads) }()
			for runtime.GOMAXPROCS(0) != 1+threads {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(wait)
			cancel()
			u := <-done
			require.Equal(t, 1, runtime.GOMAXPROCS(0))
			require.Equal(t, threads, u.Threads)
			require.LessOrEqual(t, u.CPU, time.Duration(threads)*u.Wall+100*time.Millisecond)
			// On a busy machine, with a coarse clock, it takes a while, and the threads begin late.
			if u.CPU > 0 && u.Rounds > 0 && u.Wall >= wait/2 {
				break
			}
			require.Less(t, wait, 30*time.Second)
		}
	}
}

// TestEnded: with a context that has ended, Run ends at once.
func TestEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, 2, Run(ctx, 2).Threads)
	require.Zero(t, spin(ended(), func() {}).Rounds)
}

func ended() *atomic.Bool {
	var b atomic.Bool
	b.Store(true)
	return &b
}

// TestRunRounds: the threads end by themselves when they have made the rounds, and few more.
func TestRunRounds(t *testing.T) {
	for _, threads := range []int{1, 3} {
		u := RunRounds(threads, 1000)
		require.Equal(t, threads, u.Threads)
		require.GreaterOrEqual(t, u.Rounds, uint64(1000))
		require.Positive(t, u.Wall)
	}
}
