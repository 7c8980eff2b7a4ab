package replay

import "strings"

// roles is document 004's Algorithm 2 without what its kernel does.
const roles = "mbws-role"

// byClock also yields to peers that were last on another CPU, and pulled moves these to the thief's.
const (
	byClock = "bws-clock"
	pulled  = "bws-pull"
)

// standIns are the policies with a stand-in each for the kernel of document 004, from the one that finds the fewest
// workers without a core.
var standIns = []string{balanced, byClock, pulled}

var standInsOf004 = &Experiment{
	ID: "004/stand-ins", Place: "Sections 4.1 and 4.2",
	About: "what stands for the kernel: none, the thief's own CPU, the peer's clock, and moving the peer's thread",
	Notes: document4 + " The document's kernel says whether a peer runs, and gives it the thief's core. bws-same sees a " +
		"peer that was last on the thief's own CPU, and yields. bws-clock also sees one whose CPU time stands still. " +
		"bws-pull moves the thread of such a peer to the thief's CPU, and gives that up: the closest to yield_to. At " +
		"default size these are 6 pairs.",
	plan: func(p *Plan) {
		planSolo(p, controlled004)
		planSolo(p, strings.Join([]string{roles, byClock, pulled}, ","))
		planPairs(p, ablationPairs(p), strings.Join(append([]string{roles, byClockAgain}, standIns...), ","))
	},
	figures: func(d *Data) []*Figure {
		return d.averages("004-stand-ins", "Stand-ins for the kernel", append([]string{roles}, standIns...),
			func(p string) string { return p })
	},
	printed: []printed{{figures: "004-stand-ins-*", says: "no such experiment: its kernel has what they stand for"}},
	columns: coColumns, metrics: coMetrics,
	claims: []*Claim{{
		ID: "004/stand-ins core", Place: "beyond the document",
		needs: aThief, baseline: "under=" + byClock,
		Says: "A stand-in is fair if the core goes to the peer that it found: bws-same and bws-pull are fairer than " +
			"bws-clock, whose yield may serve the other program, and have more throughput.",
		judge: func(d *Data) Verdict {
			unfair, weighted := d.meanUnfairness(byClock), d.meanWeighted(byClock)
			held, found := true, []string{}
			for _, policy := range append([]string{roles}, standIns...) {
				u, w := d.meanUnfairness(policy), d.meanWeighted(policy)
				if policy == balanced || policy == pulled {
					held = held && u < unfair && w > weighted
				}
				found = append(found, policy+" "+pct(u)+", "+significant(w))
			}
			return verdict(held, "unfairness and weighted speed-up: %s", strings.Join(found, "; "))
		},
	}},
}
