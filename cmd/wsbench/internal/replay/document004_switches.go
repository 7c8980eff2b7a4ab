package replay

import (
	"fmt"
	"strings"
)

// perRun returns the mean of a figure of a repetition of both programs of a co-run: a program that is faster has more
// repetitions, and counts no more.
func (d *Data) perRun(co, policy, figure string) (sum float64) {
	a, b := names(co)
	for _, name := range []string{a, b} {
		sum += d.where("co=%s under=%s workload=%s", co, policy, name).stat(figure).Mean
	}
	return sum
}

// recorded reports whether the switches of all co-runs were recorded.
func (d *Data) recorded() bool {
	found := false
	for _, r := range d.Rows {
		if r.Value("under") == "" {
			continue
		}
		if _, found = r.Figure("switches"); !found {
			return false
		}
	}
	return found
}

// lostRecords returns a remark if some records were lost.
func (d *Data) lostRecords() string {
	lost, n := 0, 0
	for _, r := range d.Rows {
		if records, ok := r.Figure("lost-switch-records"); ok {
			n++
			if records > 0 {
				lost++
			}
		}
	}
	if lost == 0 {
		return ""
	}
	return fmt.Sprintf("; some records were lost in %d of %d repetitions", lost, n)
}

// needsRecords judges only by the kernel's records of the switches.
func needsRecords(judge func(*Data) Verdict) func(*Data) Verdict {
	return func(d *Data) Verdict {
		if d.recorded() {
			return judge(d)
		}
		needs := "the kernel's switch records of all co-runs"
		if len(d.Unrecorded) > 0 {
			needs += ": " + strings.Join(d.Unrecorded, "; ")
		}
		return cannotShow("the kernel's counts of voluntary and involuntary switches only", needs)
	}
}
