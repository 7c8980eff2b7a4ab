package metrics

import "encoding/json"

// A Var shows the metrics of some sources in package [expvar]. It implements [expvar.Var].
//
// Package metrics does not import expvar, which registers an HTTP handler when it is imported.
type Var struct{ sources []Source }

// NewVar returns a Var of some sources.
func NewVar(sources ...Source) *Var { return &Var{sources} }

// A summary is what a Var shows of a histogram, in seconds.
type summary struct {
	Count              uint64
	Sum, P50, P90, P99 float64
}

// String returns a JSON object: for each source, under its label and name as in "worker/w1", its metrics. Of a
// histogram it has the count, the sum, and bounds of quantiles.
func (v *Var) String() string {
	all := map[string]map[string]any{}
	for _, s := range v.sources {
		one := map[string]any{}
		for _, m := range s.Read() {
			if m.Kind != Histogram {
				one[m.Name] = m.Value
				continue
			}
			quantile := func(q float64) float64 { return m.Histogram.Quantile(q).Seconds() }
			one[m.Name] = summary{m.Histogram.Count(), m.Histogram.Sum.Seconds(), quantile(0.5), quantile(0.9),
				quantile(0.99)}
		}
		all[s.label+"/"+s.name] = one
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err) // no metric is infinite
	}
	return string(text)
}
