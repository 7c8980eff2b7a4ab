package replay

import "strings"

// roles is document 004's Algorithm 2 without what its kernel does.
const roles = "mbws-role"

// standIns are the policies with a stand-in each for the kernel of document 004, from the one that finds the fewest
// workers without a core.
var standIns = []string{"bws-same", balanced, "bws-pull"}

var standInsOf004 = &Experiment{
	ID: "004/stand-ins", Place: "Sections 4.1 and 4.2",
	About: "what stands for the kernel: none, the thief's own CPU, the peer's clock, and moving the peer's thread",
	Notes: document4 + " The document's kernel says whether a peer runs, and gives it the thief's core. bws-same sees a " +
		"peer that was last on the thief's own CPU, and yields. bws-clock also sees one whose CPU time stands still. " +
		"bws-pull moves the thread of such a peer to the thief's CPU, and gives that up: the closest to yield_to. At " +
		"default size these are 6 pairs.",
	plan: func(p *Plan) {
		planSolo(p, controlled004)
		planSolo(p, strings.Join([]string{roles, standIns[0], standIns[2]}, ","))
		planPairs(p, ablationPairs(p), strings.Join(append([]string{roles, rolesAgain}, standIns...), ","))
	},
	figures: func(d *Data) []*Figure {
		return d.averages("004-stand-ins", "Stand-ins for the kernel", append([]string{roles}, standIns...),
			func(p string) string { return p })
	},
	printed: []printed{{figures: "004-stand-ins-*", says: "no such experiment: its kernel has what they stand for"}},
	columns: coColumns, metrics: coMetrics,
	claims: []*Claim{{
		ID: "004/stand-ins unfairness", Place: "beyond the document",
		needs: aThief, baseline: "under=" + roles,
		Says: "With each stand-in the average unfairness is less than without any.",
		judge: func(d *Data) Verdict {
			none := d.meanUnfairness(roles)
			held, found := true, []string{}
			for _, policy := range append([]string{roles}, standIns...) {
				unfair := d.meanUnfairness(policy)
				held = held && (policy == roles || unfair < none)
				found = append(found, policy+" "+pct(unfair)+", "+significant(d.meanWeighted(policy)))
			}
			return verdict(held, "unfairness and weighted speed-up: %s", strings.Join(found, "; "))
		},
	}},
}
