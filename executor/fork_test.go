package executor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"weak"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// onEachDeque runs a test for every policy, number of workers and kind of deque.
func onEachDeque(t *testing.T, workers []int, f func(t *testing.T, ex *executor.Executor)) {
	for _, p := range executor.Policies() {
		for _, n := range workers {
			for _, d := range executor.Deques() {
				t.Run(fmt.Sprintf("%v/W=%d/%v", p, n, d), func(t *testing.T) {
					ex := newExecutor(t, executor.Config{Workers: n, Policy: p, Deque: d})
					within(t, ex, func() { f(t, ex) })
				})
			}
		}
	}
}

var (
	someWorkers = []int{1, 2, 4, 8}
	thieves     = []int{2, 4, 8} // there is somebody to take a fork
)

// inScope runs f with a scope, in a run that must not fail.
func inScope(t testing.TB, ex *executor.Executor, f func(s *executor.Scope)) {
	t.Helper()
	require.NoError(t, runScope(t.Context(), ex, f))
}

func runScope(ctx context.Context, ex *executor.Executor, f func(s *executor.Scope)) error {
	return ex.Run(ctx, executor.Func("test", func(s *executor.Scope) error { f(s); return nil }))
}

// forkStolen forks f and returns when another worker has begun it. There must be a worker to do so, and no older fork
// that nobody has taken.
func forkStolen[A, R any](s *executor.Scope, f func(*executor.Scope, A) R, arg A) executor.Forked[A, R] {
	var begun atomic.Bool
	future := executor.Fork(s, func(s *executor.Scope, arg A) R {
		begun.Store(true)
		return f(s, arg)
	}, arg)
	eventually(begun.Load)
	return future
}

func fib(s *executor.Scope, n int) int {
	if n < 2 {
		return n
	}
	f := executor.Fork(s, fib, n-1)
	y := fib(s, n-2)
	return f.Join(s) + y
}

func serialFib(n int) int {
	if n < 2 {
		return n
	}
	return serialFib(n-1) + serialFib(n-2)
}

func TestForkFib(t *testing.T) {
	onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(50) {
			r, err := executor.Call(t.Context(), ex, fib, 18)
			require.NoError(t, err)
			require.Equal(t, serialFib(18), r)
		}
	})
}

// A span is larger than registers, and has a pointer.
type span struct {
	of       []int
	from, to int
	name     string
}

// sums has the forks of several types that TestForkTypes mixes.
type sums struct{ leaf int }

// ints, spans, text and nothing at all: each level of the recursion forks all types, and joins them newest first.
func (m *sums) span(s *executor.Scope, sp span) (r [2]int) {
	n := sp.to - sp.from
	if n <= m.leaf {
		for _, v := range sp.of[sp.from:sp.to] {
			r[0] += v
		}
		r[1] = n
		return r
	}
	mid := sp.from + n/2
	left := executor.Fork(s, m.span, span{sp.of, sp.from, mid, sp.name + "l"})
	long := executor.Fork(s, m.length, sp.name)
	none := executor.Fork(s, func(*executor.Scope, struct{}) struct{} { return struct{}{} }, struct{}{})
	small := executor.Fork(s, fib, n%8)
	right := m.span(s, span{sp.of, mid, sp.to, sp.name + "r"})
	if got := small.Join(s); got != serialFib(n%8) {
		panic(fmt.Sprintf("fib(%d) is not %d", n%8, got))
	}
	none.Join(s)
	if got := long.Join(s); *got != len(sp.name) {
		panic(fmt.Sprintf("%q is not %d bytes long", sp.name, *got))
	}
	l := left.Join(s)
	return [2]int{l[0] + right[0], l[1] + right[1]}
}

func (m *sums) length(_ *executor.Scope, text string) *int { n := len(text); return &n }

// Forks of several types in one function, and so on down.
func TestForkTypes(t *testing.T) {
	onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		of := make([]int, 1000)
		sum := 0
		for i := range of {
			of[i] = i * i
			sum += i * i
		}
		m := &sums{leaf: 5}
		for range testkit.Scale(30) {
			r, err := executor.Call(t.Context(), ex, m.span, span{of: of, to: len(of)})
			require.NoError(t, err)
			require.Equal(t, [2]int{sum, len(of)}, r)
		}
	})
}

// A joinOrder is the order in which n forks are joined, by their indices; those left out are not joined.
type joinOrder func(rng *rand.Rand, n int) []int

var joinOrders = map[string]joinOrder{
	"newest first": func(_ *rand.Rand, n int) []int { o := upTo(n); slices.Reverse(o); return o },
	"oldest first": func(_ *rand.Rand, n int) []int { return upTo(n) },
	"any":          func(rng *rand.Rand, n int) []int { return rng.Perm(n) },
	"some":         func(rng *rand.Rand, n int) []int { return rng.Perm(n)[:rng.IntN(n)] },
	"none":         func(*rand.Rand, int) []int { return nil },
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// Forks are joined in whatever order or not at all, on every level of a tree: each is run once, before the run ends.
func TestForkOrders(t *testing.T) {
	for name, order := range joinOrders {
		t.Run(name, func(t *testing.T) {
			onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
				seed := testkit.Seed(t)
				for round := range testkit.Scale(30) {
					const width, depth = 4, 4
					nodes := 1
					for d, w := 0, width; d < depth; d, w = d+1, w*width {
						nodes += w
					}
					ran := make([]atomic.Int32, nodes)
					var node func(*executor.Scope, [2]int) int
					node = func(s *executor.Scope, at [2]int) int {
						id, depth := at[0], at[1]
						ran[id].Add(1)
						if depth == 0 {
							return id
						}
						var forks [width]executor.Forked[[2]int, int]
						for i := range forks {
							forks[i] = executor.Fork(s, node, [2]int{id*width + i + 1, depth - 1})
						}
						rng := rand.New(rand.NewPCG(seed, uint64(round*nodes+id)))
						for _, i := range order(rng, width) {
							if got := forks[i].Join(s); got != id*width+i+1 {
								panic(fmt.Sprintf("fork %d returned %d", id*width+i+1, got))
							}
						}
						return id
					}
					_, err := executor.Call(t.Context(), ex, node, [2]int{0, depth})
					require.NoError(t, err)
					for id := range ran {
						require.EqualValues(t, 1, ran[id].Load(), "node %d", id)
					}
				}
			})
		})
	}
}

// Forks inside children inside forks, and runs of every sort inside those.
func TestForkNests(t *testing.T) {
	onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(20) {
			var ran atomic.Int64
			inner := func(s *executor.Scope, n int) int {
				if err := ex.Run(s.Context(), fan(3, func(context.Context) error { ran.Add(1); return nil })); err != nil {
					panic(err)
				}
				r, err := executor.Call(s.Context(), ex, fib, n)
				if err != nil {
					panic(err)
				}
				return r
			}
			outer := func(s *executor.Scope, n int) int {
				var sum atomic.Int64
				for range 3 {
					s.Spawn(func(s *executor.Scope) error {
						f := executor.Fork(s, inner, n)
						s.Go(func(context.Context) error { ran.Add(1); return nil })
						sum.Add(int64(f.Join(s) + fib(s, n)))
						return nil
					})
				}
				if err := s.Wait(); err != nil {
					panic(err)
				}
				return int(sum.Load())
			}
			inScope(t, ex, func(s *executor.Scope) {
				f, g := executor.Fork(s, outer, 8), executor.Fork(s, outer, 9)
				if got := [2]int{f.Join(s), g.Join(s)}; got != [2]int{6 * serialFib(8), 6 * serialFib(9)} {
					panic(fmt.Sprint(got))
				}
			})
			require.EqualValues(t, 2*3*(3+1), ran.Load())
		}
	})
}

func TestForkOfNilPanics(t *testing.T) {
	onEachDeque(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		inScope(t, ex, func(s *executor.Scope) {
			value := recovered(func() { executor.Fork[int, int](s, nil, 1) })
			if value != "executor: Fork of a nil function" {
				panic(value)
			}
		})
		require.Panics(t, func() { _, _ = executor.Call[int, int](t.Context(), ex, nil, 1) })
	})
}

// recovered is what f panics with.
func recovered(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// incomparable is a value of a comparable type that cannot be compared.
type incomparable struct{ value any }

// What functions panic with.
var panicValues = []any{"text", 42, errTest, []int{1}, incomparable{[]int{1}}, &incomparable{}}

func panics(_ *executor.Scope, value any) int {
	_ = panicWith(value)
	return 0
}

// Ways to fork a function: whoever is to run it.
var ways = map[string]func(*executor.Scope, any) executor.Forked[any, int]{
	"forked": func(s *executor.Scope, value any) executor.Forked[any, int] { return executor.Fork(s, panics, value) },
	"stolen": func(s *executor.Scope, value any) executor.Forked[any, int] { return forkStolen(s, panics, value) },
}

// onEachWay runs a test on executors on which f can be forked in that way.
func onEachWay(t *testing.T, f func(t *testing.T, ex *executor.Executor, way func(*executor.Scope, any) executor.Forked[any, int])) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			workers := someWorkers
			if name == "stolen" {
				workers = thieves
			}
			onEachDeque(t, workers, func(t *testing.T, ex *executor.Executor) { f(t, ex, way) })
		})
	}
}

// Join panics with what the fork panicked with. Whoever recovers goes on as if nothing had happened.
func TestForkPanicIsRecovered(t *testing.T) {
	onEachWay(t, func(t *testing.T, ex *executor.Executor, way func(*executor.Scope, any) executor.Forked[any, int]) {
		for _, value := range panicValues {
			var got any
			inScope(t, ex, func(s *executor.Scope) {
				f := way(s, value)
				got = recovered(func() { f.Join(s) })
				if s.Stopped() || s.Context().Err() != nil || fib(s, 10) != serialFib(10) {
					panic("the run does not go on")
				}
			})
			require.Equal(t, value, got)
		}
	})
}

// parts are the errors that err joins, or err.
func parts(err error) (all []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	for _, e := range joined.Unwrap() {
		all = append(all, parts(e)...)
	}
	return all
}

// A panic that nobody recovers is the run's result, with the stack of who panicked first, however many joins it has come
// through.
func TestForkPanicEndsTheRun(t *testing.T) {
	onEachWay(t, func(t *testing.T, ex *executor.Executor, way func(*executor.Scope, any) executor.Forked[any, int]) {
		for _, value := range panicValues {
			after := false
			err := runScope(t.Context(), ex, func(s *executor.Scope) {
				outer := executor.Fork(s, func(s *executor.Scope, _ int) int {
					return executor.Fork(s, func(s *executor.Scope, _ int) int { return way(s, value).Join(s) }, 1).Join(s)
				}, 1)
				outer.Join(s)
				after = true
			})
			require.False(t, after)
			failures := parts(err)
			require.Len(t, failures, 1)
			p, ok := failures[0].(*executor.PanicError)
			require.True(t, ok, "%T: %v", failures[0], err)
			require.Equal(t, value, p.Value)
			require.Contains(t, string(p.Stack), "executor_test.panicWith")
		}
		require.NoError(t, ex.Run(t.Context(), one(nothing)))
	})
}

// A panic is not lost because nobody joins the fork.
func TestForkPanicWithoutJoin(t *testing.T) {
	onEachWay(t, func(t *testing.T, ex *executor.Executor, way func(*executor.Scope, any) executor.Forked[any, int]) {
		for _, value := range panicValues {
			err := runScope(t.Context(), ex, func(s *executor.Scope) { way(s, value) })
			var p *executor.PanicError
			require.ErrorAs(t, err, &p)
			require.Equal(t, value, p.Value)
			require.Contains(t, string(p.Stack), "executor_test.panicWith")
		}
	})
}

// thrower is another function that panics.
func thrower(value any) { panic(value) }

// A panic with a value that was recovered before, in another function, has the stack of its own.
func TestForkPanicsAgain(t *testing.T) {
	onEachDeque(t, []int{2}, func(t *testing.T, ex *executor.Executor) {
		for range 10 { // so that it comes to the same worker
			inScope(t, ex, func(s *executor.Scope) {
				f := forkStolen(s, panics, any(errTest))
				if recovered(func() { f.Join(s) }) != error(errTest) {
					panic("another value")
				}
			})
			for name, run := range map[string]func() error{
				"scope": func() error { return runScope(t.Context(), ex, func(*executor.Scope) { thrower(errTest) }) },
				"graph": func() error {
					return ex.Run(t.Context(), one(func(context.Context) error { thrower(errTest); return nil }))
				},
			} {
				var p *executor.PanicError
				require.ErrorAs(t, run(), &p, name)
				require.Contains(t, string(p.Stack), "executor_test.thrower", name)
			}
		}
	})
}

// Older forks that are not joined when a newer one panics, or the function that made them, are run at most once, also if
// somebody recovers; the scope that goes on is unharmed.
func TestForkPanicLeavesForks(t *testing.T) {
	onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		for range testkit.Scale(30) {
			for joined := range 3 {
				for _, recovers := range []bool{true, false} {
					var ran [4]atomic.Int32
					runs := func(_ *executor.Scope, i int) int { ran[i].Add(1); return i }
					leaves := func(s *executor.Scope, _ int) int {
						a, b := executor.Fork(s, runs, 0), executor.Fork(s, runs, 1)
						c := executor.Fork(s, panics, any(errTest))
						switch joined {
						case 1:
							b.Join(s)
						case 2:
							a.Join(s)
						}
						return c.Join(s)
					}
					err := runScope(t.Context(), ex, func(s *executor.Scope) {
						older := executor.Fork(s, runs, 2)
						f := executor.Fork(s, leaves, 1)
						if !recovers {
							f.Join(s)
						}
						if value := recovered(func() { f.Join(s) }); value != error(errTest) {
							panic(fmt.Sprint("recovered ", value))
						}
						newer := executor.Fork(s, runs, 3)
						if older.Join(s) != 2 || newer.Join(s) != 3 || fib(s, 8) != serialFib(8) {
							panic("a wrong result")
						}
					})
					for i := range ran {
						require.LessOrEqual(t, ran[i].Load(), int32(1), "fork %d", i)
					}
					if recovers {
						require.NoError(t, err)
						require.EqualValues(t, 1, ran[2].Load())
						require.EqualValues(t, 1, ran[3].Load())
					} else {
						require.ErrorIs(t, err, errTest)
					}
				}
			}
		}
	})
}

// Goexit in a fork fails its run, whichever thread it ends. Runs beside it are unharmed, and the executor too.
func TestForkGoexit(t *testing.T) {
	exits := func(*executor.Scope, int) int { runtime.Goexit(); return 0 }
	for name, fork := range map[string]func(*executor.Scope) executor.Forked[int, int]{
		"forked": func(s *executor.Scope) executor.Forked[int, int] { return executor.Fork(s, exits, 0) },
		"stolen": func(s *executor.Scope) executor.Forked[int, int] { return forkStolen(s, exits, 0) },
	} {
		for _, joined := range []bool{true, false} {
			t.Run(fmt.Sprintf("%v/joined=%v", name, joined), func(t *testing.T) {
				workers := someWorkers
				if name == "stolen" {
					workers = []int{4, 8} // besides, one for the run beside
				}
				onEachDeque(t, workers, func(t *testing.T, ex *executor.Executor) {
					for range testkit.Scale(10) {
						beside := make(chan error, 1)
						go func() {
							r, err := executor.Call(t.Context(), ex, fib, 15)
							if err == nil && r != serialFib(15) {
								err = errors.New("a wrong result")
							}
							beside <- err
						}()
						after, deferred := false, false
						err := runScope(t.Context(), ex, func(s *executor.Scope) {
							defer func() { deferred = true }()
							older := executor.Fork(s, fib, 5)
							if name == "stolen" {
								older.Join(s)
							}
							f := fork(s)
							if joined {
								f.Join(s)
								after = true
							}
						})
						require.ErrorIs(t, err, executor.ErrGoexit)
						require.True(t, deferred)
						require.False(t, after)
						require.NoError(t, <-beside)
					}
					meetAll(t, ex)
					r, err := executor.Call(t.Context(), ex, fib, 12)
					require.NoError(t, err)
					require.Equal(t, serialFib(12), r)
				})
			})
		}
	}
}

// A fork that another worker ended with Goexit panics in Join, which may be recovered.
func TestForkGoexitIsRecovered(t *testing.T) {
	onEachDeque(t, thieves, func(t *testing.T, ex *executor.Executor) {
		inScope(t, ex, func(s *executor.Scope) {
			f := forkStolen(s, func(*executor.Scope, int) int { runtime.Goexit(); return 0 }, 0)
			if value := recovered(func() { f.Join(s) }); value != error(executor.ErrGoexit) {
				panic(fmt.Sprint("recovered ", value))
			}
			if fib(s, 8) != serialFib(8) {
				panic("a wrong result")
			}
		})
	})
}

// Forks are made in a run that was cancelled too: somebody counts on their results.
func TestForkInCancelledRun(t *testing.T) {
	onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		ctx, cancel := context.WithCancelCause(t.Context())
		var stopped bool
		var results [2]int
		err := runScope(ctx, ex, func(s *executor.Scope) {
			before := executor.Fork(s, fib, 10)
			cancel(errTest)
			_ = s.Context().Err() // that the run was cancelled it learns from whoever looks
			stopped = s.Stopped()
			results = [2]int{fib(s, 11), before.Join(s)}
		})
		require.ErrorIs(t, err, errTest)
		require.True(t, stopped)
		require.Equal(t, [2]int{serialFib(11), serialFib(10)}, results)
	})
}

// A run that was cancelled before it began makes no call.
func TestCallOfCancelledRun(t *testing.T) {
	onEachDeque(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r, err := executor.Call(ctx, ex, func(*executor.Scope, int) int { panic("called") }, 1)
		require.ErrorIs(t, err, context.Canceled)
		require.Zero(t, r)
	})
}

// allocations is how many objects a call of f allocates, on average, in the whole process. testing.AllocsPerRun would
// take all Ps but one away from the workers.
func allocations(f func()) float64 {
	const calls = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		f()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / calls
}

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
				var got float64
				inScope(t, ex, func(s *executor.Scope) {
					for range 100 { // every worker has made a first scope, and grown its stack
						f(s)
					}
					got = allocations(func() { f(s) })
				})
				require.Less(t, got, forks/50.)
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

// What was joined is kept alive by nobody: neither the argument nor the result.
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
			onEachDeque(t, []int{2}, func(t *testing.T, ex *executor.Executor) {
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
						runtime.GC()
						return !slices.ContainsFunc(pointers, func(p weak.Pointer[large]) bool { return p.Value() != nil })
					})
				})
				runtime.KeepAlive(ex)
			})
		})
	}
}

// TestForkManyInOrder: forks that are joined in the order in which they were made, and many that nobody joins.
func TestForkManyInOrder(t *testing.T) {
	const n = 20_000
	for _, workers := range []int{1, 2} {
		ex := newExecutor(t, executor.Config{Workers: workers})
		ran := make([]int32, n)
		_, err := executor.Call(t.Context(), ex, func(s *executor.Scope, _ int) int {
			forks := make([]executor.Forked[int, int], n)
			for i := range forks {
				forks[i] = executor.Fork(s, func(_ *executor.Scope, i int) int { ran[i]++; return i }, i)
			}
			for i, f := range forks[:n/2] {
				if f.Join(s) != i {
					t.Error(i)
				}
			}
			return 0
		}, 0)
		require.NoError(t, err)
		for i, r := range ran {
			require.EqualValues(t, 1, r, "fork %d", i)
		}
	}
}
