package bench

import (
	"fmt"

	"github.com/magpie-go/magpie/executor/experiment"
)

// PeerFigures say how often thieves under a policy of the name bws-… took a busy worker for one without a core, how
// often they were wrong by the kernel's records, and what they did.
type PeerFigures struct {
	SameCPU      AnswerFigures `json:"same_cpu"`
	StoppedClock AnswerFigures `json:"stopped_clock"`
	Yields       uint64        `json:"yields"`
	Pulls        uint64        `json:"pulls"`
	PullsRefused uint64        `json:"pulls_refused"`
}

// AnswerFigures are experiment.Answers.
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
func peerFigures(p experiment.PeerStats) *PeerFigures {
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

// wrong returns the share of answers that the kernel's records contradict, among those that they could judge. It is not
// a number if they could judge none.
func (a AnswerFigures) wrong() float64 {
	return float64(a.FalsePositive+a.FalseNegative+a.Blocked) / float64(a.Checked)
}

// peerColumns are columns of the table of runs. Figures are of the repetitions in which they are known: thieves have
// asked, and a share is one of something.
var peerColumns = []textColumn{
	figureColumn("no core", "peers-preempted", percent),
	figureColumn("CPU wrong", "same-cpu-wrong", percent),
	figureColumn("clock wrong", "clock-wrong", percent),
	figureColumn("yields", "peer-yields", whole),
	figureColumn("pulls", "peer-pulls", whole),
}

func percent(share float64) string { return fmt.Sprintf("%.3g%%", 100*share) }
