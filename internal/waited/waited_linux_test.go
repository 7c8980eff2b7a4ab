package waited

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// More threads than there are CPUs wait for one now and then. What they have waited is not forgotten at their end.
func TestForCores(t *testing.T) {
	cpus, err := osthread.CPUs()
	require.NoError(t, err)
	before := ForCores()
	stop := make(chan struct{})
	var all sync.WaitGroup
	ids := make(chan int, 2)
	for range 2 {
		all.Go(func() {
			osthread.Lock() // never unlocked: the thread ends with its CPU set
			ids <- unix.Gettid()
			if err := osthread.SetCPUs(cpus[:1]); err != nil {
				t.Error(err)
			}
			for {
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for ForCores()-before < time.Millisecond {
		time.Sleep(time.Millisecond)
	}
	waited := ForCores()
	close(stop)
	all.Wait()
	for range cap(ids) {
		id := <-ids
		if id == os.Getpid() {
			continue // the runtime keeps the first thread
		}
		thread := fmt.Sprintf("/proc/self/task/%d", id)
		for _, err := os.Stat(thread); err == nil; _, err = os.Stat(thread) {
			time.Sleep(time.Millisecond)
		}
	}
	require.GreaterOrEqual(t, ForCores(), waited)
}
