package waited

import (
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/stretchr/testify/require"
)

// More threads than there are CPUs wait for one now and then.
func TestForCores(t *testing.T) {
	cpus, err := osthread.CPUs()
	require.NoError(t, err)
	before := ForCores()
	stop := make(chan struct{})
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			osthread.Lock() // never unlocked: the thread ends with its CPU set
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
	close(stop)
	all.Wait()
}
