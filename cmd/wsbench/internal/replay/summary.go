package replay

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// VerdictsFile is the name of the file with all verdicts in the directory of a replay.
const VerdictsFile = "verdicts.json"

// A tally counts the verdicts on some claims by what decided them.
type tally struct {
	Number, Title string // of a document
	N             int
	By            [len(deciders)]int
}

func (t *tally) add(v Verdict) {
	t.N++
	t.By[v.By]++
}

// summarize counts the verdicts, by document and in total.
func summarize(sections []*section) (all []tally, total tally) {
	for _, s := range sections {
		if n := len(all); n == 0 || all[n-1].Number != s.Document() {
			all = append(all, tally{Number: s.Document(), Title: documents[s.Document()]})
		}
		for _, j := range s.Judgements {
			all[len(all)-1].add(j.Verdict)
			total.add(j.Verdict)
		}
	}
	return all, total
}

// parts are the parts of a summary, with the deciders of each, in their order.
var parts = []struct {
	Title    string
	deciders []Decider
}{
	{"Reproduced exactly", []Decider{ByExact}},
	{"Measured", []Decider{ByMeasured, ByDocument, ByOurs}},
	{"What this machine cannot decide", []Decider{ByNoise, ByMachine}},
}

// A part of a summary has claims in groups, each with a reason.
type part struct {
	Title  string
	N      int
	Groups []*group
}

// A group are the claims with one reason for their verdicts.
type group struct {
	Reason string
	Claims []claimLink
}

type claimLink struct{ ID, Anchor string }

// partsOf puts the claims of sections into the parts of a summary. The claims that this machine cannot show are in one
// group for each thing that is missing, and all others in one for each decider.
func partsOf(sections []*section) (all []part) {
	for _, p := range parts {
		made := part{Title: p.Title}
		for _, by := range p.deciders {
			for _, s := range sections {
				for _, j := range s.Judgements {
					if j.By == by {
						made.add(j.reason(), claimLink{j.ID, s.Anchor()})
					}
				}
			}
		}
		all = append(all, made)
	}
	return all
}

func (p *part) add(reason string, c claimLink) {
	p.N++
	i := slices.IndexFunc(p.Groups, func(g *group) bool { return g.Reason == reason })
	if i < 0 {
		i = len(p.Groups)
		p.Groups = append(p.Groups, &group{Reason: reason})
	}
	p.Groups[i].Claims = append(p.Groups[i].Claims, c)
}

// reason returns what decided, and for a claim that this machine cannot show what is missing.
func (j judgement) reason() string {
	if j.By == ByMachine {
		return "cannot be shown without " + j.Why
	}
	return deciders[j.By].About
}

// Summary says in text what decided how many claims: first what was reproduced exactly, then what was measured, then
// what this machine cannot decide.
func (r *Replay) Summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d claims, by what decided them:\n", r.total.N)
	for by, n := range r.total.By {
		fmt.Fprintf(&b, "%4d  %-8s  %s\n", n, Decider(by), deciders[by].About)
	}
	return b.String()
}

// verdictsOf returns the verdicts on all claims as JSON.
func verdictsOf(sections []*section) ([]byte, error) {
	type claim struct {
		ID    string `json:"id"`
		Place string `json:"place"`
		Says  string `json:"says"`
		Cores int    `json:"needs_cores"`
		Verdict
	}
	all := []claim{}
	for _, s := range sections {
		for _, j := range s.Judgements {
			all = append(all, claim{j.ID, j.Place, j.Says, j.needs.cores, j.Verdict})
		}
	}
	text, err := json.MarshalIndent(all, "", "  ")
	return append(text, '\n'), err
}
