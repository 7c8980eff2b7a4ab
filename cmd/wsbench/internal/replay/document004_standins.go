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
		"default size these are 6 pairs. No claim is made: bws-clock was the least fair of " +
		"the three in the replay of 2026-11-27, and the fairest in that of the next day.",
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
}
