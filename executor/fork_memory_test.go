package executor_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"weak"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
)

// allocations is how many objects a call of f allocates, on average, in the whole process. testing.AllocsPerRun would
// take all Ps but one away from the workers.
func allocations(f func()) float64 {
	n := calls()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		f()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(n)
}

// calls is how often one is repeated: a hundred times, less often under the race detector.
func calls() int { return max(25, testkit.Scale(100)) }

// tree counts the nodes of a tree by forks of a struct.
func tree(s *executor.Scope, sp span) (r [2]int) {
	if sp.from == 0 {
		return [2]int{1, sp.to}
	}
	f := executor.Fork(s, tree, span{from: sp.from - 1, to: 1})
	right := tree(s, span{from: sp.from - 1, to: 2})
	left := f.Join(s)
	return [2]int{left[0] + right[0], sp.to}
}

// Forks allocate nothing once a worker has as many frames as it needs.
func TestForkAllocates(t *testing.T) {
	const forks = 1 << 10 // about, in each call measured
	for name, f := range map[string]func(*executor.Scope){
		"int":      func(s *executor.Scope) { fib(s, 15) },
		"struct":   func(s *executor.Scope) { tree(s, span{from: 10}) },
		"children": func(s *executor.Scope) { goMany(s, forks) },
	} {
		t.Run(name, func(t *testing.T) {
			onEachDeque(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
				inScope(t, ex, func(s *executor.Scope) {
					for range calls() { // every worker has made a first scope, and grown its stack
						f(s)
					}
					// A worker may have had no turn so far, and other goroutines of the process may allocate.
					testkit.Fits(t, func() (wrong string) {
						if got := allocations(func() { f(s) }); got >= forks/50. {
							wrong = fmt.Sprintf("%v allocations in %d forks", got, forks)
						}
						return wrong
					})
				})
			})
		})
	}
}

func goMany(s *executor.Scope, n int) {
	for range n {
		s.Go(nothing)
	}
	if err := s.Wait(); err != nil {
		panic(err)
	}
}

// Neither the argument nor the result of a joined fork is kept alive.
func TestForkKeepsNothingAlive(t *testing.T) {
	type large [1 << 10]int
	renews := func(_ *executor.Scope, p *large) *large { return &large{p[0] + 1} }
	left := func(_ *executor.Scope, p *large) *large { return p }
	for name, use := range map[string]func(s *executor.Scope, p *large) (result *large){
		"joined": func(s *executor.Scope, p *large) *large { return executor.Fork(s, renews, p).Join(s) },
		"stolen": func(s *executor.Scope, p *large) *large { return forkStolen(s, renews, p).Join(s) },
		"out of order": func(s *executor.Scope, p *large) *large {
			f, g := executor.Fork(s, renews, p), executor.Fork(s, renews, p)
			r := f.Join(s)
			g.Join(s)
			return r
		},
		"not joined": func(s *executor.Scope, p *large) *large {
			s.Spawn(func(s *executor.Scope) error { executor.Fork(s, left, p); return nil })
			if err := s.Wait(); err != nil {
				panic(err)
			}
			return &large{}
		},
		"panicked": func(s *executor.Scope, p *large) *large {
			recovered(func() {
				forkStolen(s, func(_ *executor.Scope, p *large) *large { panic("lost") }, p).Join(s)
			})
			return &large{}
		},
	} {
		t.Run(name, func(t *testing.T) {
			onOpenDeques(t, []int{2}, func(t *testing.T, ex *executor.Executor) {
				var pointers []weak.Pointer[large]
				inScope(t, ex, func(s *executor.Scope) {
					inner := executor.Fork(s, func(s *executor.Scope, _ int) int {
						for range 20 {
							arg := &large{1}
							pointers = append(pointers, weak.Make(arg), weak.Make(use(s, arg)))
						}
						return 0
					}, 0)
					inner.Join(s)
					// Still in the run, so that it is not its end that lets them go.
					eventually(func() bool {
						collect()
						return !slices.ContainsFunc(pointers, func(p weak.Pointer[large]) bool {
							return p.Value() != nil
						})
					})
				})
				runtime.KeepAlive(ex)
			})
		})
	}
}
