package executor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// runFunc runs fn with a scope.
func runFunc(t testing.TB, ex *executor.Executor, fn func(s *executor.Scope) error) error {
	return ex.Run(t.Context(), executor.NewJob("test", fn))
}

// A brood counts what its functions do, by their indices.
type brood struct{ begun, ended []atomic.Int32 }

func newBrood(n int) *brood { return &brood{make([]atomic.Int32, n), make([]atomic.Int32, n)} }

// child is a function that begins, lets others run, and ends.
func (b *brood) child(i int) func(context.Context) error {
	return func(context.Context) error {
		defer b.ended[i].Add(1)
		b.begun[i].Add(1)
		runtime.Gosched()
		return nil
	}
}

// check fails unless every function has ended, and has begun once, or at most once if some were skipped.
func (b *brood) check(t testing.TB, skipped bool) {
	t.Helper()
	for i := range b.begun {
		begun := b.begun[i].Load()
		require.Equal(t, begun, b.ended[i].Load(), "function %d", i)
		require.LessOrEqual(t, begun, int32(1), "function %d", i)
		if !skipped {
			require.EqualValues(t, 1, begun, "function %d", i)
		}
	}
}

// Children run once each, before the scope ends: whether it waits for them, and however it ends.
func TestScopeChildren(t *testing.T) {
	const wide = 20
	for name, end := range map[string]func(*executor.Scope) error{
		"wait":   (*executor.Scope).Wait,
		"return": func(*executor.Scope) error { return nil },
		"error":  func(*executor.Scope) error { return errTest },
		"panic":  func(*executor.Scope) error { panic(errTest) },
	} {
		t.Run(name, func(t *testing.T) {
			fails := name == "error" || name == "panic"
			onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
				for range testkit.Scale(10) {
					b := newBrood(2*wide + wide*wide)
					err := runFunc(t, ex, func(s *executor.Scope) error {
						for i := range wide {
							s.Go(b.child(i))
							s.Spawn(func(s *executor.Scope) error {
								for j := range wide {
									s.Go(b.child(2*wide + i*wide + j))
								}
								return b.child(wide + i)(s.Context())
							})
						}
						return end(s)
					})
					if fails {
						require.ErrorIs(t, err, errTest)
						require.Len(t, parts(err), 1)
					} else {
						require.NoError(t, err)
					}
					b.check(t, fails)
				}
			})
		})
	}
}

// Wait waits for all children started before it, on every level. A scope may go on after it.
func TestScopeWaits(t *testing.T) {
	onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(30) {
			var n atomic.Int64
			err := runFunc(t, ex, func(s *executor.Scope) error {
				if err := s.Wait(); err != nil {
					return err
				}
				for round := range 5 {
					for range 10 {
						s.Spawn(func(s *executor.Scope) error {
							for range 10 {
								s.Go(func(context.Context) error { n.Add(1); return nil })
							}
							return nil
						})
					}
					if err := s.Wait(); err != nil {
						return err
					}
					if got := n.Load(); got != int64(round+1)*100 {
						return fmt.Errorf("%d children had run when Wait returned", got)
					}
				}
				return nil
			})
			require.NoError(t, err)
		}
	})
}

// A fork waits for its own children, on any worker, and not for those of the function that joins it.
func TestScopeWaitInFork(t *testing.T) {
	onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(30) {
			var inner error
			var outer error
			waits := func(s *executor.Scope, fails bool) int {
				for range 3 {
					s.Go(nothing)
				}
				inner = s.Wait()
				s.Go(nothing) // in a frame that was used by another
				if fails {
					panic(errTest)
				}
				return 1
			}
			for _, fails := range []bool{false, true} {
				b := newBrood(3)
				err := runFunc(t, ex, func(s *executor.Scope) error {
					s.Go(b.child(0))
					f := executor.Fork(s, waits, fails)
					s.Go(b.child(1))
					value := recovered(func() { f.Join(s) })
					if fails && value != error(errTest) || !fails && value != nil {
						panic(value)
					}
					s.Go(b.child(2))
					outer = s.Wait()
					b.check(t, false)
					return outer
				})
				require.NoError(t, err)
				require.NoError(t, inner)
				b.check(t, false)
			}
		}
	})
}

// A fork does not wait for children of the function that joins it, which has waited for a run with these not begun.
func TestScopeWaitInForkBelowARun(t *testing.T) {
	onOpenDeques(t, []int{1}, func(t *testing.T, ex *executor.Executor) {
		began := false
		inScope(t, ex, func(s *executor.Scope) {
			s.Go(func(context.Context) error { began = true; return nil })
			require.NoError(t, ex.Run(s.Context(), one(nothing)))
			f := executor.Fork(s, func(s *executor.Scope, _ int) bool {
				require.NoError(t, s.Wait())
				return began
			}, 0)
			require.False(t, f.Join(s))
			require.NoError(t, s.Wait())
			require.True(t, began)
		})
	})
}

// A child is found by Wait also if forks below an older one were joined before it was started.
func TestScopeWaitAfterJoin(t *testing.T) {
	onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(30) {
			b := newBrood(2)
			inScope(t, ex, func(s *executor.Scope) {
				f := executor.Fork(s, fib, 3)
				s.Go(b.child(0))
				f.Join(s)
				s.Go(b.child(1))
				if err := s.Wait(); err != nil {
					panic(err)
				}
				b.check(t, false)
			})
		}
	})
}

func TestScopeOfNilPanics(t *testing.T) {
	onEachDeque(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		require.PanicsWithValue(t, "executor: NewJob of a nil function", func() { executor.NewJob("nil", nil) })
		require.PanicsWithValue(t, "executor: Call of a nil function", func() {
			_, _ = executor.Call[int, int](t.Context(), ex, nil, 1)
		})
		inScope(t, ex, func(s *executor.Scope) {
			for want, f := range map[string]func(){
				"executor: Scope.Go of a nil function":    func() { s.Go(nil) },
				"executor: Scope.Spawn of a nil function": func() { s.Spawn(nil) },
			} {
				if got := recovered(f); got != want {
					panic(got)
				}
			}
		})
	})
}

// Scopes in scopes, by children, forks and runs in turn.
func TestScopeDeep(t *testing.T) {
	onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		var ran atomic.Int64
		var level func(s *executor.Scope, n int) error
		level = func(s *executor.Scope, n int) error {
			ran.Add(1)
			if n == 0 {
				return nil
			}
			deeper := func(s *executor.Scope) error { return level(s, n-1) }
			switch n % 3 {
			case 0:
				return executor.Fork(s, level, n-1).Join(s)
			case 1:
				return ex.Run(s.Context(), executor.NewJob("deeper", deeper))
			}
			s.Spawn(deeper)
			return s.Wait()
		}
		require.NoError(t, runFunc(t, ex, func(s *executor.Scope) error { return level(s, 200) }))
		require.EqualValues(t, 201, ran.Load())
	})
}

// A run's context ends with it, and with the first failure.
func TestScopeContext(t *testing.T) {
	onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		var kept context.Context
		ctx := context.WithValue(t.Context(), contextKey{}, 7)
		err := ex.Run(ctx, executor.NewJob("test", func(s *executor.Scope) error {
			kept = s.Context()
			if s.Executor() != ex || kept.Value(contextKey{}) != 7 || kept.Err() != nil || s.Stopped() {
				return errors.New("not the run's context")
			}
			s.Go(func(ctx context.Context) error {
				if ctx != kept {
					return errors.New("another context")
				}
				return nil
			})
			return s.Wait()
		}))
		require.NoError(t, err)
		require.Equal(t, context.Canceled, kept.Err())

		err = runFunc(t, ex, func(s *executor.Scope) error {
			kept = s.Context()
			s.Go(func(context.Context) error { return errTest })
			_ = s.Wait()
			if !s.Stopped() || kept.Err() != context.Canceled || context.Cause(kept) != errTest {
				return errors.New("the failure did not end the context")
			}
			return nil
		})
		require.Equal(t, []error{errTest}, parts(err))
	})
}

// One job, run several times at once, from outside and from its own tasks.
func TestScopeAtOnce(t *testing.T) {
	onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(20) {
			var ran atomic.Int64
			var inner atomic.Int32
			var job executor.Job
			job = executor.NewJob("test", func(s *executor.Scope) error {
				for range 10 {
					s.Go(func(context.Context) error { ran.Add(1); return nil })
				}
				if inner.Add(1) <= 5 {
					return ex.Run(s.Context(), job)
				}
				return nil
			})
			runs := make([]*executor.Run, 10)
			for i := range runs {
				runs[i] = ex.Start(t.Context(), job)
			}
			for _, r := range runs {
				require.NoError(t, r.Wait())
			}
			require.EqualValues(t, (10+5)*10, ran.Load())
		}
	})
}

// Close waits for a run with all that it forks and starts after that.
func TestScopeAndClose(t *testing.T) {
	for _, s := range testkit.Part(t, forkStores) {
		for _, workers := range someWorkers {
			t.Run(fmt.Sprintf("W=%d/%v", workers, s), func(t *testing.T) {
				ex, err := executor.New(s.in(executor.Config{Workers: workers}))
				require.NoError(t, err)
				within(t, ex, func() {
					var ran atomic.Int64
					begun, closing := make(chan struct{}), make(chan struct{})
					r := ex.Start(t.Context(), executor.NewJob("test", func(s *executor.Scope) error {
						f := executor.Fork(s, fib, 10)
						close(begun)
						<-closing
						for range 100 {
							s.Spawn(func(s *executor.Scope) error { ran.Add(int64(fib(s, 5))); return nil })
						}
						ran.Add(int64(f.Join(s)))
						return ex.Run(s.Context(), executor.NewJob("nested", func(s *executor.Scope) error {
							ran.Add(int64(fib(s, 10)))
							return nil
						}))
					}))
					<-begun
					closed := make(chan error)
					go func() { closed <- ex.Close() }()
					eventually(func() bool {
						late := ex.Start(t.Context(), one(nothing))
						select {
						case <-late.Done():
							return errors.Is(late.Wait(), executor.ErrClosed)
						default:
							return false // it waits for the worker
						}
					})
					close(closing)
					require.NoError(t, <-closed)
					require.NoError(t, r.Wait())
					require.EqualValues(t, 100*serialFib(5)+2*serialFib(10), ran.Load())
				})
			})
		}
	}
}

// A Group limits how many calls with scopes of their own run at a time, in a function with a scope, with any number of
// workers.
func TestScopeLimitedByGroup(t *testing.T) {
	onInlineToo(t, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			const limit = 2
			var at, ran atomic.Int64
			limited := func(s *executor.Scope, children int) error {
				if at.Add(1) > limit {
					t.Error("too many calls at a time")
				}
				for range children {
					s.Spawn(func(*executor.Scope) error { ran.Add(1); return nil })
				}
				err := s.Wait()
				at.Add(-1)
				return err
			}
			require.NoError(t, ex.Run(t.Context(), executor.NewJob("limited", func(s *executor.Scope) error {
				g, _ := executor.GroupWithContext(s.Context(), s.Executor())
				g.SetLimit(limit)
				for i := range 20 {
					g.GoContext(func(ctx context.Context) error {
						failed, err := executor.Call(ctx, nil, limited, i)
						return errors.Join(failed, err)
					})
				}
				return g.Wait()
			})))
			require.EqualValues(t, 190, ran.Load())
		})
	})
}
