/*
Package otel hands the metrics of executors to OpenTelemetry, and makes spans and histograms of
their runs and tasks, see [Spans] and [Latencies].

	registration, err := otel.Register(ex, otel.Options{})

The metrics are those of package metrics, which says what they mean. "/magpie/steals/won:steals" is the instrument
magpie.steals.won, with the unit {steals}. Each has the attribute executor with the executor's name, and those that are
counted per worker have the attribute worker with the worker's number. Counters are observable counters, the others are
observable gauges. They are read when the SDK collects, and cost nothing otherwise.

The package is in a module of its own, so that other users of Magpie do not depend on OpenTelemetry.
Its releases have the versions of Magpie's. A program requires both at the same one:

	go get github.com/magpie-go/magpie@latest github.com/magpie-go/magpie/executor/metrics/otel@latest

Until there is a release, a program needs a checkout of Magpie and two replace directives in its own go.mod, for
github.com/magpie-go/magpie and for this module: the directive in this module's go.mod has no effect there.
*/
package otel

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"weak"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/metrics"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// ScopeName is the name of the instrumentation scope.
const ScopeName = "github.com/magpie-go/magpie/executor/metrics/otel"

// Options are the choices of a [Registration].
type Options struct {
	_ [0]func() // no comparisons, so that a field of any type may be added

	// Provider makes the instruments. nil means the global provider.
	Provider metric.MeterProvider
	// Totals leaves the attribute worker out: each metric is the sum over all workers. It is for executors with so many
	// workers that there would be too many time series: there are nine for each worker.
	Totals bool
}

// A Registration reports the metrics of one executor. It does not keep the executor open: if the garbage collector
// closes an executor that nothing else refers to, the Registration reports nothing from then on. After Close it still
// reports the last values, until it is unregistered. All methods may be called from any goroutine.
type Registration struct {
	name     string
	ex       weak.Pointer[executor.Executor]
	provider metric.MeterProvider
	callback metric.Registration

	instruments []instrument
	set         attribute.Set // executor
	mu          sync.Mutex
	samples     []metrics.Sample           // of the same metrics
	workers     []metric.MeasurementOption // executor and worker, by worker ID
}

// An instrument is a metric as OpenTelemetry knows it. Either whole or real is set.
type instrument struct {
	whole     metric.Int64Observable
	real      metric.Float64Observable
	perWorker bool
}

// registered has the Registrations that are in use, to find two executors with one name.
var registered struct {
	mu  sync.Mutex
	all []*Registration
}

// Register makes the instruments of ex. It returns an error if ex is registered with the provider already, or if
// another executor with the same name is: the two would have the same time series. If the registered executor is closed
// or gone, the new Registration takes the place of the old one. To withdraw a Registration, call Unregister.
func Register(ex *executor.Executor, opts Options) (*Registration, error) {
	if opts.Provider == nil {
		opts.Provider = otel.GetMeterProvider()
	}
	r := &Registration{name: valid(ex.Name()), ex: weak.Make(ex), provider: opts.Provider}
	registered.mu.Lock()
	defer registered.mu.Unlock()
	for i, old := range registered.all {
		if old.name != r.name || !isSame(old.provider, r.provider) {
			continue
		}
		switch {
		case old.isOver():
		case old.ex == r.ex:
			return nil, fmt.Errorf("otel: the executor %q is registered already", r.name)
		default:
			return nil, fmt.Errorf("otel: an executor named %q is registered already: give each executor a Config.Name "+
				"of its own, or unregister the other", r.name)
		}
		if err := old.callback.Unregister(); err != nil {
			return nil, fmt.Errorf("otel: cannot replace the closed executor %q: %w", r.name, err)
		}
		registered.all = append(registered.all[:i], registered.all[i+1:]...)
		break
	}
	if err := r.register(opts); err != nil {
		return nil, fmt.Errorf("otel: cannot register the executor %q: %w", r.name, err)
	}
	registered.all = append(registered.all, r)
	return r, nil
}

// Unregister ends the reports. A second call does nothing.
func (r *Registration) Unregister() error {
	registered.mu.Lock()
	defer registered.mu.Unlock()
	for i, other := range registered.all {
		if other == r {
			registered.all = append(registered.all[:i], registered.all[i+1:]...)
			return r.callback.Unregister()
		}
	}
	return nil
}

// isSame reports whether a and b are one provider. Providers that cannot be compared are taken for different ones.
func isSame(a, b metric.MeterProvider) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// valid returns text as UTF-8. Names and errors may be none, and the exporters of OTLP drop all that is sent together
// with such a text.
func valid(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

// isOver reports whether the executor is closed or gone.
func (r *Registration) isOver() bool {
	ex := r.ex.Value()
	return ex == nil || ex.Stats().Gauges.Closed
}

// register makes the instruments and their callback.
func (r *Registration) register(opts Options) error {
	meter := r.provider.Meter(ScopeName)
	r.set = attribute.NewSet(attribute.String("executor", r.name))
	var all []metric.Observable
	for _, d := range metrics.All() {
		in, err := newInstrument(meter, d)
		if err != nil {
			return err
		}
		in.perWorker = d.PerWorker && !opts.Totals
		if in.whole != nil {
			all = append(all, in.whole)
		} else {
			all = append(all, in.real)
		}
		r.instruments = append(r.instruments, in)
		r.samples = append(r.samples, metrics.Sample{Name: d.Name})
	}
	callback, err := meter.RegisterCallback(r.observe, all...)
	r.callback = callback
	return err
}

// newInstrument makes the instrument of a metric.
func newInstrument(meter metric.Meter, d metrics.Description) (in instrument, err error) {
	name, about, unit := d.Identifier("."), metric.WithDescription(d.Description), metric.WithUnit("{"+d.Unit()+"}")
	if d.Unit() == "ratio" {
		unit = metric.WithUnit("1")
	}
	switch {
	case d.Kind == metrics.KindFloat64:
		in.real, err = meter.Float64ObservableGauge(name, about, unit)
	case d.Cumulative:
		in.whole, err = meter.Int64ObservableCounter(name, about, unit)
	default:
		in.whole, err = meter.Int64ObservableGauge(name, about, unit)
	}
	return in, err
}

// observe is called by the SDK when it collects. All values are from one snapshot.
func (r *Registration) observe(_ context.Context, to metric.Observer) error {
	ex := r.ex.Value()
	if ex == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	metrics.Read(ex, r.samples)
	total := metric.WithAttributeSet(r.set)
	for i, in := range r.instruments {
		switch s := &r.samples[i]; {
		case s.Value.Kind() == metrics.KindBad:
		case in.real != nil:
			to.ObserveFloat64(in.real, s.Value.Float64(), total)
		case !in.perWorker:
			to.ObserveInt64(in.whole, int64(s.Value.Uint64()), total)
		default:
			for id, v := range s.Workers {
				to.ObserveInt64(in.whole, int64(v.Uint64()), r.worker(id))
			}
		}
	}
	return nil
}

// worker returns the attributes of a worker. The caller holds mu.
func (r *Registration) worker(id int) metric.MeasurementOption {
	for len(r.workers) <= id {
		r.workers = append(r.workers, metric.WithAttributeSet(attribute.NewSet(
			attribute.String("executor", r.name), attribute.Int("worker", len(r.workers)))))
	}
	return r.workers[id]
}
