package executor

// An Executor is a number of workers that run tasks and steal from each other. [New] and [NewInline] make one: all
// methods of a nil or zero Executor panic. A process may have several executors.
//
// If an Executor becomes unreachable and is not closed, the garbage collector closes it some time later, with a line in
// the log of package log. Its runs in progress, and the Runs and Futures that a program keeps, refer to it.
type Executor struct {
	*executor
	_ noCopy
}

// mustBeMade panics if ex is nil or zero.
func (ex *Executor) mustBeMade() {
	if ex == nil || ex.executor == nil {
		panic("executor: an Executor is made by New or NewInline")
	}
}

// noCopy makes go vet report copies: a reference to a copy does not keep the executor open.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
