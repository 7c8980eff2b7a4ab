package replay

import (
	"fmt"
	"math"
	"strings"
)

// verdict returns a verdict with what was found.
func verdict(held bool, found string, args ...any) Verdict {
	outcome := NotHeld
	if held {
		outcome = Held
	}
	return Verdict{Outcome: outcome, Found: fmt.Sprintf(found, args...)}
}

// cannotShow returns the verdict on a claim about which this machine says nothing.
func cannotShow(found, why string) Verdict {
	return Verdict{Outcome: CannotShow, Found: found, Why: why}
}

// ratio returns how many times larger a is than b, in figures for people.
func ratio(a, b float64) string { return significant(a/b) + "×" }

// percent returns by how much a is more than b.
func percent(a, b float64) string { return fmt.Sprintf("%+.0f %%", 100*(a/b-1)) }

// ms returns nanoseconds as milliseconds.
func ms(ns float64) string { return significant(ns/1e6) + " ms" }

// curve returns the medians of a figure by a setting that is a number, as in "1: 2.50, 2: 3.00".
func (d *Data) curve(setting, figure string, scale float64) string {
	var all []string
	for _, v := range d.values(setting) {
		all = append(all, v+": "+significant(scale*d.median(figure, "%s=%s", setting, v)))
	}
	return strings.Join(all, ", ")
}

// extremes returns the least and the most median of a figure over the values of a setting from first on. first is an
// index.
func (d *Data) extremes(setting, figure string, first int) (least, most float64) {
	least, most = math.NaN(), math.NaN()
	for i, v := range d.values(setting) {
		if i < first {
			continue
		}
		m := d.median(figure, "%s=%s", setting, v)
		if math.IsNaN(least) {
			least, most = m, m
		}
		least, most = min(least, m), max(most, m)
	}
	return least, most
}

// each returns the medians of a figure by a setting, as in "abp 1.90, adaptive 1.00".
func (d *Data) each(setting, figure string, scale float64) string {
	var all []string
	for _, v := range d.values(setting) {
		all = append(all, v+" "+significant(scale*d.median(figure, "%s=%s", setting, v)))
	}
	return strings.Join(all, ", ")
}

// last returns the largest value of a setting that is a number.
func (d *Data) last(setting string) string {
	all := d.values(setting)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}
