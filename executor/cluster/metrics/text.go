package metrics

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/magpie-go/magpie/executor/cluster"
)

// Handler serves the metrics of some sources in the text format of Prometheus.
func Handler(sources ...Source) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_ = Write(w, sources...) // an error is that of a scraper that has gone
	})
}

// Write writes the metrics of some sources in the text format of Prometheus.
func Write(w io.Writer, sources ...Source) error {
	type family struct {
		Metric
		lines bytes.Buffer
	}
	var order []*family
	families := map[string]*family{}
	for _, s := range sources {
		for _, m := range s.Read() {
			f := families[m.Name]
			if f == nil {
				f = &family{Metric: m}
				families[m.Name] = f
				order = append(order, f)
			}
			m.line(&f.lines, s.label+"="+quoted(s.name))
		}
	}
	var all bytes.Buffer
	for _, f := range order {
		fmt.Fprintf(&all, "# HELP %s %s\n# TYPE %s %s\n", f.Name, f.Description, f.Name, f.Kind)
		all.Write(f.lines.Bytes())
	}
	_, err := w.Write(all.Bytes())
	return err
}

// line writes the value of the metric with a label, or the several values of a histogram.
func (m *Metric) line(w io.Writer, label string) {
	if m.Kind != Histogram {
		fmt.Fprintf(w, "%s{%s} %d\n", m.Name, label, m.Value)
		return
	}
	sum := uint64(0)
	for i, n := range m.Histogram.Counts {
		bound := "+Inf"
		if i < len(m.Histogram.Counts)-1 {
			bound = seconds(cluster.HistogramBound(i).Seconds())
		}
		sum += n
		fmt.Fprintf(w, "%s_bucket{%s,le=%q} %d\n", m.Name, label, bound, sum)
	}
	fmt.Fprintf(w, "%s_sum{%s} %s\n", m.Name, label, seconds(m.Histogram.Sum.Seconds()))
	fmt.Fprintf(w, "%s_count{%s} %d\n", m.Name, label, sum)
}

func seconds(s float64) string { return strconv.FormatFloat(s, 'g', -1, 64) }
