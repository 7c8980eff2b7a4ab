package bench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/energy"
	"github.com/magpie-go/magpie/internal/osthread"
)

// A job is one workload in one size and setting, ready to be repeated.
type job struct {
	workload string
	setting  Setting
	data     data
	tasks    int
	program  bool
	division *DivisionPoint         // if the workload is a division
	open     func() (Runner, error) // builds the graph again, if there is one
	whole    bool
	pin      bool
	teamwork workloads.Teamwork // set if the all-procs time is to be measured, if the engine is magpie
	active   bool
	keep     bool // the runner stays started from the first repetition on, until end
	started  bool // the runner is
	runner   Runner
}

// at returns the setting for messages.
func (j *job) at() fmt.Stringer {
	if j.division != nil {
		return *j.division
	}
	return j.setting
}

// data is the common part of a Work and a Program.
type data interface {
	Reset()
	Verify() error
}

// openJob prepares the runs of target, whose tasks are those of work, on engine e.
func openJob(e *Engine, s Setting, workload string, work workloads.Work, t Target) (*job, error) {
	open := func(t Target) (Runner, error) {
		r, err := e.Open(s, t)
		if err != nil {
			return nil, fmt.Errorf("opening %v: %w", s, err)
		}
		return r, nil
	}
	r, err := open(t)
	return &job{workload: workload, setting: s, data: work, tasks: t.Plan.Len(), runner: r,
		open: func() (Runner, error) {
			t, _, err := describe(workload, work)
			if err != nil {
				return nil, err
			}
			return open(t)
		},
	}, err
}

// openProgramJob prepares the runs of p, which has the given number of tasks, on engine e.
func openProgramJob(e *Engine, s Setting, workload string, p workloads.Program, tasks int) *job {
	return &job{workload: workload, setting: s, data: p, tasks: tasks, program: true, runner: e.OpenProgram(s, p),
		open: func() (Runner, error) { return e.OpenProgram(s, p), nil },
	}
}

// repeat measures and verifies one repetition. If ctx ends, repeat returns while the repetition of a program goes on,
// see [attend]; the job must not be used again then.
func (j *job) repeat(ctx context.Context) (r Result, err error) {
	if err := ctx.Err(); err != nil {
		return r, err
	}
	if !j.program {
		return j.repeatNow(ctx)
	}
	return attend(ctx, func() (Result, error) { return j.repeatNow(ctx) })
}

// attend waits for f, or for the end of ctx. Programs ignore the context, for checking it would cost as much as a fork.
// If ctx ends first, f is left behind: it ends by itself, or with the process.
func attend[R any](ctx context.Context, f func() (R, error)) (result R, err error) {
	var r R
	done := make(chan error, 1)
	go func() {
		var err error
		r, err = f()
		done <- err
	}()
	select {
	case err := <-done:
		return r, err
	case <-ctx.Done():
		return result, ctx.Err()
	}
}

func (j *job) repeatNow(ctx context.Context) (r Result, err error) {
	if j.pin {
		restore, err := pinProcess(j.setting.Workers)
		if err != nil {
			return r, err
		}
		defer restore()
	}
	var counts Counts
	var active []float64
	verify := func() error {
		if !j.program && counts.Tasks != uint64(j.tasks) {
			return fmt.Errorf("%d tasks ran, the graph has %d", counts.Tasks, j.tasks)
		}
		return j.data.Verify()
	}
	a := attempt{subject: j.workload, at: j.at(), verify: verify}
	if j.whole {
		a.run = func() (err error) { counts, err = j.runWhole(ctx); return err }
	} else {
		if err := j.start(); err != nil {
			return r, err
		}
		before := j.runner.Counts()
		a.run = func() error { return j.runner.Run(ctx) }
		if m, ok := j.runner.(*magpie); ok && j.active {
			run := a.run
			a.run = func() (err error) { active, err = watchActive(m.ex, run); return err }
		}
		a.stop = func() error {
			counts = j.runner.Counts().since(before)
			if j.keep {
				return nil
			}
			return j.end()
		}
	}
	j.data.Reset()
	m, err := a.measure(ctx)
	if err != nil {
		return r, err
	}
	if err := j.setting.Share.checkJoined(counts.Share); err != nil {
		return r, fmt.Errorf("%s on %v: %w", j.workload, j.at(), err)
	}
	r = Result{
		Workload: j.workload, Engine: j.setting.Engine, Policy: j.setting.Policy, Deque: j.setting.Deque,
		Forks: j.setting.Forks, Workers: j.setting.Workers, Tasks: j.tasks,
		NSPerTask: float64(m.wall) / float64(j.tasks),
		Steals:    counts.Steals, Parks: counts.Parks,
		Whole: j.whole, Pinned: j.pin, Active: active, Again: j.setting.Again, Verified: true,
	}
	r.Peers = peerFigures(counts.Peers)
	r.Share = j.setting.Share.figures(counts.Share)
	m.fill(&r)
	if p, ok := j.data.(workloads.Propertied); ok {
		for _, p := range p.Properties() {
			r.Properties = append(r.Properties, Metric(p))
		}
	}
	if d, ok := j.data.(*divided); ok {
		d.fill(&r, *j.division)
	}
	switch runner := j.runner.(type) {
	case *profileRunner:
		r.Profile = runner.p.figures()
	case *magpie:
		if j.teamwork != nil {
			took, err := j.muster()
			if err != nil {
				return r, err
			}
			r.AllProcsNS = took.Nanoseconds()
		}
	}
	return r, nil
}

// start starts the runner, unless it is started.
func (j *job) start() error {
	if j.started {
		return nil
	}
	if err := j.runner.Start(); err != nil {
		return fmt.Errorf("starting %v: %w", j.at(), err)
	}
	j.started = true
	return nil
}

// end stops the runner, if it is started.
func (j *job) end() error {
	if !j.started {
		return nil
	}
	j.started = false
	return j.runner.Stop()
}

// runWhole does once everything that a process does: it builds the graph, starts the engine, runs and stops it.
func (j *job) runWhole(ctx context.Context) (counts Counts, err error) {
	runner, err := j.open()
	if err != nil {
		return counts, err
	}
	if err := runner.Start(); err != nil {
		return counts, fmt.Errorf("starting %v: %w", j.at(), err)
	}
	before := runner.Counts()
	err = runner.Run(ctx)
	counts = runner.Counts().since(before)
	if stopErr := runner.Stop(); err == nil {
		err = stopErr
	}
	return counts, err
}

// An attempt is one repetition of a job, a probe or an experiment.
type attempt struct {
	subject string
	at      fmt.Stringer // the setting
	run     func() error // the measured part
	stop    func() error // comes after run in any case; may be nil
	verify  func() error // may be nil
}

// measure makes the attempt. An error is a [WrongAnswer], unless ctx has ended.
func (a attempt) measure(ctx context.Context) (measurement, error) {
	m, err := measure(a.run)
	if a.stop != nil {
		if stopErr := a.stop(); err == nil {
			err = stopErr
		}
	}
	if ctx.Err() != nil {
		return m, ctx.Err() // a run that was cut short is no wrong answer
	}
	if err == nil && a.verify != nil {
		err = a.verify()
	}
	if err != nil {
		return m, &WrongAnswer{a.subject, a.at, err}
	}
	return m, nil
}

// A measurement has the time and resources that the process used while a function ran.
type measurement struct {
	wall, cpu  time.Duration
	vctx, ictx int64
	peakRSS    int64
	joules     float64
}

// Collect collects garbage before each measurement, so that none pays for earlier garbage. It is [runtime.GC], but for
// quick tests, where it would be most of the work.
var Collect = runtime.GC

// measure runs f.
func measure(f func() error) (m measurement, err error) {
	Collect()
	// Where the peak cannot be reset, it is the peak since the process began.
	_ = osthread.ResetPeakRSS()
	before := energy.Read()
	vctx, ictx := osthread.ContextSwitches()
	cpu := osthread.ProcessCPU()
	begin := time.Now()

	err = f()

	m.wall = time.Since(begin)
	m.cpu = osthread.ProcessCPU() - cpu
	m.vctx, m.ictx = osthread.ContextSwitches()
	m.vctx -= vctx
	m.ictx -= ictx
	m.joules = before.Until(energy.Read())
	m.peakRSS = osthread.PeakRSS()
	return m, err
}

// cpuUtil returns the number of busy cores.
func (m *measurement) cpuUtil() float64 { return float64(m.cpu) / float64(max(m.wall, 1)) }

func (m *measurement) fill(r *Result) {
	r.WallNS, r.CPUNS, r.CPUUtil = m.wall.Nanoseconds(), m.cpu.Nanoseconds(), m.cpuUtil()
	r.VCtx, r.ICtx, r.PeakRSS, r.Joules = m.vctx, m.ictx, m.peakRSS, m.joules
}
