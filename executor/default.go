package executor

import (
	"context"
	"fmt"

	"github.com/magpie-go/magpie/internal/xsync"
)

// standard is the executor of Default, once it was asked for.
var standard struct {
	mu xsync.Mutex
	ex *Executor // guarded by mu
}

// Default returns an executor that all of the process may use. It is made at the first call, by [New] with the zero
// [Config] but for the name "default". Until then it costs nothing: there are no workers, and GOMAXPROCS is as it was.
//
// Functions of this module that take a context and an executor use the default one where they are given nil and a
// context that is not of a task, and so does a zero [Group].
//
// The default executor is open until the end of the process. To close it is for main alone, for instance by
// [Executor.Shutdown] when the process is told to end: all that use it later fail with [ErrClosed]. A program that
// needs another Config, or work that is apart from what libraries start, makes an executor of its own.
//
// Default panics if the executor cannot be made, see New: so it does in a bubble of testing/synctest, if that is where
// it is first called. A later call tries again. Any goroutine may call it.
func Default() *Executor {
	standard.mu.Lock()
	defer standard.mu.Unlock()
	if standard.ex == nil {
		ex, err := New(Config{Name: "default"})
		if err != nil {
			panic(fmt.Sprintf("executor: there is no default executor: %v", err))
		}
		standard.ex = ex
	}
	return standard.ex
}

// Choose returns ex or, if that is nil, the executor of ctx, see [FromContext], and if there is none that of [Default].
// It is how functions of this module understand a nil executor beside a context, for libraries that do the same. Choose
// panics if ctx is nil.
func Choose(ctx context.Context, ex *Executor) *Executor { return chooseFor(ctx, ex, "Choose") }

// chooseFor is Choose on behalf of caller, which a panic names.
func chooseFor(ctx context.Context, ex *Executor, caller string) *Executor {
	if ctx == nil {
		panic("executor: " + caller + " needs a context, got nil")
	}
	if ex != nil {
		ex.mustBeMade()
		return ex
	}
	if ex, ok := FromContext(ctx); ok {
		return ex
	}
	return Default()
}
