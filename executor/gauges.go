package executor

// Gauges describe an executor at the moment of a call of [Executor.Stats].
type Gauges struct {
	// Workers is the number of workers without spare ones, [Config.Workers].
	Workers int
	// Injected is the number of items in the queue that all workers share: work that was submitted from outside, or
	// given away by a worker, and that no worker has taken yet. All functions from outside of a [Group] without a limit
	// count as one until a worker takes them, and those that wait for their turn are not counted.
	Injected int
	// Queued is the number of items in each worker's deque, by worker ID. It leaves out items that the kind of deque
	// hides from other workers, private forks, and all items of an executor with one worker that has run only graphs
	// and never needed a spare: no other thread can see these.
	Queued []int
	// States is what each worker does, by worker ID.
	States []WorkerState
	// Goroutines is the number of the goroutine that each worker runs on, as it appears in a traceback, by worker ID.
	// It is 0 for a worker without a thread and on an executor of [NewInline]. While a caller of [Executor.Run] has the
	// worker's place, it is still that of the worker's thread, which sleeps.
	Goroutines []uint64
	// Runs is the number of runs in progress, nested ones included, and Futures that of futures that have not ended. A
	// worker that has run futures only counts those that have ended when it runs out of work.
	Runs, Futures int
	// Blocked is the number of workers in [Blocking], or found to wait outside it, and Waiting the number of those that
	// sleep in a Wait or Join and are not in Blocking.
	Blocked, Waiting int
	// Silent has the IDs of the workers among Blocked that were found to wait outside Blocking, see
	// [host.Threads].OnlyBlocking.
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

// Pending returns the number of items that wait for a worker, as far as other threads can see them: Injected and the
// sum of Queued.
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
	ex.mu.Lock()
	g.Runs = ex.inProgress
	ex.mu.Unlock()
	return g
}
