package replay

import (
	"encoding/json"
	"fmt"
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

// Summary says in text what decided how many claims. It begins with what was reproduced exactly, and goes on with what
// this machine cannot decide.
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
