package virtual

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/magpie-go/magpie/internal/allot"
)

// A simulation is a run of jobs on a machine, at the begin of a step.
type simulation struct {
	Machine
	now        int
	jobs       []*job // as given
	waiting    []*job // not started, by arrival
	running    []*job // by start
	unfinished int
	free       int // processors of no partition, with Static
	table      *allot.Incremental
	isStale    bool  // the allotments do not follow from the desires
	turn       int   // which awake worker is the next to have a processor, if there are more of them than processors
	turns      []ref // of the step
	rng        *rand.Rand
}

type ref struct {
	job    *job
	worker *worker
}

func (m Machine) simulate(jobs []Job) *simulation {
	m.check(jobs)
	s := &simulation{
		Machine: m, unfinished: len(jobs), free: m.Processors, table: allot.NewIncremental(m.Processors),
		rng: rand.New(rand.NewPCG(m.Seed, 0)),
	}
	if s.Partition == 0 {
		s.Partition = max(m.Processors/2, 1)
	}
	for _, spec := range jobs {
		j := &job{Outcome: Outcome{Job: spec}, toBegin: spec.Phases[0].Tasks}
		s.jobs = append(s.jobs, j)
	}
	s.waiting = slices.Clone(s.jobs)
	slices.SortStableFunc(s.waiting, func(a, b *job) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return s
}

// step goes through the next step. Jobs that have arrived start, allotments change, and workers wake and sleep at its
// begin.
func (s *simulation) step() {
	s.start()
	if s.Control == Shared {
		s.share()
	}
	s.work()
	s.now++
	s.finish()
}

// start starts the jobs that have arrived and find processors, in order of arrival.
func (s *simulation) start() {
	for len(s.waiting) > 0 && s.waiting[0].Arrival <= s.now {
		j := s.waiting[0]
		workers := s.Processors
		if j.Limit > 0 {
			workers = min(workers, j.Limit)
		}
		awake := workers
		switch s.Control {
		case Static:
			workers = min(workers, s.Partition)
			if s.free < workers {
				return
			}
			s.free -= workers
			awake = workers
		case Shared: // The first desire is 1 (section 6.2).
			awake = 1
			j.desire = 1
			if s.Incremental {
				j.seat = s.table.Join(j.desire)
			}
		}
		j.Start = s.now
		j.workers = make([]worker, workers)
		j.wake(awake)
		s.waiting = s.waiting[1:]
		s.running = append(s.running, j)
		s.isStale = true
	}
}

// share lets the jobs whose cycle ends estimate their desires, and then wake and signal workers by their allotments.
// In the document one job after the other does both. Then thieves and workers between tasks sleep that are to.
func (s *simulation) share() {
	isDue := func(j *job) bool { return s.Rule == nil || s.now > j.Start && (s.now-j.Start)%s.Cycle == 0 }
	for _, j := range s.running {
		switch {
		case !isDue(j):
			continue
		case s.Rule == nil:
			j.desire = min(j.usable(), len(j.workers))
		default:
			j.count.Usage, j.count.Allotment = j.awake, j.allotment
			j.count.Length, j.count.Ready = int64(s.Cycle), j.usable()
			j.desire = s.Rule.Next(j.desire, j.count)
			j.Cycles = append(j.Cycles, Cycle{At: s.now, Count: j.count, Desire: j.desire})
			j.count = allot.Count{}
		}
		s.isStale = true
	}
	s.allot()
	for _, j := range s.running {
		if isDue(j) {
			j.adjust()
			if s.Rule != nil {
				j.Cycles[len(j.Cycles)-1].Allotment = j.allotment
			}
		}
		j.sleep()
	}
}

// allot computes the allotments from the desires.
func (s *simulation) allot() {
	if !s.isStale {
		return
	}
	s.isStale = false
	if s.Incremental {
		for _, j := range s.running {
			s.table.SetDesire(j.seat, min(j.desire, len(j.workers)))
		}
		for _, j := range s.running {
			j.allotment = s.table.Allotment(j.seat)
		}
		return
	}
	all := make([]allot.Job, len(s.running))
	for i, j := range s.running {
		all[i] = allot.Job{Key: uint64(i), Desire: j.desire, Weight: j.Weight, Limit: j.Limit}
	}
	for i, a := range allot.WaterFill(s.Processors, all) {
		s.running[i].allotment = a
	}
}

// work gives the processors to awake workers, in turn if they are too few, and lets these do a step.
func (s *simulation) work() {
	s.turns = s.turns[:0]
	for _, j := range s.running {
		j.usage += j.awake
		for i := range j.workers {
			if w := &j.workers[i]; w.isAwake {
				s.turns = append(s.turns, ref{j, w})
			}
		}
	}
	turns := s.turns
	if n := len(turns); n > s.Processors {
		first := s.turn % n
		s.turn = (first + s.Processors) % n
		turns = append(turns, turns...)[first : first+s.Processors]
	}
	for _, r := range turns {
		r.job.find(r.worker)
	}
	for _, r := range turns {
		if r.worker.left == 0 {
			r.job.steal(s.rng)
		}
	}
	for _, r := range turns {
		if r.worker.left > 0 {
			r.job.run(r.worker)
		}
	}
	for _, j := range s.running {
		j.begun = 0
		if j.AllProcs == 0 && j.had == len(j.workers) {
			j.AllProcs = s.now + 1 - j.Arrival
		}
	}
}

// finish lets the jobs go on to their next phases, and leave after the last.
func (s *simulation) finish() {
	s.running = slices.DeleteFunc(s.running, func(j *job) bool {
		if j.toBegin > 0 || j.active > 0 {
			return false
		}
		if j.phase++; j.phase < len(j.Phases) {
			j.toBegin = j.Phases[j.phase].Tasks
			return false
		}
		j.Finish = s.now
		s.unfinished--
		s.isStale = true
		switch {
		case s.Control == Static:
			s.free += len(j.workers)
		case s.Control == Shared && s.Incremental:
			s.table.Leave(j.seat)
		}
		return true
	})
}
