package executor_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// labelsNow are the profiler labels of the calling goroutine, as a goroutine profile tells them.
//
//go:noinline
func labelsNow() string {
	var b bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&b, 1)
	for record := range strings.SplitSeq(b.String(), "\n\n") {
		if strings.Contains(record, "executor_test.labelsNow") {
			_, labels, _ := strings.Cut(record, "# labels: ")
			labels, _, _ = strings.Cut(labels, "\n")
			return labels
		}
	}
	return "no record"
}

// labels is labelsNow of one goroutine at a time: two in it would have one record.
func labels() string {
	labelsMu.Lock()
	defer labelsMu.Unlock()
	return labelsNow()
}

var labelsMu sync.Mutex

// labelled calls f with what a goroutine profile tells of the label, on a goroutine that has it.
func labelled(ctx context.Context, value string, f func(context.Context)) {
	pprof.Do(ctx, pprof.Labels("tenant", value), f)
}

func told(value string) string { return fmt.Sprintf("{%q:%q}", "tenant", value) }

const ownLabels = `{"executor":"lab", "worker":"0"}`

func newLabelled(t *testing.T) *executor.Executor {
	return newExecutor(t, executor.Config{Workers: 1, Spares: -1, Name: "lab"})
}

// work is a job of one task.
func work(f func(context.Context)) executor.Job {
	return executor.NewJob("work", func(s *executor.Scope) error { f(s.Context()); return nil })
}

// Tasks have the labels of the context that their run was given. Labels that they leave behind are gone when the worker
// turns to another run.
func TestLabels(t *testing.T) {
	guests.None(t)
	for name, run := range labelledRuns {
		t.Run(name, func(t *testing.T) {
			ex := newLabelled(t)
			within(t, ex, func() {
				expect := func(ctx context.Context, want string, more func(context.Context)) {
					seen := ""
					run(ctx, ex, func(ctx context.Context) {
						seen = labels()
						if more != nil {
							more(ctx)
						}
					})
					if seen != want {
						t.Errorf("labels %s, want %s", seen, want)
					}
				}
				bg := t.Context()
				expect(bg, ownLabels, nil)
				labelled(bg, "a", func(ctx context.Context) {
					expect(ctx, told("a"), nil)
					expect(ctx, told("a"), func(ctx context.Context) { labelled(ctx, "b", func(context.Context) {}) })
					expect(bg, ownLabels, func(ctx context.Context) { labelled(ctx, "b", func(context.Context) {}) })
					require.Equal(t, told("a"), labels(), "those of the caller")
				})
				expect(bg, ownLabels, func(ctx context.Context) {
					pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels("tenant", "stray")))
				})
				expect(bg, ownLabels, func(context.Context) { pprof.SetGoroutineLabels(bg) })
				labelled(bg, "c", func(ctx context.Context) {
					expect(ctx, told("c"), func(ctx context.Context) { pprof.SetGoroutineLabels(bg) })
					expect(ctx, told("c"), func(ctx context.Context) { panic("with labels") })
				})
				expect(bg, ownLabels, nil)
			})
		})
	}
}

var labelledRuns = map[string]func(ctx context.Context, ex *executor.Executor, f func(context.Context)){
	"func": func(ctx context.Context, ex *executor.Executor, f func(context.Context)) { _ = ex.Run(ctx, work(f)) },
	"start": func(ctx context.Context, ex *executor.Executor, f func(context.Context)) {
		_ = ex.Start(ctx, work(f)).Wait()
	},
	"graph": func(ctx context.Context, ex *executor.Executor, f func(context.Context)) {
		_ = ex.Run(ctx, one(func(ctx context.Context) error { f(ctx); return nil }))
	},
	"child": func(ctx context.Context, ex *executor.Executor, f func(context.Context)) {
		_ = ex.Run(ctx, executor.NewJob("parent", func(s *executor.Scope) error {
			s.Go(func(ctx context.Context) error { f(ctx); return nil })
			return nil
		}))
	},
	"future": func(ctx context.Context, ex *executor.Executor, f func(context.Context)) {
		_, _ = async(ctx, ex, f).Wait()
	},
	"loop": func(ctx context.Context, ex *executor.Executor, f func(context.Context)) {
		_ = parallel.For(ctx, parallel.Options{Executor: ex}, 0, 1, func(int) { f(ctx) })
	},
	"nested": func(ctx context.Context, ex *executor.Executor, f func(context.Context)) {
		_ = ex.Run(context.Background(), work(func(context.Context) { _ = ex.Run(ctx, work(f)) }))
	},
	"blocking": func(ctx context.Context, ex *executor.Executor, f func(context.Context)) {
		_ = ex.Run(ctx, work(func(ctx context.Context) { executor.Blocking(func() { f(ctx) }) }))
	},
}

func async(ctx context.Context, ex *executor.Executor, f func(context.Context)) *executor.Future[int] {
	return executor.Async(ctx, ex, func(ctx context.Context) (int, error) { f(ctx); return 0, nil })
}

// A worker goes on from one future to the next without leaving their body. Each has the labels of its own context.
func TestLabelsOfFuturesInARow(t *testing.T) {
	ex := newLabelled(t)
	within(t, ex, func() {
		gate := make(chan struct{})
		first := async(t.Context(), ex, func(context.Context) { <-gate })
		var seen [6]string
		var futures []*executor.Future[int]
		for i := range seen {
			start := func(ctx context.Context) {
				futures = append(futures, async(ctx, ex, func(context.Context) {
					seen[i] = labels()
					labelled(context.Background(), "stray", func(context.Context) {})
				}))
			}
			if i%3 == 1 {
				labelled(t.Context(), "a", start)
			} else {
				start(t.Context())
			}
		}
		close(gate)
		for _, f := range append(futures, first) {
			_, err := f.Wait()
			require.NoError(t, err)
		}
		require.Equal(t, [6]string{ownLabels, told("a"), ownLabels, ownLabels, told("a"), ownLabels}, seen)
	})
}

// A worker without anything to run has labels of its own, not those of the last run.
func TestLabelsOfAnIdleWorker(t *testing.T) {
	guests.None(t)
	ex := newLabelled(t)
	within(t, ex, func() {
		labelled(t.Context(), "idle", func(ctx context.Context) {
			for name, run := range labelledRuns {
				run(ctx, ex, func(context.Context) {})
				eventually(func() bool { return ex.Parked() == 1 })
				testkit.Until(t, "the only worker, idle after "+name+", has labels of its own", func() bool {
					var b bytes.Buffer
					require.NoError(t, pprof.Lookup("goroutine").WriteTo(&b, 1))
					own := false
					for record := range strings.SplitSeq(b.String(), "\n\n") {
						if strings.Contains(record, "executor.(*Worker).live") {
							own = own || strings.Contains(record, ownLabels)
							if strings.Contains(record, told("idle")) {
								return false
							}
						}
					}
					return own
				})
			}
		})
	})
}

// Goexit ends the goroutine and with it its labels. The goroutine that takes over has its own.
func TestLabelsAfterGoexit(t *testing.T) {
	guests.None(t)
	ex := newLabelled(t)
	within(t, ex, func() {
		for range 3 {
			labelled(t.Context(), "a", func(ctx context.Context) {
				require.ErrorIs(t, ex.Run(ctx, one(goexit)), executor.ErrGoexit)
			})
			seen := ""
			require.NoError(t, ex.Run(t.Context(), work(func(context.Context) { seen = labels() })))
			require.Equal(t, ownLabels, seen)
		}
		// A deferred function of a task that waited, after Goexit in a nested run, is that task's.
		var inner, after string
		labelled(t.Context(), "outer", func(ctx context.Context) {
			_ = ex.Run(ctx, work(func(ctx context.Context) {
				defer func() { after = labels() }()
				labelled(context.Background(), "inner", func(ctx context.Context) {
					_ = ex.Run(ctx, work(func(context.Context) { inner = labels(); runtime.Goexit() }))
				})
			}))
		})
		require.Equal(t, told("inner"), inner)
		require.Contains(t, []string{told("outer"), ""}, after,
			"pprof.Do restores those of the context that it was given")
	})
}

// An inline executor is its caller's goroutine, which keeps its labels: tasks have them, too.
func TestLabelsInline(t *testing.T) {
	for name, run := range labelledRuns {
		t.Run(name, func(t *testing.T) {
			ex := executor.NewInline(1)
			labelled(t.Context(), "caller", func(ctx context.Context) {
				for _, ctx := range []context.Context{ctx, context.Background()} {
					seen := ""
					run(ctx, ex, func(context.Context) { seen = labels() })
					require.Equal(t, told("caller"), seen)
					require.Equal(t, told("caller"), labels())
				}
			})
			require.NoError(t, ex.Close())
		})
	}
}

// Runs and futures in each other, each within pprof.Do or not, that leave labels behind at their end: each begins with
// the labels of its context, and has them again after each thing that it has waited for.
func TestRandomLabels(t *testing.T) {
	guests.None(t)
	seed, nodes := testkit.Seed(t), 0
	for _, workers := range []int{1, 2} {
		for i := range 8 {
			ex := newExecutor(t, executor.Config{Workers: workers, Name: "lab"})
			l := &labelTree{t: t, ex: ex, rng: rand.New(rand.NewPCG(seed, uint64(i)))}
			within(t, ex, func() { l.node(t.Context(), 3) })
			nodes += l.nodes
		}
	}
	require.Positive(t, nodes)
}

type labelTree struct {
	t     *testing.T
	ex    *executor.Executor
	mu    sync.Mutex
	rng   *rand.Rand
	nodes int
}

func (l *labelTree) draw(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rng.IntN(n)
}

// node runs up to three others and waits for them, from a task or, at the root, from outside.
func (l *labelTree) node(ctx context.Context, depth int) {
	if depth == 0 {
		return
	}
	var wait []func()
	for range l.draw(4) {
		ctx := ctx
		task := func(inner context.Context) {
			l.check(inner, false)
			l.node(inner, depth-1)
			l.check(inner, true)
			if l.draw(2) == 0 {
				labelled(context.Background(), "stray", func(context.Context) {})
			}
		}
		switch kind := l.draw(5); kind {
		case 0:
			_ = l.ex.Run(ctx, work(task))
		case 1:
			labelled(ctx, fmt.Sprint("tenant ", l.draw(3)), func(ctx context.Context) {
				_ = l.ex.Run(ctx, work(task))
				l.check(ctx, true)
			})
		case 2:
			r := l.ex.Start(ctx, work(task))
			wait = append(wait, func() { _ = r.Wait() })
		case 3:
			_ = l.ex.Run(ctx, one(func(ctx context.Context) error { task(ctx); return nil }))
		case 4:
			f := async(ctx, l.ex, task)
			wait = append(wait, func() { _, _ = f.Wait() })
		}
	}
	for _, w := range wait {
		w()
	}
}

// check compares the goroutine's labels with those of the context. Where that has none, pprof.Do may have left none.
func (l *labelTree) check(ctx context.Context, waited bool) {
	want := `{"executor":"lab", "worker":"`
	if tenant, ok := pprof.Label(ctx, "tenant"); ok {
		want = told(tenant)
	} else if waited {
		want = ""
	}
	l.mu.Lock()
	l.nodes++
	l.mu.Unlock()
	if seen := labels(); !strings.HasPrefix(seen, want) || want == "" && strings.Contains(seen, "tenant") {
		l.t.Errorf("labels %s, want %s; after waiting: %v", seen, want, waited)
	}
}

// TestLabelsOfPromise: work that is started with the context of a Promise has the labels of the context that the
// Promise was given.
func TestLabelsOfPromise(t *testing.T) {
	guests.None(t)
	ex := newLabelled(t)
	labelled(t.Context(), "a", func(ctx context.Context) {
		p := executor.NewPromise[int](ctx, ex)
		defer p.Resolve(0)
		pprof.SetGoroutineLabels(context.Background())
		var in string
		r := ex.Start(p.Context(), work(func(context.Context) { in = labels() }))
		require.NoError(t, r.Wait())
		require.Equal(t, told("a"), in)
	})
}
