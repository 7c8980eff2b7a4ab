package executor

import (
	"time"

	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/internal/policy"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/peer"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A peerThread is a worker's thread under a policy whose thieves ask whether the threads of busy workers have a core:
// as the other workers ask about it, and as it asks about theirs.
type peerThread struct {
	thread  peer.Thread
	checked bool                           // Experiment.CheckPeers
	record  xatomic.Pointer[peer.Recorder] // of the thread; nil if there is none, or none is permitted
	counts  experiment.PeerStats           // owner only
	seen    [peerWords]xatomic.Tell64      // a copy of counts, made by publishCounts
}

// newPeerThread returns that of a worker; nil if the policy needs none.
func newPeerThread(c *chosen) *peerThread {
	if c.attachPeers == nil {
		return nil
	}
	return &peerThread{checked: c.CheckPeers}
}

func attachPeers(on *attachments) {
	on.host = func(w *Worker, h policy.Host) policy.Host { return peerHost{h, w} }
	on.occupied.add(func(w *Worker) { partsOf(w).peer.enter() })
	on.vacated.add(func(w *Worker) { partsOf(w).peer.leave() })
	on.published.add(func(w *Worker) { partsOf(w).peer.publish() })
}

// enter makes the calling thread the worker's. Without the kernel's help, which New has found to be there, thieves take
// the worker for one that runs.
func (p *peerThread) enter() {
	_ = p.thread.Enter()
	if p.checked {
		if r, err := peer.Record(osthread.ID()); err == nil {
			p.record.Store(r)
		}
	}
}

// leave undoes enter. The worker's thread only.
func (p *peerThread) leave() {
	if r := p.record.Swap(nil); r != nil {
		_ = r.Close()
	}
	p.thread.Leave()
}

// stillTime is how long a clock is watched. A thread that runs for so long advances it.
const stillTime = 2 * time.Microsecond

// stands reports whether the thread has used no processor time for a while.
func (p *peerThread) stands() bool {
	before, ok := p.thread.Clock()
	if !ok {
		return false
	}
	for start := time.Now(); time.Since(start) < stillTime; {
	}
	after, ok := p.thread.Clock()
	return ok && after == before
}

// A peerHost shows a worker to a policy that asks about the other workers' threads.
type peerHost struct {
	policy.Host
	w *Worker
}

var _ policy.PeerHost = peerHost{}

// Preempted implements policy.PeerHost.
func (h peerHost) Preempted(victim int, sign policy.Sign) bool {
	me, v := partsOf(h.w).peer, partsOf(h.w.core.roster[victim]).peer
	ask := func() bool {
		if sign == policy.StoppedClock {
			return v.stands()
		}
		return me.thread.SharesCPU(&v.thread)
	}
	c := (*peer.Counts)(&me.counts.SameCPU)
	if sign == policy.StoppedClock {
		c = (*peer.Counts)(&me.counts.StoppedClock)
	}
	if me.checked {
		return v.record.Load().Check(c, ask)
	}
	said := ask()
	c.Count(said)
	return said
}

// YieldTo implements policy.PeerHost. The kernel chooses among all threads that wait for the CPU.
func (h peerHost) YieldTo(int) {
	partsOf(h.w).peer.counts.Yields++
	osthread.Yield()
}

// Pull implements policy.PeerHost.
func (h peerHost) Pull(victim int) bool {
	me, v := partsOf(h.w).peer, partsOf(h.w.core.roster[victim]).peer
	if me.thread.Pull(&v.thread) != nil {
		me.counts.PullsRefused++
		return false
	}
	me.counts.Pulls++
	return true
}

// peerWords is the number of words of an [experiment.PeerStats].
const peerWords = 2*7 + 3

// wordsOf returns the words of s.
func wordsOf(s *experiment.PeerStats) [peerWords]*uint64 {
	a, b := &s.SameCPU, &s.StoppedClock
	return [...]*uint64{
		&a.Asked, &a.Preempted, &a.Checked, &a.FalsePositive, &a.FalseNegative, &a.Blocked, &a.Unknown,
		&b.Asked, &b.Preempted, &b.Checked, &b.FalsePositive, &b.FalseNegative, &b.Blocked, &b.Unknown,
		&s.Yields, &s.Pulls, &s.PullsRefused,
	}
}

// addPeers adds b to s, factor times.
func addPeers(s *experiment.PeerStats, b experiment.PeerStats, factor uint64) {
	from := wordsOf(&b)
	for i, to := range wordsOf(s) {
		*to += factor * *from[i]
	}
}

// publish copies the counts for other threads. Owner only.
func (p *peerThread) publish() {
	for i, n := range wordsOf(&p.counts) {
		if to := &p.seen[i]; to.Load() != *n { // as in publishCounts
			to.Store(*n)
		}
	}
}

// snapshot returns what was published last. Any thread.
func (p *peerThread) snapshot() (s experiment.PeerStats) {
	if p == nil {
		return s
	}
	for i, n := range wordsOf(&s) {
		*n = p.seen[i].Load()
	}
	return s
}
