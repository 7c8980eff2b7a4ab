package cluster

import (
	"cmp"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// ClientStats is what a client has counted since [NewClient]. Package metrics shows it.
type ClientStats struct {
	Local     uint64 // graphs that Run has run in this process
	Submitted uint64 // graphs that the queue has
	Refused   uint64 // calls of Submit that have returned an error
	Done      uint64 // runs that have ended with results, as Wait has seen
	Failed    uint64 // runs that have ended without, as Wait has seen

	Target time.Duration // ClientConfig.Target, or what was measured for it, or 0 if nothing was yet

	Submit Histogram // the time of a Submit that has returned a run
	Run    Histogram // from the end of Submit to that of the run, as Wait has seen it
}

// A clientCounts counts what a client does. Any thread.
type clientCounts struct {
	local, submitted, refused, done, failed atomic.Uint64
	submit, run                             times
}

// Stats returns what the client has counted. It costs no message.
func (c *Client) Stats() ClientStats {
	n := &c.counts
	return ClientStats{
		Local:     n.local.Load(),
		Submitted: n.submitted.Load(),
		Refused:   n.refused.Load(),
		Done:      n.done.Load(),
		Failed:    n.failed.Load(),
		Target:    cmp.Or(c.c.Target, c.target.now()),
		Submit:    n.submit.histogram(),
		Run:       n.run.histogram(),
	}
}

// ended counts the end of the run, once for each handle.
func (h *Handle) ended(s wire.State) {
	if h.counted.Swap(true) {
		return
	}
	n := &h.client.counts
	if s.Phase == wire.Done {
		n.done.Add(1)
	} else {
		n.failed.Add(1)
	}
	if !h.submitted.IsZero() {
		n.run.add(time.Since(h.submitted))
	}
}
