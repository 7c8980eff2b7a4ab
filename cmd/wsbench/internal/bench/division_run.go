package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/pool"
)

// A divided is a division with a number of tasks and a queue: the Program of one setting.
type divided struct {
	workloads.Division
	name  string
	parts []workloads.Part
	pool  *pool.Pool // nil if the engine is not magpie

	ran   []atomic.Int32 // by part
	found atomic.Bool
	stats pool.Stats
}

// newDivided divides d into count tasks for a queue, which is [None] for an engine without queues.
func newDivided(name string, d workloads.Division, count int, queue string, seed uint64) (*divided, error) {
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

func (p *divided) work(part workloads.Part) (found bool) {
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
	if b, ok := p.Division.(workloads.Bounded); ok {
		r.BoundNS = b.Bound(p.parts, r.Workers).Nanoseconds()
	}
	if p.pool != nil {
		r.Pool = newPoolFigures(p.stats)
	}
}

// A DivisionPoint is the [Setting] of a run of a [workloads.Division].
type DivisionPoint struct {
	Setting
	Queue string // see parseQueue; [None] where the engine has no choice
	Tasks int
}

func (p DivisionPoint) String() string {
	tasks := plural(p.Tasks, "task")
	if p.Again {
		tasks += ", again"
	}
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
