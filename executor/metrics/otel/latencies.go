package otel

import (
	"context"
	"errors"
	"fmt"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/observe"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// LatencyOptions are the choices of [Latencies].
type LatencyOptions struct {
	_ [0]func() // no comparisons, so that a field of any type may be added

	// Provider makes the instruments. nil means the global provider.
	Provider metric.MeterProvider
	// Tasks measures each task too, by the names of its job and of itself. It is for programs whose names are few.
	Tasks bool
	// Asyncs measures each call of [executor.Async] whose function is called, without a name.
	Asyncs bool
}

// Latencies makes histograms, in seconds, and returns an observer that fills them, for the Config of one executor at a
// time. All have the attribute executor.
//
//   - magpie.run.duration, with the attribute outcome: ok, failed, panicked or cancelled.
//   - magpie.run.wait, from the begin of a run to that of its first task. A run begins when it has room: the wait for
//     that, with [executor.Config].MaxRuns, is not in it.
//   - magpie.task.duration, with the attributes job, task and outcome, which may also be skipped. Only with Tasks.
//   - magpie.async.duration, with the attribute outcome, as that of runs. Only with Asyncs.
//
// The number of failures is the count of a histogram. An observer costs what that of [observe.Measures] does, and what
// the instruments of the provider do for each value.
func Latencies(o LatencyOptions) (*executor.Observer, error) {
	if o.Provider == nil {
		o.Provider = otel.GetMeterProvider()
	}
	meter := o.Provider.Meter(ScopeName)
	l := latencies{}
	var errs [4]error
	histogram := func(name, description string) (metric.Float64Histogram, error) {
		return meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description),
			metric.WithExplicitBucketBoundaries(boundaries...))
	}
	l.runs, errs[0] = histogram("magpie.run.duration", "Time from the begin of a run to its end.")
	l.waits, errs[1] = histogram("magpie.run.wait", "Time from the begin of a run to that of its first task.")
	if o.Tasks {
		l.tasks, errs[2] = histogram("magpie.task.duration", "Time that a task takes, 0 if it is skipped.")
	}
	if o.Asyncs {
		l.asyncs, errs[3] = histogram("magpie.async.duration", "Time that the function of an Async takes.")
	}
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("otel: cannot make the histograms: %w", err)
	}
	observer := observe.Measures(observe.MeasureOptions{Tasks: o.Tasks, Asyncs: o.Asyncs}, l.record)
	attach := observer.Attach
	observer.Attach = func(ex *executor.Executor) {
		attach(ex)
		l.executor = attribute.String("executor", valid(ex.Name()))
	}
	return observer, nil
}

// boundaries are those of the buckets for a provider that has no others, in seconds.
var boundaries = func() (all []float64) {
	for b := 1e-5; b < 200; b *= 4 {
		all = append(all, b)
	}
	return all
}()

// latencies are the histograms of an executor. tasks and asyncs are nil if they are not measured. executor is set
// before anything is recorded.
type latencies struct {
	executor                   attribute.KeyValue
	runs, waits, tasks, asyncs metric.Float64Histogram
}

func (l *latencies) record(m observe.Measure) {
	ctx := context.Background()
	took, outcome := m.Took.Seconds(), attribute.String("outcome", m.Outcome.String())
	if m.Task == nil {
		l.runs.Record(ctx, took, metric.WithAttributes(l.executor, outcome))
		l.waits.Record(ctx, m.Wait.Seconds(), metric.WithAttributes(l.executor))
		return
	}
	if l.tasks != nil {
		l.tasks.Record(ctx, took, metric.WithAttributes(l.executor, outcome,
			attribute.String("job", valid(m.Task.Set.Job)), attribute.String("task", valid(m.Task.Name))))
	}
	if l.asyncs != nil && m.Run == nil {
		l.asyncs.Record(ctx, took, metric.WithAttributes(l.executor, outcome))
	}
}
