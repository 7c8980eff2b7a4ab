package bench

import (
	"fmt"

	"github.com/magpie-go/magpie/executor"
)

// PeerFigures say how often thieves under a policy of the name bws-… took a busy worker for one without a core, how often
// they were wrong by the kernel's records, and what they did.
type PeerFigures struct {
	SameCPU      AnswerFigures `json:"same_cpu"`
	StoppedClock AnswerFigures `json:"stopped_clock"`
	Yields       uint64        `json:"yields"`
	Pulls        uint64        `json:"pulls"`
	PullsRefused uint64        `json:"pulls_refused"`
}

// AnswerFigures are executor.Answers.
type AnswerFigures struct {
	Asked         uint64 `json:"asked"`
	Preempted     uint64 `json:"preempted"`
	Checked       uint64 `json:"checked"`
	FalsePositive uint64 `json:"false_positive"`
	FalseNegative uint64 `json:"false_negative"`
	Blocked       uint64 `json:"blocked"`
	Unknown       uint64 `json:"unknown"`
}

// peerFigures returns the figures of p, or nil if no thief has asked.
func peerFigures(p executor.PeerStats) *PeerFigures {
	if p.SameCPU.Asked+p.StoppedClock.Asked == 0 {
		return nil
	}
	return &PeerFigures{
		AnswerFigures(p.SameCPU), AnswerFigures(p.StoppedClock), p.Yields, p.Pulls, p.PullsRefused,
	}
}

// metrics are the figures in the Go benchmark format. Shares are shares of 1.
func (p *PeerFigures) metrics() []Metric {
	all := []Metric{
		{"peers-asked", float64(p.SameCPU.Asked + p.StoppedClock.Asked)},
		{"peers-preempted", p.preempted()},
		{"peer-yields", float64(p.Yields)},
		{"peer-pulls", float64(p.Pulls)},
		{"peer-pulls-refused", float64(p.PullsRefused)},
	}
	if p.SameCPU.Checked > 0 {
		all = append(all, Metric{"same-cpu-wrong", p.SameCPU.wrong()})
	}
	if p.StoppedClock.Checked > 0 {
		all = append(all, Metric{"clock-wrong", p.StoppedClock.wrong()})
	}
	return all
}

// preempted returns the share of answers by which a busy worker had no core.
func (p *PeerFigures) preempted() float64 {
	asked := p.SameCPU.Asked + p.StoppedClock.Asked
	return float64(p.SameCPU.Preempted+p.StoppedClock.Preempted) / float64(max(1, asked))
}

// wrong returns the share of answers that the kernel's records contradict, among those that they could judge.
func (a AnswerFigures) wrong() float64 {
	return float64(a.FalsePositive+a.FalseNegative+a.Blocked) / float64(max(1, a.Checked))
}

// peerColumns are columns of the table of runs: sums of all repetitions, not medians.
var peerColumns = []textColumn{
	{"no core", true, "", ofPeers(func(p *PeerFigures) string { return percent(p.preempted()) })},
	{"CPU wrong", true, "", ofPeers(func(p *PeerFigures) string { return p.SameCPU.errors() })},
	{"clock wrong", true, "", ofPeers(func(p *PeerFigures) string { return p.StoppedClock.errors() })},
	{"yields", true, "", ofPeers(func(p *PeerFigures) string { return whole(float64(p.Yields)) })},
	{"pulls", true, "", ofPeers(func(p *PeerFigures) string { return whole(float64(p.Pulls)) })},
}

// ofPeers returns the value of a column: that of all repetitions together.
func ofPeers(figure func(*PeerFigures) string) func(*group, []*group) string {
	return func(g *group, _ []*group) string {
		var sum PeerFigures
		asked := false
		for _, r := range g.reps {
			if r.Peers != nil {
				sum.add(r.Peers)
				asked = true
			}
		}
		if !asked {
			return None
		}
		return figure(&sum)
	}
}

func (p *PeerFigures) add(b *PeerFigures) {
	p.SameCPU.add(b.SameCPU)
	p.StoppedClock.add(b.StoppedClock)
	p.Yields += b.Yields
	p.Pulls += b.Pulls
	p.PullsRefused += b.PullsRefused
}

func (a *AnswerFigures) add(b AnswerFigures) {
	a.Asked += b.Asked
	a.Preempted += b.Preempted
	a.Checked += b.Checked
	a.FalsePositive += b.FalsePositive
	a.FalseNegative += b.FalseNegative
	a.Blocked += b.Blocked
	a.Unknown += b.Unknown
}

// errors returns the shares of wrong answers: "no core" of a thread that ran, "a core" of one that waited for it, and "no
// core" of one that slept.
func (a AnswerFigures) errors() string {
	if a.Checked == 0 {
		return None
	}
	share := func(n uint64) string { return percent(float64(n) / float64(a.Checked)) }
	return fmt.Sprintf("+%s -%s ~%s", share(a.FalsePositive), share(a.FalseNegative), share(a.Blocked))
}

func percent(share float64) string { return fmt.Sprintf("%.3g%%", 100*share) }
