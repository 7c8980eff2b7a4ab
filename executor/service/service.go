// Package service makes an executor for a service, with everything that its operators look at: profiler labels, times
// by task, a log of failed runs, of stalls and of long tasks, metrics, and pages over HTTP with traces.
//
//	s, err := service.New(executor.Config{Name: "thumbnails", MaxRuns: 100}, service.Options{})
//	if err != nil { … }
//	expvar.Publish("magpie", s.Metrics)
//	expvar.Publish("magpie_latencies", s.Latencies)
//	operators.Handle(httpdebug.Path, s.Pages) // at an address that only operators reach
//	…
//	err = errors.Join(server.Shutdown(ctx), s.Shutdown(ctx))
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
	// Logger gets what is reported: a run that has failed at the level Warn, or Error if it has panicked, and what Watch
	// reports. nil means [slog.Default], also if that changes later.
	Logger *slog.Logger
	// Failed is called in place of the log for each run that has failed, on the goroutine that ends the run. A run that
	// was only cancelled has not. What fails in an Async is told to those that wait for it.
	Failed func(run *executor.Run, err error)
	// Watch says which stalls and long tasks are reported. If its Logger is nil, it is that of the service.
	Watch watch.Options

	// These leave a part out. Labels and times cost some 110 ns for each task together, latencies some 30, and a trace
	// costs a few nanoseconds while none is taken.
	NoLabels, NoTimes, NoWatch, NoTraces, NoLatencies bool
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
	// Latencies has the numbers of runs by how they have ended, and how long they took; nil with NoLatencies.
	Latencies *metrics.Latencies
}

// New makes an executor of cfg, with the observers of cfg after its own. The errors are those of [executor.New].
func New(cfg executor.Config, o Options) (*Service, error) {
	s := &Service{}
	own := []*executor.Observer{{RunEnd: o.runEnd}}
	if !o.NoLabels {
		own = append(own, observe.Labels())
	}
	if !o.NoTimes {
		s.Times = observe.NewTimes()
		own = append(own, s.Times.Observer())
	}
	if !o.NoLatencies {
		s.Latencies = metrics.NewLatencies(metrics.LatencyOptions{})
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
	if e.Err == nil || e.Cancelled {
		return
	}
	if o.Failed != nil {
		o.Failed(e.Run, e.Err)
		return
	}
	logger := o.Logger
	if logger == nil {
		logger = slog.Default()
	}
	if p := panicIn(e.Err); p != nil {
		logger.Error("executor: a run has panicked", "run", e.Run.Name(), "error", e.Err, "stack", string(p.Stack))
		return
	}
	logger.Warn("executor: a run has failed", "run", e.Run.Name(), "error", e.Err)
}

// panicIn returns the panic that err wraps, or nil if there is none or err, which is user code, cannot be asked.
func panicIn(err error) (p *executor.PanicError) {
	defer func() { _ = recover() }()
	errors.As(err, &p)
	return p
}
