package executor

// Gauges describe an executor at the moment of a call of [Executor.Stats].
type Gauges struct {
	// Workers is the number of workers without spare ones, [Config.Workers].
	Workers int
	// Injected is the number of items in the queue that all workers share. Functions of a [Group] from outside count as
	// one without a limit, and not while they wait for their turn, or for the caller's Wait.
	Injected int
	// Queued is the number of items in each worker's deque, by worker index, without those that no other thread can see:
	// private forks, items that the kind of deque hides, and all of a single worker that has run only graphs.
	Queued []int
	// States is what each worker does, by worker index.
	States []WorkerState
	// Goroutines is the number of the goroutine of each worker's thread, as it appears in a traceback, by worker index. It
	// is 0 for a worker without a thread and on an executor of [NewInline].
	Goroutines []uint64
	// Runs is the number of runs in progress, nested ones included, and Futures that of futures that have not ended. A
	// worker that has run futures only counts those that have ended when it runs out of work.
	Runs, Futures int
	// MaxRuns is [Config.MaxRuns]. Unless it is 0, Inside is the number of runs and futures in progress that were started
	// from outside, and Entering that of calls that wait for room.
	MaxRuns, Inside, Entering int
	// Active is the number of workers that run items, or help while they wait for a fork or a run.
	Active int
	// Blocked is the number of workers in [Blocking] or found to wait outside it, Waiting that of others asleep in waits.
	Blocked, Waiting int
	// Silent has the indices of the workers among Blocked that were found to wait outside Blocking.
	Silent []int
	// Spares is the number of spare workers in service, and Standby the number of those on standby.
	Spares, Standby int
	// Closed says that Close was called, or Shutdown. Runs may still be in progress.
	Closed bool
}

// Count returns the number of workers in a state.
func (g Gauges) Count(state WorkerState) (n int) {
	for _, s := range g.States {
		if s == state {
			n++
		}
	}
	return n
}

// Pending returns Injected and the sum of Queued: items that wait for workers.
func (g Gauges) Pending() int {
	n := g.Injected
	for _, queued := range g.Queued {
		n += queued
	}
	return n
}

// gauges reads the gauges of these workers.
func (ex *executor) gauges(workers []*Worker) Gauges {
	spares := ex.spares.Counts()
	g := Gauges{
		Workers:    ex.cfg.Workers,
		Injected:   ex.injector.len(),
		Queued:     make([]int, len(workers)),
		States:     make([]WorkerState, len(workers)),
		Goroutines: make([]uint64, len(workers)),
		Futures:    int(ex.asyncs.left.Load()),
		Blocked:    spares.Blocked,
		Waiting:    spares.Asleep,
		Spares:     spares.Serving,
		Standby:    spares.Standby,
		Closed:     ex.closed.Load(),
	}
	for i, w := range workers {
		g.Queued[i] = w.lane.Len()
		g.States[i] = WorkerState(w.seen.state.Load())
		g.Goroutines[i] = w.thread.goroutine.Load()
		if partsOf(w).silent.Load() != 0 {
			g.Silent = append(g.Silent, i)
		}
	}
	g.Active = g.Count(WorkerRunning)
	ex.mu.Lock()
	g.Runs = ex.inProgress
	ex.mu.Unlock()
	return g
}
