//go:build unix

package cluster_test

import (
	"fmt"
	"sync"

	"github.com/magpie-go/magpie/executor/cluster"
)

// A tally counts the graphs and the faults of a plan. A graph and a fault have met if each has begun before the other
// was over. Faults come one at a time. Any thread, but its fields are read when all is over.
type tally struct {
	mu          sync.Mutex
	begun, done int // graphs
	ends        map[cluster.Reason]int
	faults      int // that have begun
	repaired    int // faults that are over
	vain        int // of these, those that no graph has met
	met         int // graphs that met a fault
	meetings    int
}

func newTally() *tally { return &tally{ends: map[cluster.Reason]int{}} }

// graph notes that a graph begins. over is called when it has ended, with the reason if it has failed.
func (c *tally) graph() (over func(cluster.Reason)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun++
	earlier := c.repaired
	return func(end cluster.Reason) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.done++
		c.ends[end]++
		if c.faults > earlier {
			c.met++
		}
	}
}

// fault notes that a fault begins. over is called when it is repaired.
func (c *tally) fault() (over func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults++
	earlier := c.done
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.repaired++
		c.meetings += c.begun - earlier
		if c.begun == earlier {
			c.vain++
		}
	}
}

// graphsOver returns how many graphs have ended.
func (c *tally) graphsOver() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done
}

// faultsOver returns how many faults there were.
func (c *tally) faultsOver() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.repaired
}

func (c *tally) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	ends := ""
	for end, n := range c.ends {
		if end != "" {
			ends += fmt.Sprintf(", %d %s", n, end)
		}
	}
	each := float64(c.meetings) / float64(max(c.repaired, 1))
	return fmt.Sprintf("%d graphs%s; %d met a fault; %d faults, each met by %.0f graphs", c.done, ends, c.met, c.faults,
		each)
}
