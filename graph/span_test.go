package graph_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// A meeting is a set of tasks that can only return when all of them run at once. It notes the threads they came on.
type meeting struct {
	party   int
	barrier *barrier
	threads []int64
	place   atomic.Int32
}

func newMeeting(party int) *meeting {
	m := &meeting{party: party, threads: make([]int64, party)}
	m.reset()
	return m
}

func (m *meeting) reset() {
	m.barrier = newBarrier(m.party)
	m.place.Store(0)
}

func (m *meeting) task(context.Context) error {
	m.threads[m.place.Add(1)-1] = osthread.ID()
	m.barrier.meet()
	return nil
}

func (m *meeting) check(t testing.TB) {
	t.Helper()
	require.EqualValues(t, m.party, m.place.Load())
	distinct := make(map[int64]bool)
	for _, id := range m.threads {
		distinct[id] = true
	}
	require.Len(t, distinct, m.party, "tasks that ran at once were on threads %v", m.threads)
}

// TestMeet: as many tasks as there are workers run at once, each on a thread of its own, in whichever way they became
// ready. A ready task must reach a sleeping worker even if the worker that released it is stuck in another task.
func TestMeet(t *testing.T) {
	for _, form := range []string{"sources", "successors", "among quick sources", "among quick successors",
		"behind chains", "before a sink", "among quick successors of two"} {
		t.Run(form, func(t *testing.T) {
			everyExecutor(t, []int{2, 4, 8}, func(t *testing.T, ex *executor.Executor) {
				w := ex.Workers()
				rng := rand.New(rand.NewPCG(1, uint64(w)))
				m := newMeeting(w)
				g := graph.New(form)
				quick := 0
				if form[0] == 'a' {
					quick = 1000 - w
				}
				if form == "among quick successors of two" {
					quick = 3000
				}
				var source, second, sink graph.Task
				if form != "sources" && form != "among quick sources" {
					source = g.Task(nothing)
				}
				if form == "among quick successors of two" {
					second = g.Task(nothing)
				}
				if form == "before a sink" {
					sink = g.Task(nothing)
				}
				for i, at := range rng.Perm(w + quick) {
					fn := nothing
					if at < w {
						fn = m.task
					}
					task := g.Task(fn)
					if source != (graph.Task{}) {
						from := source
						if form == "behind chains" {
							for range i % 3 {
								next := g.Task(nothing)
								from.Precede(next)
								from = next
							}
						}
						from.Precede(task)
					}
					if second != (graph.Task{}) && rng.IntN(500) == 0 {
						second.Precede(task)
					}
					if sink != (graph.Task{}) {
						task.Precede(sink)
					}
				}
				within(t, ex, func() {
					for range testkit.Scale(30) {
						m.reset()
						require.NoError(t, ex.Run(t.Context(), g))
						m.check(t)
					}
				})
			})
		})
	}
}

// TestCoarseFan is a fan of few long tasks, which must not end up behind each other on one worker because fans travel
// as spans: each begins while all others are in progress.
func TestCoarseFan(t *testing.T) {
	everyExecutor(t, []int{8}, func(t *testing.T, ex *executor.Executor) {
		m := newMeeting(8)
		g := graph.New("coarse")
		source := g.Task(nothing)
		for range 8 {
			source.Precede(g.Task(func(ctx context.Context) error {
				err := m.task(ctx)
				time.Sleep(time.Millisecond) // work for which other tasks could have to wait
				return err
			}))
		}
		within(t, ex, func() {
			for range testkit.Scale(50) {
				m.reset()
				require.NoError(t, ex.Run(t.Context(), g))
				m.check(t)
			}
		})
	})
}

// TestSpanStress lets many thieves steal from spans of tiny tasks: each task must run exactly once, while workers claim
// from, halve and empty the spans at the same time.
func TestSpanStress(t *testing.T) {
	for _, c := range []struct{ name, form string }{{"wide", "wide"}, {"narrow", "narrow"},
		{"fans of fans", "nested"}} {
		t.Run(c.name, func(t *testing.T) {
			everyExecutor(t, []int{2, 4}, func(t *testing.T, ex *executor.Executor) {
				g := graph.New(c.name)
				var counts []atomic.Int32
				add := func() graph.Task {
					i := g.Len()
					return g.Task(func(context.Context) error { counts[i].Add(1); return nil })
				}
				fan := func(from graph.Task, n int) (members []graph.Task) {
					for range n {
						s := add()
						from.Precede(s)
						members = append(members, s)
					}
					return members
				}
				switch c.form {
				case "wide":
					fan(add(), 20000)
				case "narrow": // spans of 8 after each other: made and used up all the time
					for at := range 500 {
						members := fan(add(), 8)
						if at%2 == 0 {
							add().Succeed(members...)
						}
					}
				case "nested":
					for _, s := range fan(add(), 64) {
						for _, s := range fan(s, 16) {
							fan(s, 8)
						}
					}
				}
				counts = make([]atomic.Int32, g.Len())
				before := ex.Stats().Total
				runs := 0
				within(t, ex, func() {
					// Nothing forces a steal here, so go on until there were some. On one busy core there may be none.
					begin, most := time.Now(), time.Duration(testkit.Scale(3000))*time.Millisecond
					few := func() bool { return ex.Stats().Total.StealsWon-before.StealsWon < 20 }
					for runs < testkit.Scale(60) || few() && time.Since(begin) < most {
						runs++
						require.NoError(t, ex.Run(t.Context(), g))
						for i := range counts {
							if n := counts[i].Load(); n != int32(runs) {
								require.FailNow(t, "lost or doubled", "task %d of %d ran %d times in %d runs", i,
									len(counts), n, runs)
							}
						}
					}
				})
				require.EqualValues(t, runs*g.Len(), ex.Stats().Total.Tasks-before.Tasks)
			})
		})
	}
}

// A joinGraph has tasks that add to plain words of their successors' inputs; the edges are all that orders them.
type joinGraph struct {
	g     *graph.Graph
	value []int
	preds [][]int
}

func (j *joinGraph) add(preds ...int) (task int, handle graph.Task) {
	task = len(j.value)
	j.value = append(j.value, 0)
	j.preds = append(j.preds, preds)
	handle = j.g.Task(func(context.Context) error {
		v := 1
		for _, p := range preds {
			if j.value[p] == 0 {
				return fmt.Errorf("task %d before its predecessor %d", task, p)
			}
			v = max(v, j.value[p]+1)
		}
		if j.value[task] != 0 {
			return fmt.Errorf("task %d a second time", task)
		}
		j.value[task] = v
		return nil
	})
	return task, handle
}

// TestCoalescedJoins: the counts that a worker owes to a join while it goes through a span arrive, in any order of the
// span's tasks and any assignment of joins to them.
func TestCoalescedJoins(t *testing.T) {
	const width = 1000
	// Each form returns the sink that the i-th task of the fan precedes.
	forms := map[string]func(rng *rand.Rand, i int) []int{
		"one sink":              func(*rand.Rand, int) []int { return []int{0} },
		"two sinks alternating": func(_ *rand.Rand, i int) []int { return []int{i % 2} },
		"two sinks in halves":   func(_ *rand.Rand, i int) []int { return []int{2 * i / width} },
		"stretches":             func(_ *rand.Rand, i int) []int { return []int{i / 7 % 13} },
		"random":                func(rng *rand.Rand, _ int) []int { return []int{rng.IntN(20)} },
		"none, one or two": func(rng *rand.Rand, i int) []int {
			return []int{rng.IntN(3), 3 + rng.IntN(3)}[:rng.IntN(3)]
		},
		"mostly one": func(rng *rand.Rand, i int) []int {
			if rng.IntN(50) == 0 {
				return []int{0, 1}
			}
			return []int{0}
		},
		"one sink twice": func(*rand.Rand, int) []int { return []int{0, 0} },
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			everyExecutor(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
				for _, chained := range []bool{false, true} {
					rng := rand.New(rand.NewPCG(7, 7))
					j := &joinGraph{g: graph.New(name)}
					source, from := j.add()
					fan := make([][]int, 20)
					handles := make([][]graph.Task, 20)
					for i := range width {
						at, h := j.add(source)
						from.Precede(h)
						if chained { // each task's own chain comes before the join
							for range i % 4 {
								next, n := j.add(at)
								h.Precede(n)
								at, h = next, n
							}
						}
						for _, sink := range form(rng, i) {
							fan[sink] = append(fan[sink], at)
							handles[sink] = append(handles[sink], h)
						}
					}
					var sinks []int
					var last []graph.Task
					for s := range fan {
						if len(fan[s]) > 0 {
							at, h := j.add(fan[s]...)
							h.Succeed(handles[s]...)
							sinks, last = append(sinks, at), append(last, h)
						}
					}
					_, end := j.add(sinks...)
					end.Succeed(last...)
					within(t, ex, func() {
						for range testkit.Scale(20) {
							clear(j.value)
							require.NoError(t, ex.Run(t.Context(), j.g))
							require.NotContains(t, j.value, 0)
						}
					})
				}
			})
		})
	}
}

// TestOwedCountsDoNotWait: a join whose predecessors have all returned runs while the worker that was the last of them
// is busy with the next task of its span.
func TestOwedCountsDoNotWait(t *testing.T) {
	everyExecutor(t, []int{2, 4}, func(t *testing.T, ex *executor.Executor) {
		g := graph.New("owed")
		var joined chan struct{}
		source := g.Task(nothing)
		sink := g.Task(func(context.Context) error { close(joined); return nil })
		other := g.Task(nothing)
		for i := range 100 {
			if i == 60 {
				task := g.Task(func(context.Context) error { <-joined; return nil })
				source.Precede(task)
				task.Precede(other)
				continue
			}
			task := g.Task(nothing)
			source.Precede(task)
			if i < 60 {
				task.Precede(sink)
			} else {
				task.Precede(other)
			}
		}
		within(t, ex, func() {
			for range testkit.Scale(300) {
				joined = make(chan struct{})
				require.NoError(t, ex.Run(t.Context(), g))
			}
		})
	})
}

// TestOwedCountsDoNotWaitForNewcomers: when a run is submitted, busy workers exchange tasks through the injector. A
// worker that owes counts to a join may so be given another task of the same run in place of the one that was to go on
// with them. If that one takes long, the join must not wait for it.
func TestOwedCountsDoNotWaitForNewcomers(t *testing.T) {
	everyExecutor(t, []int{3}, func(t *testing.T, ex *executor.Executor) {
		g := graph.New("owed")
		var joined chan struct{}
		source, other := g.Task(nothing), g.Task(nothing)
		sink := g.Task(func(context.Context) error { close(joined); return nil })
		const width = 1000
		for i := range width {
			fn, to := nothing, sink
			if i == width/3 || i == width/2 { // two workers may wait, the third must get through
				fn, to = func(context.Context) error { <-joined; return nil }, other
			}
			task := g.Task(fn)
			source.Precede(task)
			task.Precede(to)
		}
		one := graph.New("one")
		one.Task(nothing)
		within(t, ex, func() {
			var stop atomic.Bool
			var submitter sync.WaitGroup
			defer submitter.Wait()
			defer stop.Store(true)
			submitter.Go(func() {
				for !stop.Load() {
					_ = ex.Run(context.Background(), one)
				}
			})
			begin, most := time.Now(), min(testkit.Patience/2, time.Duration(testkit.Scale(30_000))*time.Millisecond)
			n := testkit.Scale(1500)
			if testkit.Quick() {
				n = 25 // a few workers compute all the while
			}
			for ; n > 0 && time.Since(begin) < most; n-- { // one core is slow
				joined = make(chan struct{})
				require.NoError(t, ex.Run(t.Context(), g))
			}
		})
	})
}

// TestFaultsInSpan: a task that fails inside a span leaves behind neither the span nor the counts that its worker owes.
func TestFaultsInSpan(t *testing.T) {
	guests.None(t)
	for name, fail := range map[string]func() error{
		"error":  func() error { return errTask },
		"panic":  func() error { panic(errTask) },
		"Goexit": func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			everyExecutor(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
				g := graph.New("faulty fan")
				var ran, sinks atomic.Int32
				var victim int
				source := g.Task(nothing)
				sink := g.Task(func(context.Context) error { sinks.Add(1); return nil })
				for i := range 200 {
					s := g.Task(func(context.Context) error {
						ran.Add(1)
						if i == victim {
							return fail()
						}
						return nil
					})
					source.Precede(s)
					s.Precede(sink)
				}
				within(t, ex, func() {
					for i := range testkit.Scale(200) {
						ran.Store(0)
						victim = i
						require.Equal(t, []string{fmt.Sprintf("#%d", 2+i)}, failedTasks(ex.Run(t.Context(), g)))
						require.Zero(t, sinks.Load())

						ran.Store(0)
						victim = -1
						require.NoError(t, ex.Run(t.Context(), g))
						require.EqualValues(t, 200, ran.Load())
						require.EqualValues(t, 1, sinks.Swap(0))
					}
				})
			})
		})
	}
}

// TestNestedRunsInSpan: a task inside a span runs another graph, which takes the worker away from the span, and back.
func TestNestedRunsInSpan(t *testing.T) {
	everyExecutor(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		var inner, sinks atomic.Int32
		in := graph.New("in")
		first := in.Task(nothing)
		last := in.Task(func(context.Context) error { sinks.Add(1); return nil })
		for range 30 {
			s := in.Task(func(context.Context) error { inner.Add(1); return nil })
			first.Precede(s)
			s.Precede(last)
		}
		out := graph.New("out")
		source := out.Task(nothing)
		sink := out.Task(func(context.Context) error { sinks.Add(1); return nil })
		for i := range 100 {
			s := out.Task(func(ctx context.Context) error {
				if i%3 == 0 {
					return ex.Run(ctx, in)
				}
				return nil
			})
			source.Precede(s)
			s.Precede(sink)
		}
		within(t, ex, func() {
			for range testkit.Scale(50) {
				inner.Store(0)
				sinks.Store(0)
				require.NoError(t, ex.Run(t.Context(), out))
				require.EqualValues(t, 34*30, inner.Load())
				require.EqualValues(t, 34+1, sinks.Load())
			}
		})
	})
}
