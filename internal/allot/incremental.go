package allot

import "slices"

// Incremental has the allotments of jobs by algorithm DP of document 003 (section 5.2), dynamic equipartitioning. A job
// that arrives, or desires more, takes free processors, and then one at a time from the job that has most, up to its
// fair share. Processors that become free go one at a time to the deprived job that has least.
//
// The allotments depend on the order of events. Where the document leaves a choice, the job that has most is the first
// to have arrived among equals. The job that has least is the one that lacks most among equals, and then the first.
// These choices give the document's trace (Fig 5-2).
//
// The fair share is that of the document (equation 5.1): jobs that desire less than ⌊P/J⌋ keep what they have, and the
// others share the rest evenly. It is a real number: with its integer part the trace would differ. It is too small if
// a job desires ⌊P/J⌋ or more, but less than the others could get. A job that arrives then stops too early. It stays
// deprived while another has at least two processors more, which is not fair. WaterFill is.
//
// The document assumes that there are no more jobs than processors. Here a job beyond that gets one more than there
// are, and no job gives up its last one.
type Incremental struct {
	processors int
	jobs       []seat // in order of arrival
	arrivals   int
}

type seat struct{ job, desire, allotment int }

// NewIncremental returns the allotments of no jobs on the given number of processors.
func NewIncremental(processors int) *Incremental { return &Incremental{processors: processors} }

// Join adds a job, and returns its number: jobs are numbered from 0 as they arrive. Every job desires at least one
// processor.
func (d *Incremental) Join(desire int) (job int) {
	job = d.arrivals
	d.arrivals++
	d.jobs = append(d.jobs, seat{job: job, desire: max(desire, 1)})
	d.grow(&d.jobs[len(d.jobs)-1])
	return job
}

// Leave removes a job.
func (d *Incremental) Leave(job int) {
	i := d.index(job)
	d.jobs = slices.Delete(d.jobs, i, i+1)
	d.spread()
}

// SetDesire changes what a job desires.
func (d *Incremental) SetDesire(job, desire int) {
	s := &d.jobs[d.index(job)]
	before := s.desire
	s.desire = max(desire, 1)
	if s.desire > before {
		d.grow(s)
		return
	}
	s.allotment = min(s.allotment, s.desire)
	d.spread()
}

// Allotment returns how many processors a job has.
func (d *Incremental) Allotment(job int) int { return d.jobs[d.index(job)].allotment }

// Free returns how many processors no job has. It is negative if there are more jobs than processors.
func (d *Incremental) Free() int {
	free := d.processors
	for _, s := range d.jobs {
		free -= s.allotment
	}
	return free
}

func (d *Incremental) index(job int) int {
	i := slices.IndexFunc(d.jobs, func(s seat) bool { return s.job == job })
	if i < 0 {
		panic("allot: a job has left, or never joined")
	}
	return i
}

// grow lets s have what it desires, up to its fair share.
func (d *Incremental) grow(s *seat) {
	s.allotment += max(0, min(d.Free(), s.desire-s.allotment))
	for s.allotment < s.desire && d.belowFairShare(s.allotment) {
		from := d.largest(s)
		if from == nil || from.allotment <= 1 {
			break
		}
		from.allotment--
		s.allotment++
	}
	s.allotment = max(s.allotment, 1)
}

// belowFairShare reports whether a is less than the fair share.
func (d *Incremental) belowFairShare(a int) bool {
	processors, jobs := d.processors, len(d.jobs)
	even := processors / jobs
	for _, s := range d.jobs {
		if s.desire < even {
			processors -= s.allotment
			jobs--
		}
	}
	return a*jobs < processors && jobs > 0
}

// largest returns the job with most processors, except s.
func (d *Incremental) largest(s *seat) (most *seat) {
	for i := range d.jobs {
		if o := &d.jobs[i]; o != s && (most == nil || o.allotment > most.allotment) {
			most = o
		}
	}
	return most
}

// spread gives the free processors to deprived jobs.
func (d *Incremental) spread() {
	for free := d.Free(); free > 0; free-- {
		var least *seat
		for i := range d.jobs {
			if s := &d.jobs[i]; s.allotment < s.desire && (least == nil || s.before(least)) {
				least = s
			}
		}
		if least == nil {
			return
		}
		least.allotment++
	}
}

// before reports whether a free processor goes to s rather than to o.
func (s *seat) before(o *seat) bool {
	if s.allotment != o.allotment {
		return s.allotment < o.allotment
	}
	return s.desire > o.desire
}
