package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/osthread"
)

// awake measures how many thieves are awake while one task runs, after a wide part of the graph that had all workers
// awake. Lemma 2 of document 000 bounds the time after which one thief is left.
var awake = &Probe{
	Name:    "awake",
	About:   "thieves that are awake during one task of n ms, which comes after many: how many, and for how long",
	Size:    "milliseconds",
	Default: 50,
	Measure: func(ctx context.Context, ex *executor.Executor, n int) ([]Metric, error) {
		w, err := openWatch(ex.Workers())
		if err != nil {
			return nil, err
		}
		defer w.close()
		var begun, over atomic.Bool
		g := graph.New("awake")
		last := g.Task(func(ctx context.Context) error {
			begun.Store(true)
			// On a busy machine the first look may come later than the end of the time.
			for begin := time.Now(); time.Since(begin) < time.Duration(n)*time.Millisecond || !w.looked.Load(); {
				spin(1000)
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			over.Store(true)
			return nil
		})
		for range 64 * ex.Workers() {
			g.Task(func(context.Context) error { spin(20000); return nil }).Precede(last)
		}
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			w.watch(&begun, &over)
		}()
		err = ex.Run(ctx, g)
		over.Store(true)
		<-watched
		if err != nil {
			return nil, err
		}
		return w.figures(ex.Workers(), time.Duration(n)*time.Millisecond), nil
	},
}

// A threadWatch looks at the states of the workers' threads as the kernel sees them.
type threadWatch struct {
	stats   []*os.File
	looked  atomic.Bool // there is a sample
	samples timeline    // of the number of threads that run, or would if they had a core; less one, which is no thief
}

func openWatch(workers int) (*threadWatch, error) {
	w := new(threadWatch)
	for deadline := time.Now().Add(time.Second); ; time.Sleep(time.Millisecond) {
		threads := workerThreads()
		if len(threads) < workers && time.Now().Before(deadline) {
			continue // a thread has its name a moment after it starts
		}
		if len(threads) < workers {
			return nil, input.Errorf("probe awake needs a system whose threads have names and states in /proc: Linux")
		}
		for id := range threads {
			f, err := os.Open(fmt.Sprintf("/proc/self/task/%d/stat", id))
			if err != nil {
				return nil, errors.Join(err, w.close())
			}
			w.stats = append(w.stats, f)
		}
		return w, nil
	}
}

func (w *threadWatch) close() (err error) {
	for _, f := range w.stats {
		err = errors.Join(err, f.Close())
	}
	return err
}

// watch takes samples between begun and over. It takes a core, and the time to read a small file of each thread.
func (w *threadWatch) watch(begun, over *atomic.Bool) {
	for !begun.Load() {
		if over.Load() {
			return
		}
		runtime.Gosched()
	}
	begin := time.Now()
	buffer := make([]byte, 256)
	for !over.Load() {
		at, awake := time.Since(begin), 0
		for _, f := range w.stats {
			if isAwake(f, buffer) {
				awake++
			}
		}
		w.samples = append(w.samples, moment{at, max(0, awake-1)})
		w.looked.Store(true)
	}
}

// isAwake reports whether the state in a thread's file stat is R: it runs, or waits for a core only. The state follows
// the thread's name, which is in brackets.
func isAwake(stat io.ReaderAt, buffer []byte) bool {
	n, _ := stat.ReadAt(buffer, 0)
	i := bytes.LastIndexByte(buffer[:n], ')')
	return i >= 0 && i+2 < n && buffer[i+2] == 'R'
}

// watchBins is the number of parts of the time for which the mean number of thieves is told.
const watchBins = 40

// figures returns: the time until one thief was left for good, or the whole time; the mean number of thieves in the
// second half; the bound of the lemma; and the mean number of thieves in each part of the first two milliseconds, and
// of the rest. One of the workers runs the task, and is no thief.
func (w *threadWatch) figures(workers int, total time.Duration) []Metric {
	settled := time.Duration(0)
	for _, s := range w.samples {
		if s.n > 1 {
			settled = s.at
		}
	}
	if w.samples[len(w.samples)-1].n > 1 {
		settled = total
	}
	all := []Metric{
		{"settled-ns", float64(settled.Nanoseconds())},
		{"late-thieves", w.samples.mean(total/2, total)},
		{"bound-ns", float64(lemmaBound(workers).Nanoseconds())},
		{"samples", float64(len(w.samples))},
	}
	for i := range watchBins {
		from := total * time.Duration(i) / watchBins
		all = append(all, Metric{fmt.Sprintf("thieves@%d", from.Microseconds()), w.samples.mean(from, from+total/watchBins)})
	}
	return all
}

// lemmaBound returns (STEAL_BOUND + YIELD_BOUND) * S of lemma 2, with S measured: the time of a steal from an empty
// deque and a yield. Threads that share a core take turns, and each has its own attempts.
func lemmaBound(workers int) time.Duration {
	const rounds = 2000
	g, err := deque.NewGroup[int](deque.KindChaseLev, 1, deque.Options{})
	if err != nil {
		panic(err) // the default kind with default options
	}
	begin := time.Now()
	for range rounds {
		g.Queue(0).Steal()
		osthread.Yield()
	}
	attempts := 2*(workers+1) + 100
	turns := (workers + runtime.NumCPU() - 1) / runtime.NumCPU()
	return time.Since(begin) / rounds * time.Duration(attempts*turns)
}
