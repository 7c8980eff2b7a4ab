package executor_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/osthread"
)

// TestLongStintTakesPs: once a worker has been awake for long, GOMAXPROCS rises by the number of workers, until Close.
func TestLongStintTakesPs(t *testing.T) {
	own := runtime.GOMAXPROCS(0)
	ex, err := executor.New(executor.Config{Workers: 3})
	require.NoError(t, err)
	within(t, ex, func() {
		// Not Wait, in which the caller would run the task.
		<-ex.Start(t.Context(), one(func(context.Context) error {
			for runtime.GOMAXPROCS(0) != own+4 { // so that the worker stays awake
			}
			return nil
		})).Done()
	})
	require.NoError(t, ex.Close())
	require.Equal(t, own, runtime.GOMAXPROCS(0))
}

// TestCloseBeforeLongStint: Ps that were asked for just before Close are not taken after it.
func TestCloseBeforeLongStint(t *testing.T) {
	defer executor.SetLongStint(time.Hour)()
	own := runtime.GOMAXPROCS(0)
	ex, err := executor.New(executor.Config{Workers: 1})
	require.NoError(t, err)
	require.NoError(t, ex.Close())
	ex.TakeRest()
	require.Equal(t, own, runtime.GOMAXPROCS(0))
}

// TestCloseEndsClaim: room is claimed for Ps that a long stint would take, until Close.
func TestCloseEndsClaim(t *testing.T) {
	defer executor.SetLongStint(time.Hour)()
	coming := osthread.ComingPs()
	ex, err := executor.New(executor.Config{Workers: 3})
	require.NoError(t, err)
	if runtime.GOOS == "linux" {
		require.Equal(t, coming+3, osthread.ComingPs())
	}
	require.NoError(t, ex.Close())
	require.Equal(t, coming, osthread.ComingPs())

	ex, err = executor.New(executor.Config{Workers: 3})
	require.NoError(t, err)
	ex.TakeRest()
	require.Equal(t, coming, osthread.ComingPs())
	require.NoError(t, ex.Close())
	require.Equal(t, coming, osthread.ComingPs())
}

// TestStints: looks find a worker awake for long if it has not slept between any two of them. Whether it has slept
// before the first does not matter, and neither does how long ago that was.
func TestStints(t *testing.T) {
	// Nobody else looks.
	ex := newExecutor(t, executor.Config{Workers: 1, Threads: host.Threads{OnlyBlocking: true}})
	look := ex.Looks()
	now := time.Now()
	after := func(d time.Duration) bool {
		now = now.Add(d)
		return look(now)
	}
	asleep := func() {
		t.Helper()
		eventually(func() bool { return ex.Parked() == 1 && ex.OnStack() })
	}
	// awake has the worker in a task until end is called.
	awake := func() (end func()) {
		var on, off atomic.Bool
		r := ex.Start(t.Context(), one(func(context.Context) error {
			on.Store(true)
			for !off.Load() {
				runtime.Gosched()
			}
			return nil
		}))
		eventually(on.Load)
		return func() {
			off.Store(true)
			require.NoError(t, r.Wait())
			asleep()
		}
	}
	const short = executor.LongStint / 10
	asleep()
	require.False(t, after(0))
	for range 3 {
		end := awake()
		require.False(t, after(2*executor.LongStint), "it slept at the look before")
		require.False(t, after(executor.LongStint-1), "not long enough")
		end()
		end = awake()
		require.False(t, after(short), "it has slept in between")
		require.False(t, after(short))
		end()
		require.False(t, after(executor.LongStint), "it sleeps")
	}
	end := awake()
	require.False(t, after(short))
	require.False(t, after(executor.LongStint/2))
	require.True(t, after(executor.LongStint/2))
	end()
	require.True(t, after(short), "once for all")
}

// TestStintOfCaller: a caller that computes for long in a worker's place does not count.
func TestStintOfCaller(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Threads: host.Threads{OnlyBlocking: true}})
	if !strings.Contains(dump(ex), "callers busy") {
		t.Skip("callers do not take part")
	}
	look := ex.Looks()
	now := time.Now()
	eventually(func() bool { return ex.Parked() == 1 && ex.OnStack() })

	var on, off atomic.Bool
	ran := make(chan error)
	go func() {
		ran <- ex.Run(t.Context(), one(func(context.Context) error {
			on.Store(true)
			for !off.Load() {
				runtime.Gosched()
			}
			return nil
		}))
	}()
	eventually(on.Load)
	for range 3 {
		now = now.Add(executor.LongStint)
		require.False(t, look(now), "a caller is in its place")
	}
	off.Store(true)
	require.NoError(t, <-ran)
}

// TestCrowd: looks find several callers by two runs in progress that are in no other, however many are in one of them.
func TestCrowd(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		ex := newExecutor(t, executor.Config{Workers: workers, Threads: host.Threads{OnlyBlocking: true}})
		off, begun := make(chan struct{}), make(chan struct{})
		wait := one(func(context.Context) error {
			<-off
			return nil
		})
		first := ex.Start(t.Context(), one(func(ctx context.Context) error {
			for range 10 {
				ex.Start(ctx, wait)
			}
			close(begun)
			<-off
			return nil
		}))
		<-begun
		now := time.Now() // of all looks, so that no stint is long
		look := ex.Looks()
		for range 100 {
			require.False(t, look(now), "runs in that of one caller")
		}
		second := ex.Start(t.Context(), wait)
		for n := 1; n < executor.CrowdLimit/executor.Crowded; n++ {
			require.False(t, look(now), "look %d", n)
		}
		require.True(t, look(now))
		close(off)
		require.NoError(t, first.Wait())
		require.NoError(t, second.Wait())
	}
}

// TestCrowdOfCallersAlone: several callers that have all workers' places need no more Ps.
func TestCrowdOfCallersAlone(t *testing.T) {
	const workers = 2
	ex := newExecutor(t, executor.Config{Workers: workers, Callers: executor.BusyCallers})
	look, now := ex.Looks(), time.Now()
	within(t, ex, func() {
		comesToRest(t, ex)
		var wg sync.WaitGroup
		var leaves [workers]func()
		for i := range leaves {
			leaves[i] = comeAndStay(t, ex, &wg)
		}
		for range 2 * executor.CrowdLimit {
			require.False(t, look(now))
		}
		for _, leave := range leaves {
			leave()
		}
		wg.Wait()
	})
}

// TestCrowdAtTimes: several callers at less than a quarter of the looks are not found.
func TestCrowdAtTimes(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Threads: host.Threads{OnlyBlocking: true}})
	look, now := ex.Looks(), time.Now()
	for range 100 {
		off := make(chan struct{})
		wait := one(func(context.Context) error {
			<-off
			return nil
		})
		first, second := ex.Start(t.Context(), wait), ex.Start(t.Context(), wait)
		require.False(t, look(now))
		close(off)
		require.NoError(t, first.Wait())
		require.NoError(t, second.Wait())
		for range executor.Crowded {
			require.False(t, look(now))
		}
	}
}
