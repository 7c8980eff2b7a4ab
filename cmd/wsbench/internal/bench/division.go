package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/pool"
)

// A Division is one instance of a workload that is divided into a number of tasks before it runs: the interface
// benchmark.h of document 001. On engine magpie a package pool runs the tasks, from the queue of the setting.
type Division interface {
	// Inputs prepares the instance of size n: setInputs in the document.
	Inputs(n int, seed uint64, v Values)
	// Tasks divides the work into count tasks: getTasks in the document.
	Tasks(count int) []Part
	// Work does the work of a task: workerTask in the document. It reports whether it has found the result, if the
	// workload searches for one: then no other task need run.
	Work(p Part) (found bool)
	// Reset restores the data from before the first run.
	Reset()
	// Verify returns an error if a run has left wrong data.
	Verify() error
}

// A Part is what one task of a [Division] is to do. Of n units of work it has those from From to To-1.
type Part struct {
	Number   int // from 0
	From, To int
	Priority int // for the queue priority
}

// cut divides n units into count parts, as equal as possible.
func cut(n, count int) []Part {
	parts := make([]Part, count)
	for i := range parts {
		parts[i] = Part{Number: i, From: share(n, i, count), To: share(n, i+1, count)}
	}
	return parts
}

// share returns n*i/count without overflow.
func share(n, i, count int) int {
	return n/count*i + int(int64(n%count)*int64(i)/int64(count))
}

// divisions lists the workloads that are divisions.
func divisions() []*Workload {
	return []*Workload{mandelbrotViews, matmulK, sleepLinear, sleepPermuted, search}
}

// A bounded Division has a lower bound of the time in which any schedule can run its tasks.
type bounded interface {
	bound(parts []Part, workers int) time.Duration
}

// A divided is a division with a number of tasks and a queue: the Program of one setting.
type divided struct {
	Division
	name  string
	parts []Part
	pool  *pool.Pool // nil if the engine is not magpie

	ran   []atomic.Int32 // by part
	found atomic.Bool
	stats pool.Stats
}

// newDivided divides d into count tasks for a queue, which is [None] for an engine without queues.
func newDivided(name string, d Division, count int, queue string, seed uint64) (*divided, error) {
	p := &divided{Division: d, name: name, parts: d.Tasks(count), ran: make([]atomic.Int32, count)}
	if queue == None {
		return p, nil
	}
	opts, err := parseQueue(queue)
	if err != nil {
		return nil, err
	}
	opts.Seed, opts.Timed = seed, true
	if p.pool, err = pool.New(name, opts); err != nil {
		return nil, err
	}
	for _, part := range p.parts {
		p.pool.AddPriority(part.Priority, func(t *pool.Task) error {
			if p.work(part) {
				t.Found()
			}
			return nil
		})
	}
	return p, nil
}

func (p *divided) work(part Part) (found bool) {
	p.ran[part.Number].Add(1)
	if found = p.Work(part); found {
		p.found.Store(true)
	}
	return found
}

// Serial implements Program.
func (p *divided) Serial() {
	for _, part := range p.parts {
		if p.work(part) {
			return
		}
	}
}

// Goroutines implements Program: as many goroutines as workers take the next task by a counter.
func (p *divided) Goroutines(workers int) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, len(p.parts)) {
		wg.Go(func() {
			for !p.found.Load() {
				i := next.Add(1) - 1
				if i >= int64(len(p.parts)) {
					return
				}
				p.work(p.parts[i])
			}
		})
	}
	wg.Wait()
}

// Magpie implements Program.
func (p *divided) Magpie(ex *executor.Executor) error {
	err := ex.Run(context.Background(), p.pool)
	p.stats = p.pool.Stats()
	return err
}

// Reset implements Program.
func (p *divided) Reset() {
	p.Division.Reset()
	for i := range p.ran {
		p.ran[i].Store(0)
	}
	p.found.Store(false)
	p.stats = pool.Stats{}
}

// Verify implements Program. Each task must have run once or, if the result is found, at most once.
func (p *divided) Verify() error {
	found, total := p.found.Load(), 0
	for i := range p.ran {
		n := p.ran[i].Load()
		if n > 1 || n == 0 && !found {
			return fmt.Errorf("task %d ran %d times", i, n)
		}
		total += int(n)
	}
	if s := p.stats; p.pool != nil && (s.Total.Tasks != total || s.Found != found) {
		return fmt.Errorf("the pool counts %d tasks, found %v; there were %d, found %v",
			s.Total.Tasks, s.Found, total, found)
	}
	return p.Division.Verify()
}

// fill adds what the setting and the pool have to tell to the result of a run.
func (p *divided) fill(r *Result, point DivisionPoint) {
	r.Queue = point.Queue
	if b, ok := p.Division.(bounded); ok {
		r.BoundNS = b.bound(p.parts, r.Workers).Nanoseconds()
	}
	if p.pool != nil {
		r.Pool = newPoolFigures(p.stats)
	}
}

// A DivisionPoint is the [Setting] of a run of a [Division].
type DivisionPoint struct {
	Setting
	Queue string // see parseQueue; [None] where the engine has no choice
	Tasks int
}

func (p DivisionPoint) String() string {
	tasks := plural(p.Tasks, "task")
	if p.Queue == None {
		return fmt.Sprintf("%v, %s", p.Setting, tasks)
	}
	return fmt.Sprintf("%s (%s, %s, %s), %s, %s",
		p.Engine, p.Policy, p.Deque, p.Queue, plural(p.Workers, "worker"), tasks)
}

// PoolFigures are the figures of a run of a pool: see pool.DrainerStats. Steals are those of the pool, from its queues.
type PoolFigures struct {
	Tasks        []int   `json:"tasks"`   // by drainer
	BusyNS       []int64 `json:"busy_ns"` // by drainer: in tasks
	Steals       int     `json:"steals"`
	Moved        int     `json:"moved"` // tasks, by all steals
	FailedSteals int     `json:"failed_steals"`
	LockWaits    int     `json:"lock_waits"`
	LockWaitNS   int64   `json:"lock_wait_ns"`
	Looks        int     `json:"looks"`
}

func newPoolFigures(s pool.Stats) *PoolFigures {
	f := &PoolFigures{
		Steals: s.Total.Steals, Moved: s.Total.Moved, FailedSteals: s.Total.FailedSteals,
		LockWaits: s.Total.LockWaits, LockWaitNS: s.Total.LockWait.Nanoseconds(), Looks: s.Total.Looks,
	}
	for _, d := range s.Drainers {
		f.Tasks = append(f.Tasks, d.Tasks)
		f.BusyNS = append(f.BusyNS, d.Busy.Nanoseconds())
	}
	return f
}

// movedPerSteal returns the tasks that a steal has moved on average.
func (f *PoolFigures) movedPerSteal() float64 { return float64(f.Moved) / float64(max(f.Steals, 1)) }
