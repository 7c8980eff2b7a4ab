package executor_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// The Wait of a fork reports failures of its own children only.
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

// Of several children that fail Wait returns the failure of the first started, not of the first to fail. The run's
// result has each once, also if the function returns what Wait did.
func TestScopeFailures(t *testing.T) {
	errs := []error{errors.New("older"), errors.New("newer")}
	fail := map[string]func(i int) error{
		"error":   func(i int) error { return errs[i] },
		"panic":   func(i int) error { panic(errs[i]) },
		"wrapped": func(i int) error { return fmt.Errorf("wrapped: %w", errs[i]) },
	}
	for name, fail := range fail {
		t.Run(name, func(t *testing.T) {
			onOpenDeques(t, thieves, func(t *testing.T, ex *executor.Executor) {
				for range testkit.Scale(10) {
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
	guests.None(t)
	for name, fail := range map[string]func() error{
		"error":  func() error { return errTest },
		"panic":  func() error { return panicWith(errTest) },
		"goexit": func() error { runtime.Goexit(); return nil },
	} {
		for _, sort := range testkit.Part(t, []string{"Go", "Spawn", "Spawn in Spawn", "forked", "Go in a fork"}) {
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
					meetApart(t, ex)
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
				err := ex.Run(ctx, executor.NewJob("test", func(s *executor.Scope) error {
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
				require.Len(t, slices.DeleteFunc(parts(err), func(err error) bool {
					return cancelled && err == context.Canceled
				}), 1)
			})
		})
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

// If a function wraps a child's failure, the run's error has it wrapped, and once. A failure that the function does not
// return is part of the run's error all the same.
func TestNewJobWrapsFailures(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		other := errors.New("other")
		err := ex.Run(t.Context(), executor.NewJob("f", func(s *executor.Scope) error {
			s.Go(func(context.Context) error { return errTest })
			return fmt.Errorf("loading: %w", s.Wait())
		}))
		require.EqualError(t, err, "loading: "+errTest.Error())
		err = ex.Run(t.Context(), executor.NewJob("f", func(s *executor.Scope) error {
			s.Spawn(func(s *executor.Scope) error {
				s.Go(func(context.Context) error { return errTest })
				return fmt.Errorf("inner: %w", s.Wait())
			})
			return fmt.Errorf("outer: %w", s.Wait())
		}))
		require.EqualError(t, err, "outer: inner: "+errTest.Error())
		err = ex.Run(t.Context(), executor.NewJob("f", func(s *executor.Scope) error {
			s.Go(func(context.Context) error { return errTest })
			_ = s.Wait()
			return nil
		}))
		require.Equal(t, errTest, err)
		err = ex.Run(t.Context(), executor.NewJob("f", func(s *executor.Scope) error {
			s.Go(func(context.Context) error { return errTest })
			_ = s.Wait()
			return other
		}))
		require.ErrorIs(t, err, errTest)
		require.ErrorIs(t, err, other)
	})
}

// Goexit in a fork and in the child that it leaves behind, wherever they run: each ends, and the run does.
func TestGoexitInForkAndChild(t *testing.T) {
	guests.None(t)
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
				err := ex.Run(t.Context(), executor.NewJob("f", func(s *executor.Scope) error {
					f := executor.Fork(s, leave, 1)
					executor.Fork(s, leave, 2) // not joined
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

// A child that uses the scope of the function that started it, as one would write it with errgroup, panics. On another
// worker it mostly does, and otherwise is a data race.
func TestScopeMisused(t *testing.T) {
	onEach(t, []int{1}, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			for range testkit.Scale(20) {
				var p *executor.PanicError
				err := ex.Run(t.Context(), executor.NewJob("f", func(s *executor.Scope) error {
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

func TestNewJobReturnsUncomparable(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		err := runFunc(t, ex, func(s *executor.Scope) error {
			s.Go(func(context.Context) error { return uncomparable{"a", "b"} })
			return s.Wait()
		})
		require.Equal(t, uncomparable{"a", "b"}, err)
	})
}

// A failure of a child's own is reported, even if it wraps the earlier failure of another. An error that only passes on
// why the run was stopped is not. The error in which a function returns its children's failures replaces these.
func TestNewJobTellsEachFailure(t *testing.T) {
	guests.None(t)
	wrap := func(with string, err error) error { return fmt.Errorf("%s: %w", with, err) }
	for name, test := range map[string]struct {
		second func(s *executor.Scope) error // called when the first child has failed with io.EOF
		want   string
	}{
		"wraps the same": {func(*executor.Scope) error { return wrap("own", io.EOF) }, "EOF; own: EOF"},
		"the same":       {func(*executor.Scope) error { return io.EOF }, "EOF"}, // as the cause is
		"joins the same": {func(*executor.Scope) error { return errors.Join(io.EOF, errTest) },
			"EOF; EOF; the test's own"},
		"wraps the cause": {func(s *executor.Scope) error { return wrap("stopped", context.Cause(s.Context())) },
			"EOF; stopped: EOF"}, // nobody can tell
		"the cause":        {func(s *executor.Scope) error { return context.Cause(s.Context()) }, "EOF"},
		"wraps the ending": {func(s *executor.Scope) error { return wrap("stopped", s.Context().Err()) }, "EOF"},
		"nested run": {func(s *executor.Scope) error {
			return wrap("nested", s.Executor().Run(s.Context(), one(nothing)))
		}, "EOF"},
		"children skipped": {func(s *executor.Scope) error {
			s.Go(func(context.Context) error { return errTest })
			return wrap("in vain", s.Wait())
		}, "EOF"},
		"goexit": {func(*executor.Scope) error { runtime.Goexit(); return nil },
			"EOF; executor: task called runtime.Goexit"},
	} {
		t.Run(name, func(t *testing.T) {
			for sort, start := range map[string]func(s *executor.Scope, fn func(*executor.Scope) error){
				"Spawn": func(s *executor.Scope, fn func(*executor.Scope) error) { s.Spawn(fn) },
				"Fork": func(s *executor.Scope, fn func(*executor.Scope) error) {
					s.Spawn(func(s *executor.Scope) error { return executor.Fork(s, apply, fn).Join(s) })
				},
			} {
				t.Run(sort, func(t *testing.T) {
					onOpenDeques(t, thieves, func(t *testing.T, ex *executor.Executor) {
						for _, outer := range []string{"", "outer: "} {
							met := barrier{n: 2}
							err := runFunc(t, ex, func(s *executor.Scope) error {
								s.Go(func(context.Context) error { met.meet(); return io.EOF })
								start(s, func(s *executor.Scope) error {
									met.meet()
									<-s.Context().Done()
									return test.second(s)
								})
								if err := s.Wait(); outer != "" {
									return wrap("outer", err)
								}
								return nil
							})
							if name == "goexit" && outer != "" {
								continue // the root may be unwound
							}
							want := outer + test.want
							if name == "the same" && outer != "" {
								want = "outer: EOF" // it wraps both
							}
							require.Equal(t, want, strings.ReplaceAll(err.Error(), "\n", "; "))
						}
					})
				})
			}
		})
	}
}

func apply(s *executor.Scope, fn func(*executor.Scope) error) error { return fn(s) }

// The error of a function that returns the failure of a child replaces that failure, also if the child was of a call
// that it has forked, on whichever worker that was made.
func TestNewJobReplacesItsOwn(t *testing.T) {
	onOpenDeques(t, thieves, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(20) {
			err := runFunc(t, ex, func(s *executor.Scope) error {
				return fmt.Errorf("outer: %w", forkStolen(s, apply, func(s *executor.Scope) error {
					s.Spawn(func(s *executor.Scope) error {
						s.Go(func(context.Context) error { return io.EOF })
						return s.Wait()
					})
					return s.Wait()
				}).Join(s))
			})
			require.EqualError(t, err, "outer: EOF")
		}
	})
}

// A chained or a fanned error leads to whatever is in it.
type (
	chained struct{ err error }
	fanned  struct{ errs []error }
)

func (*chained) Error() string    { return "chained" }
func (e *chained) Unwrap() error  { return e.err }
func (*fanned) Error() string     { return "fanned" }
func (e *fanned) Unwrap() []error { return e.errs }

// A badError panics whatever it is asked.
type badError struct{}

func (badError) Error() string { return "bad" }
func (badError) Is(error) bool { panic("Is") }
func (badError) Unwrap() error { panic("Unwrap") }

// A bearer can be compared, by its type, and panics when it is.
type bearer struct{ err error }

func (bearer) Error() string { return "bearer" }

// isBad reports whether err is one of TestHostileErrors, which must not be asked.
func isBad(err error) bool {
	switch err.(type) {
	case *chained, *fanned, badError, bearer:
		return true
	}
	return false
}

// An error's tree may be endless, or its methods panic: it is a failure like any other.
func TestHostileErrors(t *testing.T) {
	circle, fan := &chained{}, &fanned{}
	circle.err, fan.errs = circle, []error{fan, fan}
	for name, bad := range map[string]error{
		"circle": circle, "circles": fan, "panics": badError{}, "chained": &chained{badError{}},
		"bearer": bearer{uncomparable{"a"}},
	} {
		for work, run := range map[string]func(ex *executor.Executor, first, second func(context.Context) error) error{
			"children": func(ex *executor.Executor, first, second func(context.Context) error) error {
				return ex.Run(t.Context(), executor.NewJob("f", func(s *executor.Scope) error {
					s.Go(first)
					s.Spawn(func(s *executor.Scope) error { return second(s.Context()) })
					return s.Wait()
				}))
			},
			"graph": func(ex *executor.Executor, first, second func(context.Context) error) error {
				g := graph.New("g")
				g.Task(first)
				g.Task(second)
				return ex.Run(t.Context(), g)
			},
		} {
			t.Run(name+"/"+work, func(t *testing.T) {
				onEach(t, []int{2}, func(t *testing.T, ex *executor.Executor) {
					for _, errs := range [][2]error{{bad, errTest}, {errTest, bad}, {bad, bad}} {
						met := barrier{n: 2}
						err := run(ex, func(context.Context) error { met.meet(); return errs[0] },
							func(ctx context.Context) error {
								met.meet()
								<-ctx.Done()
								return errs[1]
							})
						if work == "children" && isBad(errs[0]) && isBad(errs[1]) {
							require.True(t, isBad(err), "%T",
								err) // the function returns it again, and it is that of both
							continue
						}
						joined, ok := err.(interface{ Unwrap() []error })
						require.True(t, ok, "%T", err)
						told := 0
						for _, part := range joined.Unwrap() {
							if task, ok := part.(*graph.TaskError); ok {
								part = task.Err
							}
							if told++; !isBad(part) {
								require.Equal(t, errTest, part)
							}
						}
						require.Equal(t, 2, told)
					}
				})
			})
		}
	}
}
