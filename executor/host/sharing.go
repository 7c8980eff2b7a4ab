package host

import (
	"context"
	"fmt"
	"iter"
	"runtime/pprof"
	"time"

	"github.com/magpie-go/magpie/executor/internal/hosting"
	"github.com/magpie-go/magpie/executor/internal/share"
	"github.com/magpie-go/magpie/internal/allot"
	"github.com/magpie-go/magpie/internal/gat"
	"github.com/magpie-go/magpie/internal/park"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// sharing decides how many workers of an executor with a Share or a QuotaShare may be awake. Once a cycle,
// on the manager's goroutine, it estimates the desire and makes the control follow what the table and the CPU quota
// allow. While the executor desires nothing there is no manager.
type sharing struct {
	on       hosting.Machine
	control  share.Control
	cfg      *Share // with the defaults filled in
	shares   bool   // the executor is to join a table
	rule     allot.Rule
	progress progress
	quotas   *quotas                   // nil without a QuotaShare
	members  []xatomic.Pointer[sharer] // by worker; nil before the worker is made

	// What the latest cycle has published, for Stats.
	err                              xatomic.Pointer[error]
	joined                           xatomic.Bool
	desire, allotment, usage, cycles xatomic.Tell64
	usageSum                         xatomic.Tell64 // of all cycles
	efficiency                       xatomic.Tell64 // in thousandths

	mu     xsync.Mutex // guards what follows; held during a cycle
	table  table       // nil if the executor is alone
	last   sample
	wanted int // the latest desire that was not 0
	idle   int // cycles without a run since the last one with a run

	alarm   *park.Alarm // of the manager; nil if there is none
	period  time.Duration
	closing bool // the executor is being closed

	manager xsync.WaitGroup // one while there is a manager
}

// A table tells what a job is allotted. It is a gat.Job.
type table interface {
	Update(desire, usage, efficiency int) (allotment int, err error)
	Leave() error
}

// idleCycles is after how many cycles without a run an executor desires nothing. Arbitrary: requests that come in quick
// succession keep what they need.
const idleCycles = 10

// newSharing returns the sharing of an executor that has not joined yet. shares says that it has a table, and quota
// what it leaves of the CPU quota, 0 if nothing.
func newSharing(on hosting.Machine, cfg *Share, shares bool, quota float64) *sharing {
	s := &sharing{on: on, cfg: cfg, shares: shares, rule: cfg.ruleOf(), wanted: 1}
	s.quotas = newQuotas(quota, cfg.Cycle)
	s.members = make([]xatomic.Pointer[sharer], on.Limit())
	s.control.Init(controlled{on, s}, on.Limit())
	return s
}

// Control implements hosting.Sharing.
func (s *sharing) Control() *share.Control { return &s.control }

// Join implements hosting.Sharing. If there is no table to join, the executor is alone.
func (s *sharing) Join() {
	if s.quotas != nil {
		defer s.progress.onBegin(s.appoint)
	}
	if !s.shares {
		return
	}
	cfg := s.cfg
	job, err := gat.Join(cfg.Path, cfg.Processors, cfg.Cycle, gat.Terms{
		Name: s.on.Name(), Workers: s.on.Workers(), Weight: cfg.Weight, Minimum: cfg.Minimum, Limit: cfg.Maximum,
	})
	if err != nil {
		s.err.Store(&err)
		return
	}
	s.joinTable(job)
}

// joinTable makes t the executor's table. Until a run begins the executor desires nothing.
func (s *sharing) joinTable(t table) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.table = t
	s.joined.Store(true)
	s.control.SetAllotment(1)
	if s.quotas == nil {
		s.progress.onBegin(s.appoint)
	}
}

// Leave implements hosting.Sharing. It gives the processors back, and ends the manager.
func (s *sharing) Leave() {
	s.retire()
	s.manager.Wait()
}

// retire is Leave, but does not wait for the manager's end.
func (s *sharing) retire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.table != nil {
		_ = s.table.Leave() // the table takes the place back in any case when the process ends
	}
	s.closing = true
	s.quotas.leave()
	s.forgetTable()
	s.control.Close()
}

// manage is the manager's goroutine. It ends when the executor has desired nothing for some cycles, or is alone.
func (s *sharing) manage() {
	defer s.manager.Done()
	pprof.SetGoroutineLabels(context.Background()) // it has those of the first run's starter
	for alarm := s.resume(); alarm != nil && alarm.Sleep(); {
		alarm = s.tick()
	}
}

// resume is called when a run has begun while the executor desired nothing. It returns what ends the cycle; nil if
// nothing bounds the executor.
func (s *sharing) resume() *park.Alarm {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.idle = s.sample(), 0
	s.tell(s.wanted, 0, 1000)
	return s.set()
}

// bounded reports whether anything may bound how many workers are awake. The caller holds mu.
func (s *sharing) bounded() bool { return s.table != nil || s.quotas != nil && !s.closing }

// set sets the alarm for the end of the cycle, and returns it. The caller holds mu.
func (s *sharing) set() *park.Alarm {
	period := s.cfg.Cycle
	if s.table == nil && !s.quotas.limited() {
		period = slowCycle
	}
	switch {
	case !s.bounded():
		s.dismiss()
	case s.alarm == nil || s.period != period:
		s.dismiss()
		s.alarm, s.period = park.NewAlarm(period), period
	}
	return s.alarm
}

// dismiss ends the manager's sleeps. The caller holds mu.
func (s *sharing) dismiss() {
	if s.alarm != nil {
		s.alarm.Cancel()
		s.alarm = nil
	}
}

// tick ends a cycle: it estimates the desire, and lets the allotment follow. It returns what ends the next cycle; nil
// if there is none.
func (s *sharing) tick() *park.Alarm {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.sample()
	count, inProgress := s.count(s.last, now)
	s.last = now
	s.control.BeginCycle()
	s.idle++
	switch {
	case inProgress:
		s.idle = 0
		s.usageSum.Store(s.usageSum.Load() + uint64(count.Usage))
		s.cycles.Store(s.cycles.Load() + 1)
		s.wanted = min(s.rule.Next(s.wanted, count), s.on.Workers())
		efficiency := 1000
		if count.Attempts > 0 {
			efficiency = int((count.Attempts - min(count.Pure, count.Attempts)) * 1000 / count.Attempts)
		}
		s.tell(s.wanted, count.Usage, efficiency)
	case s.idle < idleCycles:
		s.tell(s.wanted, 0, 1000)
	default:
		s.tell(0, 0, 1000)
		s.quotas.leave()
		s.dismiss()
		if s.bounded() {
			s.progress.onBegin(s.appoint)
		}
		return nil
	}
	return s.set()
}

// tell publishes the figures of a cycle, and lets the control follow the table and the quota. The caller holds mu.
func (s *sharing) tell(desire, usage, efficiency int) {
	allotment := s.on.Limit()
	if s.table != nil {
		allotment = s.exchange(desire, usage, efficiency)
	}
	if !s.bounded() {
		s.control.Close()
		return
	}
	now := nanotime()
	s.control.SetAllotment(min(allotment, s.quotas.next(now, s.awake(now), s.on.Limit())))
}

// exchange tells the table the figures of a cycle, and returns the allotment. If the table is lost, the executor is
// alone. The caller holds mu.
func (s *sharing) exchange(desire, usage, efficiency int) (allotment int) {
	s.desire.Store(uint64(desire))
	s.usage.Store(uint64(usage))
	s.efficiency.Store(uint64(efficiency))
	allotment, err := s.table.Update(desire, usage, efficiency)
	s.allotment.Store(uint64(allotment))
	if err != nil {
		s.err.Store(&err)
		s.forgetTable()
		return s.on.Limit()
	}
	return max(allotment, 1) // a job that desires nothing is allotted nothing, but its next run has to begin
}

// forgetTable forgets the table. The caller holds mu.
func (s *sharing) forgetTable() {
	s.table = nil
	s.joined.Store(false)
	if !s.bounded() {
		s.dismiss()
	}
}

// A sample is what the workers and the runs have counted so far. Times are in nanoseconds.
type sample struct {
	attempts, pure uint64
	awake          int64 // while there was a run or a future, summed over all workers
	inProgress     int64 // while there was a run or a future
	ready          int
}

func (s *sharing) sample() (n sample) {
	now := nanotime()
	for m := range s.all() {
		n.attempts += m.attempts.Load()
		n.pure += m.pure.Load()
		n.ready += m.w.Items()
		if m.w.Running() {
			n.ready++
		}
	}
	n.ready += s.on.Submitted()
	n.inProgress, n.awake = s.total(now)
	return n
}

// awake returns for how long workers have been awake, summed over all of them.
func (s *sharing) awake(now int64) (sum int64) {
	for m := range s.all() {
		sum += m.awake(now)
	}
	return sum
}

// all returns the workers made so far.
func (s *sharing) all() iter.Seq[*sharer] {
	return func(yield func(*sharer) bool) {
		for i := range s.members {
			if m := s.members[i].Load(); m == nil || !yield(m) {
				return // workers are made in order
			}
		}
	}
}

// count returns what was counted between two samples, and whether a run or a future was in progress. The usage is the
// mean number of workers awake, of that time only: an executor with many short runs desires what each of them can use.
func (s *sharing) count(from, to sample) (c allot.Count, inProgress bool) {
	c = allot.Count{Attempts: to.attempts - from.attempts, Pure: to.pure - from.pure, Ready: to.ready}
	lasted := to.inProgress - from.inProgress
	if lasted <= 0 {
		return c, false
	}
	c.Usage = min(int((max(to.awake-from.awake, 0)+lasted/2)/lasted), s.on.Workers())
	return c, true
}

// Stats implements hosting.Sharing.
func (s *sharing) Stats() (ShareStats, QuotaStats) { return s.stats(), s.quotaStats() }

// Dump implements hosting.Sharing.
func (s *sharing) Dump() (lines string) {
	if s.quotas != nil {
		lines = fmt.Sprintf("CPU quota: %v\n", s.quotaStats())
	}
	if s.shares {
		lines += fmt.Sprintf("sharing: %v\n", s.stats())
	}
	return lines
}

// stats returns the figures about the table. The counters stay when there is none any more.
func (s *sharing) stats() (out ShareStats) {
	if !s.shares {
		return out
	}
	if err := s.err.Load(); err != nil {
		out.Err = *err
	}
	out.Cycles, out.Rests = s.cycles.Load(), s.control.Rests()
	if out.Cycles > 0 {
		out.MeanUsage = float64(s.usageSum.Load()) / float64(out.Cycles)
	}
	if out.Joined = s.joined.Load(); out.Joined {
		out.Desire, out.Allotment = int(s.desire.Load()), int(s.allotment.Load())
		out.Usage, out.Efficiency = int(s.usage.Load()), float64(s.efficiency.Load())/1000
		out.Awake, out.Resting = s.control.Awake(), s.control.Resting()
	}
	return out
}

// controlled shows an executor to its control. It implements share.Host.
type controlled struct {
	hosting.Machine
	of *sharing
}

// Wake implements share.Host.
func (c controlled) Wake(worker int) { c.of.members[worker].Load().parker.Unpark() }

// A progress is the account of the time during which any run or future is in progress.
type progress struct {
	mu    xsync.Mutex
	n     int    // the runs together count as one, and so do the futures
	since int64  // when n became positive
	past  int64  // the time before since
	ended int64  // for how long workers had been awake when n became 0
	spare int64  // for how long workers were awake while n was 0, before since
	first func() // if set, it is to be called when anything is in progress; it does not wait
}

// CountIn implements hosting.Sharing.
func (s *sharing) CountIn() {
	p := &s.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n++; p.n == 1 {
		p.since = nanotime()
		p.spare += s.awake(p.since) - p.ended
		p.callFirst()
	}
}

// CountOut implements hosting.Sharing.
func (s *sharing) CountOut() {
	p := &s.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n--; p.n == 0 {
		now := nanotime()
		p.past += now - p.since
		p.ended = s.awake(now)
	}
}

// onBegin has f called once: now, if anything is in progress, or else at the next CountIn.
func (p *progress) onBegin(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.first = f
	if p.n > 0 {
		p.callFirst()
	}
}

func (p *progress) callFirst() {
	if f := p.first; f != nil {
		p.first = nil
		f()
	}
}

// total returns for how long anything has been in progress, and for how long workers were awake meanwhile.
func (s *sharing) total(now int64) (inProgress, awake int64) {
	p := &s.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n == 0 {
		return p.past, p.ended - p.spare
	}
	return p.past + max(now-p.since, 0), s.awake(now) - p.spare
}

// appoint starts a manager. It is called when a run begins while the executor desires nothing.
func (s *sharing) appoint() {
	s.manager.Add(1)
	s.on.Aside(s.manage)
}

var epoch = time.Now()

func nanotime() int64 { return int64(time.Since(epoch)) }
