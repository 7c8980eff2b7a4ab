package executor_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A store is a kind of deque and a way to fork.
type store struct {
	deque deque.Kind
	forks string
}

func (s store) String() string { return fmt.Sprintf("%v-%v", s.deque, s.forks) }

// in is the configuration with that store.
func (s store) in(cfg executor.Config) executor.Config {
	cfg.Experiment.Deque, cfg.Experiment.Forks = s.deque, s.forks
	return cfg
}

// forkStores are the stores that scopes can use, without those that differ in name only. With openStores thieves see
// every fork when it is made, or soon.
var forkStores, openStores = func() (all, open []store) {
	for _, d := range deque.Kinds() {
		if d.FIFO() {
			continue
		}
		seen := map[bool]bool{} // whether forks are pushed
		for _, forks := range experiment.Forks() {
			s := store{d, forks}
			cfg := s.in(executor.Config{})
			if seen[cfg.PushesForks()] {
				continue
			}
			seen[cfg.PushesForks()] = true
			all = append(all, s)
			if !d.Hides() {
				open = append(open, s)
			}
		}
	}
	return all, open
}()

// onEachDeque runs a test for every policy, number of workers and store that scopes can use.
func onEachDeque(t *testing.T, workers []int, f func(t *testing.T, ex *executor.Executor)) {
	onStores(t, forkStores, workers, f)
}

// onOpenDeques does so with the stores that hide nothing: a thief has to take a fork while the worker that made it
// waits.
func onOpenDeques(t *testing.T, workers []int, f func(t *testing.T, ex *executor.Executor)) {
	onStores(t, openStores, workers, f)
}

// onStores runs a test for every policy and number of workers with the default kind of deque, and with each store of
// another kind for one policy and number, which the seed chooses: the names of the subtests tell them. Each comes as
// often as another. If Quick, the default kind too is tried with one policy and one of the numbers only, and a quarter
// of the other stores are drawn.
func onStores(t *testing.T, stores []store, workers []int, f func(t *testing.T, ex *executor.Executor)) {
	on := func(p string, n int, s store) {
		t.Run(fmt.Sprintf("%v/W=%d/%v", p, n, s), func(t *testing.T) {
			ex := newExecutor(t, s.in(executor.Config{Workers: n, Experiment: experiment.Options{Policy: p}}))
			within(t, ex, func() { f(t, ex) })
		})
	}
	policies := testkit.Some(t, usable())
	several := workers[min(1, len(workers)-1):] // one worker alone has the same deque, whatever its kind
	rng := testkit.Drawer(t)
	turn := rng.IntN(len(policies) * len(several))
	workers = someOf(rng, workers)
	for _, s := range stores {
		if s.deque != deque.KindChaseLev {
			if testkit.Quick() && rng.IntN(4) > 0 {
				continue
			}
			on(policies[turn%len(policies)], several[turn/len(policies)%len(several)], s)
			turn++
			continue
		}
		for i, p := range policies {
			for k, n := range workers {
				if !testkit.Quick() || (turn+k)%len(policies) == i {
					on(p, n, s)
				}
			}
		}
		turn++
	}
}

var (
	someWorkers = []int{1, 2, 4, 8}
	thieves     = []int{2, 4, 8} // there is a thief to take a fork
)

// inScope runs f with a scope, in a run that must not fail.
func inScope(t testing.TB, ex *executor.Executor, f func(s *executor.Scope)) {
	t.Helper()
	require.NoError(t, runScope(t.Context(), ex, f))
}

func runScope(ctx context.Context, ex *executor.Executor, f func(s *executor.Scope)) error {
	return ex.Run(ctx, executor.NewJob("test", func(s *executor.Scope) error { f(s); return nil }))
}

// forkStolen forks f and returns when another worker has begun it. There must be such a worker, and no older fork
// that is not taken.
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

// Forks that a long loop joins oldest first take no more room with each iteration.
func TestForkLoopOldestFirst(t *testing.T) {
	onEachDeque(t, someWorkers, func(t *testing.T, ex *executor.Executor) {
		inUse, err := executor.Call(t.Context(), ex, func(s *executor.Scope, rounds int) (most int) {
			same := func(_ *executor.Scope, n int) int { return n }
			other := func(_ *executor.Scope, n int8) int8 { return n }
			for range rounds {
				a := executor.Fork(s, same, 1)
				b := executor.Fork(s, other, 2)
				c := executor.Fork(s, same, 3)
				a.Join(s)
				b.Join(s)
				c.Join(s)
				most = max(most, s.Unjoined())
			}
			return most
		}, 100)
		require.NoError(t, err)
		require.Zero(t, inUse)
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

// Forks are joined in any order or not at all, on every level of a tree: each is run once, before the run ends.
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
				if err := ex.Run(s.Context(),
					fan(3, func(context.Context) error { ran.Add(1); return nil })); err != nil {
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

// Values that functions panic with.
var panicValues = []any{"text", 42, errTest, []int{1}, incomparable{[]int{1}}, &incomparable{}}

// Ways to fork a function, by the worker that runs it.
var ways = map[string]func(*executor.Scope, any) executor.Forked[any, int]{
	"forked": func(s *executor.Scope, value any) executor.Forked[any, int] { return executor.Fork(s, panics, value) },
	"stolen": func(s *executor.Scope, value any) executor.Forked[any, int] { return forkStolen(s, panics, value) },
}

// TestForkManyInOrder: forks that are joined in the order in which they were made, and many that are not joined.
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
