package executor

// A givenContext is the context of a run that is kept for others, see keptRun, in a piece of its own. A task may refer
// to it for longer than the run, and calls its methods on any thread. So its methods look, under the lock of the run,
// whether it is the run's still.
type givenContext struct {
	taskContext
	run *Run
	of  any
	job Job
}

// giveContext makes the context of r, which is kept and about to begin, a givenContext.
func (r *Run) giveContext(of any, j Job) {
	g := &givenContext{run: r, of: of, job: j}
	g.owner = g
	r.setContext(&g.taskContext)
}

func (r *Run) setContext(c *taskContext) {
	if r.ctx != c {
		r.mu.Lock()
		r.ctx = c
		r.mu.Unlock()
	}
}

// cancel implements canceller.
func (g *givenContext) cancel(err, cause error) {
	r, result := g.run, newCancelError(nameOf(g.job), err, cause)
	r.mu.Lock()
	isFirst := r.ctx == &g.taskContext && r.stopLocked(err, cause, result)
	var body *Body
	if isFirst {
		body = r.body
	}
	r.mu.Unlock()
	if isFirst { // r now has an error, and is not kept
		r.tellAllStopped(body)
	}
}

// subscribe implements canceller.
func (g *givenContext) subscribe() { g.run.subscribeTo(&g.taskContext) }

// noticeAbort implements canceller.
func (g *givenContext) noticeAbort() {}

// home implements canceller.
func (g *givenContext) home() any { return g.of }

// leader implements canceller.
func (g *givenContext) leader() *Run { return g.run }
