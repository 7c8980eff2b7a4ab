// Package service makes an executor for a service, with everything that its operators look at: profiler labels, times
// by task, a log of failures, of stalls and of long tasks, metrics, and pages over HTTP with traces.
//
//	s, err := service.New(executor.Config{Name: "thumbnails", MaxRuns: 100}, service.Options{})
//	if err != nil { … }
//	expvar.Publish("magpie", s.Metrics)
//	expvar.Publish("magpie_latencies", s.Latencies)
//	operators.Handle(httpdebug.Path, s.Pages) // at an address that only operators reach
//	…
//	err = errors.Join(server.Shutdown(ctx), s.Shutdown(ctx))
//
// Some reports do not come to Options.Logger, but to package log, and so to the default logger after [slog.SetDefault]:
// that an observer has panicked, as Options.Failed or a handler of the Logger may, or a function of
// [executor.Run.OnEnd], and that the garbage collector has closed an executor. If the Logger panics at a report of
// package watch, it is told so, and the default logger only if it panics at that too.
//
// It only wires the packages observe, watch, metrics and httpdebug. A service that wants a part of it otherwise leaves
// that part out, and gives its own Observer in the Config. The modules executor/metrics/prom and executor/metrics/otel
// have observers for histograms and spans.
package service

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/httpdebug"
	"github.com/magpie-go/magpie/executor/metrics"
	"github.com/magpie-go/magpie/executor/observe"
	"github.com/magpie-go/magpie/executor/watch"
)

// Options are the choices of [New]. The zero value is a good choice.
type Options struct {
	// Logger gets what is reported: a run or an Async that has failed at the level Warn, or Error if it has panicked, and
	// what Watch reports. nil means [slog.Default], also if that changes later.
	Logger *slog.Logger
	// Failed is called in place of the log for each run that has failed, on the goroutine that ends the run. A run that
	// was only cancelled has not.
	Failed func(run *executor.Run, err error)
	// FailedAsync is called in place of the log for each function of an [executor.Async] that has failed, on its worker.
	// A function that was only cancelled, with ctx, has not. Those that wait for the function are told its error too.
	FailedAsync func(ctx context.Context, err error)
	// Watch says which stalls and long tasks are reported. If its Logger is nil, it is that of the service.
	Watch watch.Options

	// These leave a part out. Labels and times cost some 110 ns for each task together, latencies some 50, or 30 with
	// NoAsync, and a trace and the look for failures of Async a few nanoseconds each. NoAsync leaves Async out of
	// Latencies too.
	NoLabels, NoTimes, NoWatch, NoTraces, NoLatencies, NoAsync bool
}

// A Service is an executor with what observes it. It is ended by Close or Shutdown, and needs nothing else.
type Service struct {
	*executor.Executor
	// Pages are the pages for operators.
	Pages *httpdebug.Handler
	// Metrics are those of package metrics, for expvar.
	Metrics *metrics.Var
	// Times has the times of tasks; nil with NoTimes.
	Times *observe.Times
	// Latencies has the numbers of runs and, without NoAsync, of Asyncs by how they have ended, and how long they took;
	// nil with NoLatencies.
	Latencies *metrics.Latencies
}

// New makes an executor of cfg, with the observers of cfg after its own. The errors are those of [executor.New].
func New(cfg executor.Config, o Options) (*Service, error) {
	s := &Service{}
	own := []*executor.Observer{{RunEnd: o.runEnd}}
	if !o.NoAsync {
		own = append(own, &executor.Observer{TaskEnd: o.taskEnd})
	}
	if !o.NoLabels {
		own = append(own, observe.Labels())
	}
	if !o.NoTimes {
		s.Times = observe.NewTimes()
		own = append(own, s.Times.Observer())
	}
	if !o.NoLatencies {
		s.Latencies = metrics.NewLatencies(metrics.LatencyOptions{Asyncs: !o.NoAsync})
		own = append(own, s.Latencies.Observer())
	}
	if !o.NoWatch {
		w := o.Watch
		if w.Logger == nil {
			w.Logger = o.Logger
		}
		own = append(own, watch.New(w).Observer())
	}
	var traces *observe.Switch
	if !o.NoTraces {
		traces = observe.NewSwitch()
		own = append(own, traces.Observer())
	}
	cfg.Observers = append(own, cfg.Observers...)
	var err error
	if s.Executor, err = executor.New(cfg); err != nil {
		return nil, err
	}
	s.Metrics = metrics.NewVar(s.Executor)
	s.Pages = httpdebug.New(s.Executor)
	if traces != nil {
		s.Pages.Trace = func(ctx context.Context, _ *executor.Executor, out io.Writer) error {
			err := traces.Record(ctx, out, observe.TraceOptions{})
			if dropped := (*observe.DroppedError)(nil); errors.As(err, &dropped) {
				return nil // the trace says so itself
			}
			return err
		}
	}
	return s, nil
}

// runEnd reports a run that has failed.
func (o *Options) runEnd(e *executor.Event) {
	switch {
	case e.Err == nil || e.Cancelled:
	case o.Failed != nil:
		o.Failed(e.Run, e.Err)
	default:
		o.log("a run", e.Err, "run", e.Run.Name())
	}
}

// taskEnd reports a function of an Async that has failed. Of other tasks the run has the error.
func (o *Options) taskEnd(e *executor.Event) {
	if e.Run != nil {
		return
	}
	switch how := observe.OutcomeOf(e); {
	case how == observe.OK || how == observe.Cancelled:
	case o.FailedAsync != nil:
		o.FailedAsync(e.Context, e.Err)
	default:
		o.log("an Async", e.Err)
	}
}

// log logs a failure of what.
func (o *Options) log(what string, err error, attrs ...any) {
	logger := o.Logger
	if logger == nil {
		logger = slog.Default()
	}
	attrs = append(attrs, "error", err)
	if p := panicIn(err); p != nil {
		logger.Error("executor: "+what+" has panicked", append(attrs, "stack", string(p.Stack))...)
		return
	}
	logger.Warn("executor: "+what+" has failed", attrs...)
}

// panicIn returns the panic that err wraps, or nil if there is none or err, which is user code, cannot be asked.
func panicIn(err error) (p *executor.PanicError) {
	defer func() { _ = recover() }()
	errors.As(err, &p)
	return p
}
