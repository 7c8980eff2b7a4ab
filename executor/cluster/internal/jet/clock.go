package jet

import (
	"sync"
	"time"
)

// A clock is the clock of the server, as far as it is known: the time in an answer of the server, and how long ago by
// the own monotonic clock the answer came. It is late by the way of the answer, and never early.
type clock struct {
	mu     sync.Mutex
	server time.Time
	at     time.Time
}

// set notes the time in an answer that has just come.
func (c *clock) set(server time.Time) {
	if server.IsZero() { // an old server
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server, c.at = server, time.Now()
}

// since is how long ago t was by the clock of the server, at least.
func (c *clock) since(t time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(0, c.server.Add(time.Since(c.at)).Sub(t))
}
