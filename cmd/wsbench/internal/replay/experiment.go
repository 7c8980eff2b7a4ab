package replay

import (
	"slices"
	"strings"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
)

// An Experiment repeats something that a document measured.
type Experiment struct {
	ID    string // document/name, as in "000/fig2"
	Place string // in the document
	About string // one line
	Notes string // how it differs from the document, for the report

	plan    func(*Plan)
	figures func(*Data) []*Figure
	printed []printed // what the document has of the figures
	columns []string  // of its table: settings, with a row for each combination
	metrics []metric  // further columns: the median, with the least and the most
	claims  []*Claim
}

// Experiments lists the experiments, in the order of the documents.
func Experiments() []*Experiment {
	return slices.Concat(document000, document001, document002, document003, document003Machine, document004)
}

// Document returns the number of the document.
func (e *Experiment) Document() string {
	document, _, _ := strings.Cut(e.ID, "/")
	return document
}

// Claims returns the claims of e.
func (e *Experiment) Claims() []*Claim { return e.claims }

// documents has the titles, by number.
var documents = map[string]string{
	"000": "Lin, Huang and Wong: An Efficient Work-Stealing Scheduler for Task Dependency Graph (2020)",
	"001": "Work Stealing Framework: centralised, per-thread and priority queues",
	"002": "Wang, Liu, Fu, Härtig and Chen: Work Stealing through Partial Asynchronous Delegation (2024)",
	"003": "Sen: Dynamic Processor Allocation for Adaptively Parallel Work-Stealing Jobs (2004)",
	"004": "Ding, Wang, Gibbons and Zhang: BWS: Balanced Work Stealing for Time-Sharing Multicores (2012)",
}

// Pick returns the experiments of these IDs, in the order of [Experiments]. "all" is every experiment, and the number
// of a document all of that document.
func Pick(ids []string) (picked []*Experiment, err error) {
	for _, id := range ids {
		known := id == "all"
		for _, e := range Experiments() {
			if id != "all" && id != e.ID && id != e.Document() {
				continue
			}
			known = true
			if !slices.Contains(picked, e) {
				picked = append(picked, e)
			}
		}
		if !known {
			return nil, input.Errorf("no experiment %q: %swsbench replay list has them, and there are all, %s",
				id, input.Meant(id, experimentIDs()), strings.Join(documentNumbers(), ", "))
		}
	}
	all := Experiments()
	slices.SortFunc(picked, func(a, b *Experiment) int { return slices.Index(all, a) - slices.Index(all, b) })
	return picked, nil
}

func experimentIDs() (all []string) {
	for _, e := range Experiments() {
		all = append(all, e.ID)
	}
	return all
}

func documentNumbers() (all []string) {
	for _, e := range Experiments() {
		if d := e.Document(); !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	return all
}

// Expect returns how long the measurements of e take, as far as is known before the first.
func (e *Experiment) Expect(o Options) (sum time.Duration) {
	for _, m := range e.measurements(o) {
		sum += m.Expect
	}
	return sum
}
