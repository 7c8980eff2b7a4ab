package bench

import (
	"cmp"
	"context"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
)

// A Session is a set of measurements to be made one after the other.
type Session struct {
	Workloads []*workloads.Workload
	Probes    []*Probe
	Engines   []*Engine
	Axes      Axes

	N    int    // size; 0 means each workload's own
	Tour bool   // a workload's own size is its Tour, not its Default
	Reps int    // repetitions of each setting
	Seed uint64 // of the workloads that are random

	// Settle bounds the time in which a workload is repeated beyond Reps while one of its times is loose, see
	// [Stat.IsLoose]. It ends with a whole round of repetitions.
	Settle time.Duration

	Params map[string]string // values of the workloads' parameters, by name, as in flags

	Whole   bool // the timed part of a repetition is everything, see [Result.Whole]
	Profile bool // programs have a profile, and the all-procs time, see [ProfileFigures] and [Result.AllProcsNS]

	// AllProcs has the all-procs time of programs measured without a profile.
	AllProcs bool

	// Again has the settings that are measured a second time, in turn with the others.
	Again Again

	Pin bool // a repetition has as many processors as workers, dealt over the packages

	// Active has the active workers of the executor counted meanwhile, see [Result.Active].
	Active bool

	// Keep has a Loop use one executor for all repetitions. What an executor that shares the machine has found out in
	// one repetition then holds for the next, and its figures of sharing are those since its begin.
	Keep bool

	// Step, if not nil, is called with the next measurement, and the expected time to the end of its kind: of building
	// a graph, or of all repetitions. It is called between measurements, never during one.
	Step func(what string, expect time.Duration)
	// Emit is called with the results of each workload or probe when all of them are verified.
	Emit func([]Result) error
}

// Run makes the measurements. If the session is wrong it returns an input.Error before the first.
func (s *Session) Run(ctx context.Context) error {
	if err := s.validate(); err != nil {
		return err
	}
	var subjects []subject[Result]
	for _, w := range s.Workloads {
		subjects = append(subjects, func(ctx context.Context) ([]Result, error) { return s.runWorkload(ctx, w) })
	}
	for _, p := range s.Probes {
		subjects = append(subjects, func(ctx context.Context) ([]Result, error) { return s.runProbe(ctx, p) })
	}
	return measureAll(ctx, subjects, s.Emit)
}

// size returns the n with which w is measured.
func (s *Session) size(w *workloads.Workload) int {
	switch {
	case s.N != 0:
		return s.N
	case s.Tour:
		return w.Tour
	default:
		return w.Default
	}
}

func (s *Session) step(what string, expect time.Duration) {
	if s.Step != nil {
		s.Step(what, expect)
	}
}

// A prepared workload is ready to be measured.
type prepared struct {
	jobs   []*job
	trials []trial[Result] // of the jobs
	tasks  int
	edges  int
	builds []time.Duration // by repetition; nil for a program
	values workloads.Values
	result workloads.Keeper // of a program that keeps its result; else nil
}

// runWorkload prepares w and measures it.
func (s *Session) runWorkload(ctx context.Context, w *workloads.Workload) ([]Result, error) {
	p, err := s.prepare(ctx, w)
	if err != nil {
		return nil, err
	}
	results, err := repeatAll(ctx, series{what: w.Name, reps: s.Reps, guess: guess(p.tasks), step: s.Step}, p.trials)
	if err == nil {
		results, err = s.settle(ctx, w.Name, p.trials, results)
	}
	if err == nil && p.result != nil {
		err = p.result.Keep()
	}
	return results, err
}

// prepare prepares w and its trials.
func (s *Session) prepare(ctx context.Context, w *workloads.Workload) (p prepared, err error) {
	prepare := s.prepareGraph
	switch {
	case w.IsProgram():
		prepare = s.prepareProgram
	case w.IsDivision():
		prepare = s.prepareDivision
	}
	n := s.size(w)
	if p, err = prepare(ctx, w, n); err != nil {
		return p, err
	}
	for _, j := range p.jobs {
		j.whole, j.pin, j.active = s.Whole, s.Pin, s.Active
		p.trials = append(p.trials, trial[Result]{j.at(), func(ctx context.Context, rep int) (Result, error) {
			r, err := j.repeat(ctx)
			r.N, r.Rep, r.Seed = n, rep, s.Seed
			r.Edges, r.Inputs = p.edges, p.values.String()
			if p.builds != nil && rep > 0 {
				r.BuildNS = p.builds[(rep-1)%len(p.builds)].Nanoseconds()
			}
			return r, err
		}})
	}
	return p, nil
}

// prepareGraph checks the order of the edges in every setting, and builds the graph to measure.
func (s *Session) prepareGraph(ctx context.Context, w *workloads.Workload, n int) (p prepared, err error) {
	work := w.Make(n, s.Seed)
	if err := s.checkOrder(ctx, w, work); err != nil {
		return p, err
	}
	target, builds, err := s.buildOften(ctx, w, work)
	if err != nil {
		return p, err
	}
	jobs, err := s.openAll(w, work, target)
	return prepared{jobs: jobs, tasks: target.Plan.Len(), edges: target.Plan.Edges(), builds: builds}, err
}

// prepareProgram makes the program.
func (s *Session) prepareProgram(ctx context.Context, w *workloads.Workload, n int) (p prepared, err error) {
	if p.values, err = w.ReadValues(s.Params); err != nil {
		return p, err
	}
	p.tasks = int(w.ShapeWith(n, p.values).Tasks)
	s.step("preparing "+w.Name, guess(p.tasks))
	program, err := attend(ctx, func() (workloads.Program, error) { return w.Program(n, s.Seed, p.values) })
	if err != nil {
		return p, err
	}
	p.result, _ = program.(workloads.Keeper)
	for _, e := range s.Engines {
		for _, setting := range s.settings(e, axesOf(w, s.Axes)) {
			p.jobs = append(p.jobs, openProgramJob(e, setting, w.Name, program, p.tasks))
		}
	}
	if s.Profile || s.AllProcs {
		for _, j := range p.jobs {
			j.teamwork = program.(workloads.Teamwork)
		}
	}
	if s.Profile {
		p.jobs = append(p.jobs, openProfileJob(w.Name, program, p.tasks))
	}
	return p, nil
}

// prepareDivision makes the division, and divides it for every setting, queue and number of tasks.
func (s *Session) prepareDivision(ctx context.Context, w *workloads.Workload, n int) (p prepared, err error) {
	if p.values, err = w.ReadValues(s.Params); err != nil {
		return p, err
	}
	s.step("preparing "+w.Name, guess(n))
	d, err := attend(ctx, func() (workloads.Division, error) {
		d := w.Division()
		d.Inputs(n, s.Seed, p.values)
		return d, ctx.Err()
	})
	if err != nil {
		return p, err
	}
	for _, e := range s.Engines {
		for _, point := range twice(s.Again, s.divisionPoints(e, w, n), DivisionPoint.second) {
			program, err := newDivided(w.Name, d, point.Tasks, point.Queue, s.Seed)
			if err != nil {
				return p, err
			}
			j := openProgramJob(e, point.Setting, w.Name, program, point.Tasks)
			j.division = &point
			p.jobs = append(p.jobs, j)
			p.tasks = max(p.tasks, point.Tasks)
		}
	}
	return p, nil
}

// divisionPoints returns the settings, queues and numbers of tasks of a division of size n on engine e.
func (s *Session) divisionPoints(e *Engine, w *workloads.Workload, n int) (all []DivisionPoint) {
	counts := s.Axes.Tasks
	if len(counts) == 0 {
		counts = []int{min(n, cmp.Or(w.Parts, n))}
	}
	for _, setting := range e.Settings(axesOf(w, s.Axes)) {
		queues := []string{None}
		if setting.Policy != None {
			queues = s.Axes.Queues
			if len(queues) == 0 {
				queues = []string{DefaultQueue}
			}
		}
		for _, queue := range queues {
			for _, count := range counts {
				all = append(all, DivisionPoint{setting, queue, count})
			}
		}
	}
	return all
}

// checkOrder runs the graph of work in every setting, with tasks that check the order of its edges.
func (s *Session) checkOrder(ctx context.Context, w *workloads.Workload, work workloads.Work) error {
	s.step("building "+w.Name, guess(int(w.Shape(s.size(w)).Tasks)))
	check, target, err := newOrderCheck(w.Name, work)
	if err != nil {
		return err
	}
	jobs, err := s.openAll(w, check, target)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		s.step("checking "+w.Name+" on "+j.setting.String(), guess(target.Plan.Len()))
		if _, err := j.repeat(ctx); err != nil {
			return err
		}
	}
	return nil
}

// buildOften builds the graph once for each repetition. It returns the last graph and the times of all.
func (s *Session) buildOften(
	ctx context.Context, w *workloads.Workload, work workloads.Work,
) (t Target, times []time.Duration, err error) {
	for range s.Reps {
		if err := ctx.Err(); err != nil {
			return t, nil, err
		}
		s.step("building "+w.Name, guess(int(w.Shape(s.size(w)).Tasks)))
		t = Target{}
		Collect()
		var took time.Duration
		if t, took, err = describe(w.Name, work); err != nil {
			return t, nil, err
		}
		times = append(times, took)
	}
	return t, times, nil
}

// openAll prepares the runs of t in every setting.
func (s *Session) openAll(w *workloads.Workload, work workloads.Work, t Target) (jobs []*job, err error) {
	for _, e := range s.Engines {
		for _, setting := range s.settings(e, axesOf(w, s.Axes)) {
			j, err := openJob(e, setting, w.Name, work, t)
			if err != nil {
				return nil, err
			}
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

// guess returns the expected time of something that happens once for each task and has not been measured.
func guess(tasks int) time.Duration { return time.Duration(tasks) * 200 * time.Nanosecond }
