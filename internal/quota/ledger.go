package quota

import (
	"sync"
	"time"

	"github.com/magpie-go/magpie/internal/cgroup"
)

// Process is the ledger of this process.
var Process = NewLedger(cgroup.Read)

// A Ledger keeps the budget of a process, from which its executors take. It reads the quota and how often the process
// was throttled, once in each of the quota's periods for all of them. While no executor has a part in it, it does
// nothing. Any goroutine may call its methods.
type Ledger struct {
	read func() (cgroup.State, error)

	mu     sync.Mutex // guards what follows; held while reading
	budget Budget
	state  cgroup.State
	err    error         // of the last reading
	looked time.Duration // when state was read
	told   time.Duration // up to when the budget is filled

	throttled uint64 // periods so far
}

// NewLedger returns the ledger of a process whose quota read reads.
func NewLedger(read func() (cgroup.State, error)) *Ledger { return &Ledger{read: read} }

// A Member is an executor's place in a ledger.
type Member struct {
	Part

	joined    bool
	throttled uint64 // of the ledger's, those that were told
}

// A Status is what the ledger knows at the end of a member's cycle.
type Status struct {
	Err       error   // why the quota could not be read the last time, if it could not
	CPUs      float64 // the quota; 0 if there is none
	Rate      float64 // what all members together may use of it, in CPUs
	Throttled uint64  // periods in which the process was throttled since the member's last cycle
}

// slowly is how often a ledger without a quota looks whether there is one.
const slowly = time.Second

// Next is Budget.Next at the time now, by a clock that all members share. A member that is not joined joins.
func (l *Ledger) Next(m *Member, now, used time.Duration, workers int) (n int, s Status) {
	l.mu.Lock()
	defer l.mu.Unlock()
	joins := !m.joined
	if joins {
		if len(l.budget.parts) == 0 {
			// What has happened to the process meanwhile is not the workers' doing.
			l.looked, l.state.Periods = 0, 0
		}
		m.joined = true
		l.budget.Join(&m.Part)
	}
	every := slowly
	if l.budget.Limited() {
		every = l.state.Period
	}
	if l.looked == 0 || now-l.looked >= every {
		l.look(now)
	}
	if joins {
		m.throttled = l.throttled
	}
	n = l.budget.Next(&m.Part, max(now-l.told, 0), max(used, 0), workers)
	l.told = max(now, l.told)
	s.Err = l.err
	if l.budget.Limited() {
		s.CPUs, s.Rate = l.state.CPUs, l.budget.Rate()
	}
	s.Throttled = l.throttled - m.throttled
	m.throttled = l.throttled
	return n, s
}

// Leave ends the member's part: it has no work. It does nothing if m is not joined.
func (l *Ledger) Leave(m *Member) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m.joined = false
	l.budget.Leave(&m.Part)
}

// look reads the state of the process's groups.
func (l *Ledger) look(now time.Duration) {
	l.looked = now
	s, err := l.read()
	if l.err = err; err != nil {
		return // what was known before goes on
	}
	last := l.state
	l.state = s
	l.budget.SetQuota(s.CPUs, s.Period)
	if s.Limited() && s.Group == last.Group && last.Periods > 0 && s.Periods > last.Periods {
		throttled := s.Throttled - min(last.Throttled, s.Throttled)
		l.budget.Throttled(throttled > 0)
		l.throttled += throttled
	}
}
