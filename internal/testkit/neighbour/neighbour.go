// Package neighbour has tests of executors run beside a job that takes processors away and gives them back all the time.
package neighbour

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/gat"
)

// Beside returns cfg with a Share in a table of the test's own, if MAGPIE_SHARE=1, Workers is set and the system has
// tables. Until the test ends, another job of that table changes its desire at random, about once a millisecond.
func Beside(t testing.TB, cfg executor.Config) executor.Config {
	if os.Getenv("MAGPIE_SHARE") != "1" || runtime.GOOS != "linux" || cfg.Share != nil || cfg.Workers == 0 {
		return cfg
	}
	cfg.Share = Share(t, max(cfg.Workers, 2))
	return cfg
}

// Share returns a Share as Beside does, for so many processors.
func Share(t testing.TB, processors int) *executor.Share {
	t.Helper()
	const cycle = time.Millisecond
	path := filepath.Join(t.TempDir(), "table")
	job, err := gat.Join(path, processors, cycle, gat.Terms{Name: "neighbour"})
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		rng := rand.New(rand.NewPCG(1, 2))
		next := time.NewTimer(cycle) // one, since tests count allocations
		for {
			select {
			case <-stop:
				return
			case <-next.C:
				next.Reset(time.Duration(rng.IntN(int(2 * cycle))))
			}
			if _, err := job.Update(rng.IntN(processors+1), 0, 0); err != nil {
				t.Error(err)
				return
			}
		}
	})
	t.Cleanup(func() {
		close(stop)
		ended.Wait()
		if err := job.Leave(); err != nil {
			t.Error(err)
		}
	})
	return &executor.Share{Path: path, Processors: processors, Cycle: cycle}
}
