package bench

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/internal/osthread"
)

// A muster measures the all-procs time of document 003: the time until every worker has had work.
//
// A worker has had work when it has begun a call of the program, the first or a forked one. It notes itself then, so
// the time is exact to the cost of a lock, and no thread has to poll. Executor.Stats would not do: a worker publishes
// its counters when it has finished something, and the first call of loopy can take seconds.
type muster struct {
	begin   time.Time
	missing atomic.Int32 // the number of workers that have had no work

	mu   sync.Mutex
	seen map[int64]bool // by thread: workers keep their threads
	took time.Duration  // when missing is 0
}

// newMuster begins to measure.
func newMuster(workers int) *muster {
	m := &muster{begin: time.Now(), seen: make(map[int64]bool)}
	m.missing.Store(int32(workers))
	return m
}

// here notes the calling worker.
func (m *muster) here() {
	if m.missing.Load() == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	self := osthread.Self()
	if m.missing.Load() == 0 || m.seen[self] {
		return
	}
	m.seen[self] = true
	if m.missing.Add(-1) == 0 {
		m.took = time.Since(m.begin)
	}
}

// allProcs returns the time, or 0 if the program has ended before every worker had work. Not during a run.
func (m *muster) allProcs() time.Duration { return m.took }

// muster runs the program once more, with a note of each worker's first call, and returns the all-procs time. The
// executor is new, as for each repetition.
func (j *job) muster() (time.Duration, error) {
	ex, err := executorFor(j.setting)
	if err != nil {
		return 0, err
	}
	j.data.Reset()
	m := newMuster(ex.Workers())
	err = workloads.RunOn(ex, j.teamwork, m.here)
	if closeErr := ex.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = j.data.Verify()
	}
	if err != nil {
		return 0, &WrongAnswer{j.workload, j.at(), err}
	}
	return m.allProcs(), nil
}
