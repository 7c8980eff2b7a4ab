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

// Default returns an executor that all of the process may use. Functions that take a context and an executor use it for
// a nil executor, unless the context is that of a task, see [FromContext]. So does a zero [Group]. The first call makes
// it, by [New] with the zero [Config] but for the name "default". Until then it costs nothing. If it cannot be made,
// as in a bubble of testing/synctest, Default panics, and a later call tries again.
//
// The default executor is open until the end of the process. To close it is for main alone: all that use it later fail
// with [ErrClosed]. A program that needs another Config makes an executor of its own.
func Default() *Executor {
	standard.mu.Lock()
	defer standard.mu.Unlock()
	if standard.ex == nil {
		ex, err := newChosen(Config{Name: "default"}, usual())
		if err != nil {
			panic(fmt.Sprintf("executor: there is no default executor: %v", err))
		}
		standard.ex = ex
	}
	return standard.ex
}

// Choose returns ex or, if that is nil, what stands for it with ctx, see [Default]: for libraries that take both.
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
