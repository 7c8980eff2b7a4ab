package executor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// runFunc runs fn with a scope.
func runFunc(t testing.TB, ex *executor.Executor, fn func(s *executor.Scope) error) error {
	return ex.Run(t.Context(), executor.Func("test", fn))
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

// check says that everything that was begun has ended, and has begun once, or at most once if some were skipped.
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
				for range testkit.Scale(30) {
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

// Wait waits for all that was started before it, on every level. A scope may go on after it.
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

// A fork waits for its own children, whoever runs it, and not for those of the function that joins it.
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

// What a fork's Wait returns is about its own children only.
func TestScopeWaitInForkAfterAFailure(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		var inner, outer error
		_ = runFunc(t, ex, func(s *executor.Scope) error {
			s.Go(func(context.Context) error { return errTest })
			executor.Fork(s, func(s *executor.Scope, _ int) int {
				inner = s.Wait()
				return 1
			}, 1).Join(s)
			outer = s.Wait()
			return nil
		})
		require.NoError(t, inner)
		require.Equal(t, errTest, outer)
	})
}

// Of several children that fail Wait returns the failure of the first started, not of the first to fail. The run's result
// has each once, also if the function returns what Wait did.
func TestScopeFailures(t *testing.T) {
	errs := []error{errors.New("older"), errors.New("newer")}
	fail := map[string]func(i int) error{
		"error":   func(i int) error { return errs[i] },
		"panic":   func(i int) error { panic(errs[i]) },
		"wrapped": func(i int) error { return fmt.Errorf("wrapped: %w", errs[i]) },
	}
	for name, fail := range fail {
		t.Run(name, func(t *testing.T) {
			onEachDeque(t, thieves, func(t *testing.T, ex *executor.Executor) {
				for range testkit.Scale(30) {
					var waited error
					err := runFunc(t, ex, func(s *executor.Scope) error {
						met := barrier{n: 2}
						stopped := s.Stopped
						s.Go(func(context.Context) error {
							met.meet()
							eventually(stopped) // the other has failed
							return fail(0)
						})
						s.Go(func(context.Context) error {
							met.meet()
							return fail(1)
						})
						waited = s.Wait()
						return waited
					})
					require.ErrorIs(t, waited, errs[0])
					require.NotErrorIs(t, waited, errs[1])
					require.ErrorIs(t, err, errs[0])
					require.ErrorIs(t, err, errs[1])
					require.Len(t, parts(err), 2, "%v", err)
				}
			})
		})
	}
}

// A child that panics or fails alone is the run's result, once.
func TestScopeChildFails(t *testing.T) {
	for name, fail := range map[string]func() error{
		"error":  func() error { return errTest },
		"panic":  func() error { return panicWith(errTest) },
		"goexit": func() error { runtime.Goexit(); return nil },
	} {
		for _, sort := range []string{"Go", "Spawn", "Spawn in Spawn", "forked", "Go in a fork"} {
			t.Run(name+"/"+sort, func(t *testing.T) {
				onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
					start := func(s *executor.Scope) error {
						switch sort {
						case "Go":
							s.Go(func(context.Context) error { return fail() })
						case "Spawn":
							s.Spawn(func(*executor.Scope) error { return fail() })
						case "Spawn in Spawn":
							s.Spawn(func(s *executor.Scope) error {
								s.Spawn(func(*executor.Scope) error { return fail() })
								return s.Wait()
							})
						case "forked":
							s.Spawn(func(s *executor.Scope) error {
								return executor.Fork(s, func(*executor.Scope, int) error { return fail() }, 1).Join(s)
							})
						case "Go in a fork":
							executor.Fork(s, func(s *executor.Scope, _ int) int {
								s.Go(func(context.Context) error { return fail() })
								return 1
							}, 1).Join(s)
						}
						return s.Wait()
					}
					for range testkit.Scale(10) {
						want := errTest
						if name == "goexit" {
							want = executor.ErrGoexit
						}
						err := runFunc(t, ex, start)
						require.ErrorIs(t, err, want)
						if name != "goexit" { // that may fail all that it unwinds
							require.Len(t, parts(err), 1, "%v", err)
						}
						var p *executor.PanicError
						if errors.As(err, &p) {
							require.Contains(t, string(p.Stack), "executor_test.panicWith")
						}
						require.Equal(t, name == "panic", p != nil)
					}
					meetAll(t, ex)
				})
			})
		}
	}
}

// Children that have not begun when the run fails or is cancelled are skipped, and Wait says why.
func TestScopeSkips(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		t.Run(fmt.Sprintf("cancelled=%v", cancelled), func(t *testing.T) {
			onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				var ran atomic.Int32
				var waited [2]error
				err := ex.Run(ctx, executor.Func("test", func(s *executor.Scope) error {
					if cancelled {
						cancel(errTest)
						_ = s.Context().Err() // tells the run
					} else {
						s.Go(func(context.Context) error { return errTest })
						waited[0] = s.Wait()
					}
					for range 10 {
						s.Go(func(context.Context) error { ran.Add(1); return nil })
						s.Spawn(func(*executor.Scope) error { ran.Add(1); return nil })
					}
					waited[1] = s.Wait()
					return waited[1]
				}))
				require.Zero(t, ran.Load())
				if !cancelled {
					require.Equal(t, errTest, waited[0])
				}
				require.Equal(t, errTest, waited[1])
				require.ErrorIs(t, err, errTest)
				require.Len(t, slices.DeleteFunc(parts(err), func(err error) bool { return cancelled && err == context.Canceled }), 1)
			})
		})
	}
}

func TestScopeOfNilPanics(t *testing.T) {
	onEachDeque(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		require.PanicsWithValue(t, "executor: Func of a nil function", func() { executor.Func("nil", nil) })
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
				return ex.Run(s.Context(), executor.Func("deeper", deeper))
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
		err := ex.Run(ctx, executor.Func("test", func(s *executor.Scope) error {
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

// One Func, run several times at once, from outside and from its own tasks.
func TestScopeAtOnce(t *testing.T) {
	onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(20) {
			var ran atomic.Int64
			var inner atomic.Int32
			var job executor.Job
			job = executor.Func("test", func(s *executor.Scope) error {
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
	for _, d := range executor.Deques() {
		for _, workers := range someWorkers {
			t.Run(fmt.Sprintf("W=%d/%v", workers, d), func(t *testing.T) {
				ex, err := executor.New(executor.Config{Workers: workers, Deque: d})
				require.NoError(t, err)
				within(t, ex, func() {
					var ran atomic.Int64
					begun, closing := make(chan struct{}), make(chan struct{})
					r := ex.Start(t.Context(), executor.Func("test", func(s *executor.Scope) error {
						f := executor.Fork(s, fib, 10)
						close(begun)
						<-closing
						for range 100 {
							s.Spawn(func(s *executor.Scope) error { ran.Add(int64(fib(s, 5))); return nil })
						}
						ran.Add(int64(f.Join(s)))
						return ex.Run(s.Context(), executor.Func("nested", func(s *executor.Scope) error {
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

// Call returns the zero value with an error, whatever the function returned.
func TestCallFails(t *testing.T) {
	onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		r, err := executor.Call(t.Context(), ex, func(s *executor.Scope, n int) int {
			s.Go(func(context.Context) error { return errTest })
			return n
		}, 7)
		require.ErrorIs(t, err, errTest)
		require.Zero(t, r)
		r, err = executor.Call(t.Context(), ex, func(*executor.Scope, int) int { panic(errTest) }, 7)
		require.ErrorIs(t, err, errTest)
		require.Zero(t, r)
		r, err = executor.Call(t.Context(), ex, func(s *executor.Scope, n int) int {
			s.Go(nothing)
			return n
		}, 7)
		require.NoError(t, err)
		require.Equal(t, 7, r)
	})
}

// What a function makes of a child's failure is what the run fails with: wrapped, and once. A failure that it passes over is
// the run's all the same.
func TestFuncWrapsFailures(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		other := errors.New("other")
		err := ex.Run(t.Context(), executor.Func("f", func(s *executor.Scope) error {
			s.Go(func(context.Context) error { return errTest })
			return fmt.Errorf("loading: %w", s.Wait())
		}))
		require.EqualError(t, err, "loading: "+errTest.Error())
		err = ex.Run(t.Context(), executor.Func("f", func(s *executor.Scope) error {
			s.Spawn(func(s *executor.Scope) error {
				s.Go(func(context.Context) error { return errTest })
				return fmt.Errorf("inner: %w", s.Wait())
			})
			return fmt.Errorf("outer: %w", s.Wait())
		}))
		require.EqualError(t, err, "outer: inner: "+errTest.Error())
		err = ex.Run(t.Context(), executor.Func("f", func(s *executor.Scope) error {
			s.Go(func(context.Context) error { return errTest })
			_ = s.Wait()
			return nil
		}))
		require.Equal(t, errTest, err)
		err = ex.Run(t.Context(), executor.Func("f", func(s *executor.Scope) error {
			s.Go(func(context.Context) error { return errTest })
			_ = s.Wait()
			return other
		}))
		require.ErrorIs(t, err, errTest)
		require.ErrorIs(t, err, other)
	})
}

// A Join runs no future, nor a task of a run, that the function has started besides: they may want what it holds.
func TestJoinRunsNothingForeign(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, Deque: executor.ChaseLev})
	within(t, ex, func() {
		for range testkit.Scale(50) {
			busy, free := make(chan struct{}), make(chan struct{})
			other := ex.Start(t.Context(), one(func(context.Context) error { close(busy); <-free; return nil }))
			<-busy
			var mu sync.Mutex
			var f *executor.Future[int]
			var r *executor.Run
			err := ex.Run(t.Context(), executor.Func("f", func(s *executor.Scope) error {
				fork := executor.Fork(s, func(*executor.Scope, int) int { return 1 }, 0)
				f = executor.Async(t.Context(), ex, func(context.Context) (int, error) { mu.Lock(); defer mu.Unlock(); return 1, nil })
				r = ex.Start(t.Context(), one(func(context.Context) error { mu.Lock(); defer mu.Unlock(); return nil }))
				mu.Lock()
				fork.Join(s)
				mu.Unlock()
				return nil
			}))
			require.NoError(t, err)
			close(free)
			_, err = f.Wait()
			require.NoError(t, errors.Join(err, r.Wait(), other.Wait()))
		}
	})
}

// Goexit in a fork and in the child that it leaves behind, wherever they run: each ends, and the run does.
func TestGoexitInForkAndChild(t *testing.T) {
	onEach(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			for i := range testkit.Scale(100) {
				leave := func(s *executor.Scope, deep int) int {
					s.Go(func(context.Context) error { runtime.Goexit(); return nil })
					s.Spawn(func(s *executor.Scope) error {
						executor.Fork(s, func(*executor.Scope, int) int { runtime.Goexit(); return 0 }, 0)
						s.Go(func(context.Context) error { runtime.Goexit(); return nil })
						runtime.Goexit()
						return nil
					})
					runtime.Goexit()
					return 0
				}
				err := ex.Run(t.Context(), executor.Func("f", func(s *executor.Scope) error {
					f := executor.Fork(s, leave, 1)
					executor.Fork(s, leave, 2) // nobody joins it
					if i%2 == 0 {
						for range 100 {
							runtime.Gosched() // for a thief
						}
					}
					f.Join(s)
					return nil
				}))
				require.ErrorIs(t, err, executor.ErrGoexit)
			}
			require.NoError(t, ex.Run(t.Context(), one(nothing)))
		})
	})
}

// A child that uses the scope of the function that started it, as one would write it with errgroup, is told so. On another
// worker it mostly is, and else is a data race.
func TestScopeMisused(t *testing.T) {
	onEach(t, []int{1}, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			for range testkit.Scale(20) {
				var p *executor.PanicError
				err := ex.Run(t.Context(), executor.Func("f", func(s *executor.Scope) error {
					s.Go(func(context.Context) error {
						s.Go(nothing)
						return nil
					})
					return s.Wait()
				}))
				require.ErrorAs(t, err, &p)
				require.Contains(t, p.Error(), "a Scope is used outside the function that it was given to")
			}
		})
	})
}

// An error that cannot be compared is the run's once, as others are.
type uncomparable []string

func (e uncomparable) Error() string { return fmt.Sprint([]string(e)) }

func TestFuncReturnsUncomparable(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		err := runFunc(t, ex, func(s *executor.Scope) error {
			s.Go(func(context.Context) error { return uncomparable{"a", "b"} })
			return s.Wait()
		})
		require.Equal(t, uncomparable{"a", "b"}, err)
	})
}

// Wait runs no run that the function has started besides: it may want what the function holds.
func TestWaitRunsNothingForeign(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			var mu sync.Mutex
			var r *executor.Run
			ran := false
			require.NoError(t, runFunc(t, ex, func(s *executor.Scope) error {
				s.Go(func(context.Context) error { ran = true; return nil })
				r = ex.Start(t.Context(), one(func(context.Context) error { mu.Lock(); defer mu.Unlock(); return nil }))
				mu.Lock()
				defer mu.Unlock()
				return s.Wait()
			}))
			require.True(t, ran)
			require.NoError(t, r.Wait())
		})
	})
}
