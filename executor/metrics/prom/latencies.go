package prom

import (
	"errors"
	"fmt"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/observe"
	"github.com/prometheus/client_golang/prometheus"
)

// LatencyOptions are the choices of [Latencies].
type LatencyOptions struct {
	_ [0]func() // no comparisons, so that a field of any type may be added

	// Tasks measures each task too, by the names of its job and of itself. It is for programs whose names are few.
	Tasks bool
}

// Latencies registers histograms with reg and returns an observer that fills them, for the Config of one executor at a
// time. Observers of several executors have the same histograms, with the label executor.
//
//   - magpie_run_duration_seconds, with the label outcome: ok, failed, panicked or cancelled.
//   - magpie_run_wait_seconds, from the begin of a run to that of its first task.
//   - magpie_task_duration_seconds, with the labels job, task and outcome, which may also be skipped. Only with Tasks.
//
// The number of failures is the count of a histogram. The histograms have buckets from 10 µs to some 160 s, each four
// times as large as the one before, and native buckets for servers that ask for these. Alerts has rules for them. An
// observer costs what that of [observe.Measures] does, and some 180 ns for each value (AMD EPYC, Go 1.26, 2026-11-27).
//
// Latencies returns an error if other metrics of these names are registered.
func Latencies(reg prometheus.Registerer, o LatencyOptions) (*executor.Observer, error) {
	l := latencies{}
	var errs [3]error
	l.runs, errs[0] = histogram(reg, "magpie_run_duration_seconds", "Time from the begin of a run to its end.",
		"executor", "outcome")
	l.waits, errs[1] = histogram(reg, "magpie_run_wait_seconds", "Time from the begin of a run to that of its first task.",
		"executor")
	if o.Tasks {
		l.tasks, errs[2] = histogram(reg, "magpie_task_duration_seconds", "Time that a task takes, 0 if it is skipped.",
			"executor", "job", "task", "outcome")
	}
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	observer := observe.Measures(observe.MeasureOptions{Tasks: o.Tasks}, l.record)
	attach := observer.Attach
	observer.Attach = func(ex *executor.Executor) {
		attach(ex)
		l.executor = ex.Name()
	}
	return observer, nil
}

// latencies are the histograms of an executor. executor is set before anything is recorded.
type latencies struct {
	executor           string
	runs, waits, tasks *prometheus.HistogramVec
}

func (l *latencies) record(m observe.Measure) {
	if m.Task != nil {
		l.tasks.WithLabelValues(l.executor, m.Task.Set.Job, m.Task.Name, m.Outcome.String()).Observe(m.Took.Seconds())
		return
	}
	l.runs.WithLabelValues(l.executor, m.Outcome.String()).Observe(m.Took.Seconds())
	l.waits.WithLabelValues(l.executor).Observe(m.Wait.Seconds())
}

// histogram returns the histogram of that name, which it registers unless another observer has.
func histogram(reg prometheus.Registerer, name, help string, labels ...string) (*prometheus.HistogramVec, error) {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help,
		Buckets:                        prometheus.ExponentialBuckets(1e-5, 4, 13),
		NativeHistogramBucketFactor:    1.1,
		NativeHistogramMaxBucketNumber: 100,
	}, labels)
	err := reg.Register(h)
	if already := (prometheus.AlreadyRegisteredError{}); errors.As(err, &already) {
		if old, ok := already.ExistingCollector.(*prometheus.HistogramVec); ok {
			return old, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("prom: cannot register %s: %w", name, err)
	}
	return h, nil
}
