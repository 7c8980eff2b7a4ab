/*
Package prom hands the metrics of executors to Prometheus.

	collector, err := prom.Register(prometheus.DefaultRegisterer, ex, prom.Options{})

The metrics are those of package metrics, which says what they mean. "/magpie/steals/won:steals" is
magpie_steals_won_total, "/magpie/workers/active:workers" is magpie_workers_active. Each has the label executor with the
executor's name, and those that are counted per worker have the label worker with the worker's number. [Dashboard] is a
dashboard for Grafana that shows them, and [Alerts] has rules. [Latencies] has histograms of runs and tasks, with their
outcomes.

The package is in a module of its own, so that other users of Magpie do not depend on the client library.
Its releases have the versions of Magpie's. A program requires both at the same one:

	go get github.com/magpie-go/magpie@latest github.com/magpie-go/magpie/executor/metrics/prom@latest

Until there is a release, a program needs a checkout of Magpie and two replace directives in its own go.mod, for
github.com/magpie-go/magpie and for this module: the directive in this module's go.mod has no effect there.
*/
package prom

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"weak"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/metrics"
	"github.com/prometheus/client_golang/prometheus"
)

//go:embed dashboard.json
var dashboard []byte

//go:embed alerts.yaml
var alerts []byte

// Dashboard returns a dashboard for Grafana as JSON, for Grafana's import. It shows the metrics of the executors that
// are chosen at its top.
func Dashboard() []byte { return slices.Clone(dashboard) }

// Alerts returns alerting rules for Prometheus as YAML, a file of rule_files.
func Alerts() []byte { return slices.Clone(alerts) }

// Options are the choices of a [Collector].
type Options struct {
	_ [0]func() // no comparisons, so that a field of any type may be added

	// Totals leaves the label worker out: each metric is the sum over all workers. It is for executors with so many
	// workers that there would be too many time series: there are nine for each worker. All collectors of one registry
	// must have the same Totals.
	Totals bool
}

// A Collector is a [prometheus.Collector] of the metrics of one executor. It does not keep the executor open: if the
// garbage collector closes an executor that nothing else refers to, the Collector has no metrics from then on. After
// Close it still has the last values. All methods may be called from any goroutine.
type Collector struct {
	name    string
	ex      weak.Pointer[executor.Executor]
	metrics []metric

	mu      sync.Mutex
	samples []metrics.Sample // of the same metrics
	workers []string         // values of the label worker
}

// A metric is a metric as Prometheus knows it.
type metric struct {
	desc      *prometheus.Desc
	kind      prometheus.ValueType
	perWorker bool
}

// NewCollector returns a Collector of ex. Most programs call [Register].
func NewCollector(ex *executor.Executor, opts Options) *Collector {
	c := &Collector{name: label(ex.Name()), ex: weak.Make(ex)}
	for _, d := range metrics.All() {
		m := metric{kind: prometheus.GaugeValue, perWorker: d.PerWorker && !opts.Totals}
		name := d.Identifier("_")
		if d.Cumulative {
			m.kind = prometheus.CounterValue
			name += "_total"
		}
		var labels []string
		if m.perWorker {
			labels = []string{"worker"}
		}
		m.desc = prometheus.NewDesc(name, d.Description, labels, prometheus.Labels{"executor": c.name})
		c.metrics = append(c.metrics, m)
		c.samples = append(c.samples, metrics.Sample{Name: d.Name})
	}
	return c
}

// Register registers a Collector of ex with reg. It returns an error if ex is registered with reg already, or if
// another executor with the same name is: the two would have the same time series. If the registered executor is closed
// or gone, the new Collector takes the place of the old one. To withdraw a Collector, call reg.Unregister.
func Register(reg prometheus.Registerer, ex *executor.Executor, opts Options) (*Collector, error) {
	c := NewCollector(ex, opts)
	err := reg.Register(c)
	var already prometheus.AlreadyRegisteredError
	var old *Collector
	if errors.As(err, &already) {
		old, _ = already.ExistingCollector.(*Collector)
		if old != nil && old.isOver() && reg.Unregister(old) {
			err = reg.Register(c)
		}
	}
	switch {
	case errors.As(err, &already) && old != nil && old.ex == c.ex:
		return nil, fmt.Errorf("prom: the executor %q is registered already: %w", c.name, err)
	case errors.As(err, &already):
		return nil, fmt.Errorf("prom: an executor named %q is registered already: give each executor a Config.Name of "+
			"its own, or unregister the other's collector: %w", c.name, err)
	case err != nil:
		return nil, fmt.Errorf("prom: cannot register the executor %q: %w", c.name, err)
	}
	return c, nil
}

// label returns name as the value of a label, which has to be UTF-8. A name may be none, as that of a file.
func label(name string) string { return strings.ToValidUTF8(name, "\ufffd") }

// isOver reports whether the executor is closed or gone.
func (c *Collector) isOver() bool {
	ex := c.ex.Value()
	return ex == nil || ex.Stats().Gauges.Closed
}

// Describe implements [prometheus.Collector].
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, m := range c.metrics {
		out <- m.desc
	}
}

// Collect implements [prometheus.Collector]. All values are from one snapshot.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	ex := c.ex.Value()
	if ex == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	metrics.Read(ex, c.samples)
	for i, m := range c.metrics {
		switch s := &c.samples[i]; {
		case s.Value.Kind() == metrics.KindBad:
		case !m.perWorker:
			out <- prometheus.MustNewConstMetric(m.desc, m.kind, s.Value.Float())
		default:
			for id, v := range s.Workers {
				out <- prometheus.MustNewConstMetric(m.desc, m.kind, v.Float(), c.worker(id))
			}
		}
	}
}

// worker returns the value of the label worker. The caller holds mu.
func (c *Collector) worker(id int) string {
	for len(c.workers) <= id {
		c.workers = append(c.workers, strconv.Itoa(len(c.workers)))
	}
	return c.workers[id]
}
