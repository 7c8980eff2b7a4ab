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

	"github.com/magpie-go/magpie/internal/gat"
)

// Cycle is how often the job changes its desire, about.
const Cycle = time.Millisecond

// IsWanted reports whether executors of tests are to have a neighbour, and the system has tables: MAGPIE_SHARE=1.
func IsWanted() bool { return os.Getenv("MAGPIE_SHARE") == "1" && runtime.GOOS == "linux" }

// Table returns the path of a table of the test's own, for so many processors. Until the test ends, a job of that table
// changes its desire at random.
func Table(t testing.TB, processors int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table")
	job, err := gat.Join(path, processors, Cycle, gat.Terms{Name: "neighbour"})
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		rng := rand.New(rand.NewPCG(1, 2))
		next := time.NewTimer(Cycle) // one, since tests count allocations
		for {
			select {
			case <-stop:
				return
			case <-next.C:
				next.Reset(time.Duration(rng.IntN(int(2 * Cycle))))
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
	return path
}
