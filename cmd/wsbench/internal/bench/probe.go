package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

// A Probe measures something of an executor other than the time of a graph.
type Probe struct {
	Name     string
	About    string // one line
	Size     string // the unit of n
	Default  int
	TakePart bool // callers take part in their runs, where the policy allows it

	// Shape returns the size of the probe's graph and its data; nil means next to nothing.
	Shape func(n int) workloads.Shape
	// Measure makes the measurement on ex, which has no other user. Unless ctx has ended, an error is the fault of the
	// executor.
	Measure func(ctx context.Context, ex *executor.Executor, n int) ([]Metric, error)
}

// Probes lists the probes.
func Probes() []*Probe {
	return []*Probe{call, callIdle, fewIdle, submit, submitIdle, idle, sleeper, awake, rerun, memory}
}

func (s *Session) probeSize(p *Probe) int {
	if s.N != 0 {
		return s.N
	}
	return p.Default
}

// runProbe measures p in every setting of the executor.
func (s *Session) runProbe(ctx context.Context, p *Probe) ([]Result, error) {
	n := s.probeSize(p)
	var trials []trial[Result]
	for _, setting := range twice(s.Again, magpieSettings(s.Axes.withoutForks()), Setting.second) {
		trials = append(trials, trial[Result]{setting, func(ctx context.Context, rep int) (Result, error) {
			r, err := p.measure(ctx, setting, n)
			r.Rep, r.Seed = rep, s.Seed
			return r, err
		}})
	}
	results, err := repeatAll(ctx, series{what: p.Name, reps: s.Reps, cold: true, step: s.Step}, trials)
	if err == nil {
		results, err = s.settle(ctx, p.Name, trials, results)
	}
	return results, err
}

func (p *Probe) measure(ctx context.Context, s Setting, n int) (r Result, err error) {
	callers := executor.IdleCallers
	if p.TakePart {
		callers = executor.AutoCallers
	}
	ex, err := executorWith(s, callers)
	if err != nil {
		return r, fmt.Errorf("starting %v: %w", s, err)
	}
	var figures []Metric
	var stats executor.Stats
	m, err := attempt{
		subject: p.Name, at: s,
		run: func() (err error) {
			figures, err = p.Measure(ctx, ex, n)
			return err
		},
		stop: func() error {
			stats = ex.Stats()
			return ex.Close()
		},
	}.measure(ctx)
	if err != nil {
		return r, err
	}
	if err := s.Share.checkJoined(stats.Share); err != nil {
		return r, fmt.Errorf("%s on %v: %w", p.Name, s, err)
	}
	r = Result{
		Workload: p.Name, Engine: s.Engine, Policy: s.Policy, Deque: s.Deque, Forks: s.Forks, Workers: s.Workers, N: n,
		Steals: stats.Total.StealsWon, Parks: stats.Total.Parks, Share: s.Share.figures(stats.Share), Again: s.Again,
		Verified: true, Metrics: figures,
	}
	m.fill(&r)
	return r, nil
}

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A oneTask is a graph of one task that counts its runs.
type oneTask struct {
	graph *graph.Graph
	runs  int
}

func newOneTask() *oneTask {
	o := &oneTask{graph: graph.New("one task")}
	o.graph.Task(func(context.Context) error {
		o.runs++
		return nil
	})
	return o
}

// submit runs the graph and returns the time that it took. The run has no context to watch, as in the simplest program.
func (o *oneTask) submit(ex *executor.Executor) (time.Duration, error) {
	begin := time.Now()
	err := ex.Run(context.Background(), o.graph)
	return time.Since(begin), err
}

// ran returns an error unless the task ran that often.
func (o *oneTask) ran(times int) error {
	if o.runs != times {
		return fmt.Errorf("the task ran %d times in %d submissions", o.runs, times)
	}
	return nil
}

// quantile returns the smallest of times that a fraction q of them does not exceed, in ns. It sorts times.
func quantile(times []time.Duration, q float64) float64 {
	slices.Sort(times)
	i := int(q*float64(len(times))+0.999999) - 1
	return float64(times[min(max(i, 0), len(times)-1)].Nanoseconds())
}
