package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

// A Probe measures something of an executor other than the time of a graph.
type Probe struct {
	Name    string
	About   string // one line
	Size    string // the unit of n
	Default int

	// Shape returns the size of the probe's graph and its data; nil means next to nothing.
	Shape func(n int) Shape
	// Measure makes the measurement on ex, which has no other user. Unless ctx has ended, an error is the fault of the
	// executor.
	Measure func(ctx context.Context, ex *executor.Executor, n int) ([]Metric, error)
}

// Probes lists the probes.
func Probes() []*Probe {
	return []*Probe{submit, submitIdle, idle, sleeper, awake, rerun, memory}
}

func (s *Session) probeSize(p *Probe) int {
	if s.N != 0 {
		return s.N
	}
	return p.Default
}

// runProbe measures p in every setting of the executor, in turn.
func (s *Session) runProbe(ctx context.Context, p *Probe) ([]Result, error) {
	n := s.probeSize(p)
	var results []Result
	expect := time.Duration(0)
	for rep := range s.Reps {
		for _, setting := range magpieSettings(s.Axes.withoutForks()) {
			s.step(progress(p.Name, setting, rep, s.Reps), expect)
			r, err := p.measure(ctx, setting, n)
			if err != nil {
				return nil, err
			}
			r.Rep, r.Seed = rep+1, s.Seed
			expect = time.Duration(r.WallNS)
			results = append(results, r)
		}
	}
	return results, nil
}

func (p *Probe) measure(ctx context.Context, s Setting, n int) (r Result, err error) {
	if err := ctx.Err(); err != nil {
		return r, err
	}
	ex, err := executorFor(s)
	if err != nil {
		return r, fmt.Errorf("starting %v: %w", s, err)
	}
	var figures []Metric
	m, err := measure(func() (err error) {
		figures, err = p.Measure(ctx, ex, n)
		return err
	})
	stats := ex.Stats().Total
	if closeErr := ex.Close(); err == nil {
		err = closeErr
	}
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case err != nil:
		return r, &WrongAnswer{p.Name, s, err}
	}
	r = Result{
		Workload: p.Name, Engine: s.Engine, Policy: s.Policy, Deque: s.Deque, Forks: s.Forks, Workers: s.Workers, N: n,
		Steals: stats.StealsWon, Parks: stats.Parks,
		Verified: true, Metrics: figures,
	}
	m.fill(&r)
	return r, nil
}

// progress returns the text that announces a repetition.
func progress(what string, s fmt.Stringer, rep, reps int) string {
	return fmt.Sprintf("%s on %v: %d of %d", what, s, rep+1, reps)
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
