package replay

import (
	"strconv"
)

// The experiments of document 000: its schedulers are ours (its Algorithms 1 to 5, policy adaptive-published), MBWS and
// ABP. Policy adaptive is what has become of the published one.
var document000 = []*Experiment{fig2, table1, fig4, fig5Energy, fig5CoRun, lemma2}

const (
	ours        = "adaptive-published"
	policies000 = ours + ",adaptive,mbws,abp," + abpAgain
)

// allCores returns the largest number of workers for which there are cores. The document has no more.
func (d *Data) allCores() (largest string) {
	for _, v := range d.values("workers") {
		if n, err := strconv.Atoi(v); err == nil && n <= d.Env.Cores {
			largest = v
		}
	}
	return largest
}
