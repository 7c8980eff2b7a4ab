package bench

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/park"
)

var call = &Probe{
	Name:     "call",
	About:    "a graph of one task, from the call of Run to its return, n times back to back: latency",
	Size:     "calls",
	Default:  20000,
	TakePart: true,
	Shape:    func(n int) Shape { return Shape{Data: 8 * float64(n)} },
	Measure:  backToBack,
}

var callIdle = &Probe{
	Name:     "call-idle",
	About:    "call after 1 ms of silence each time, in turn with waking a bare thread",
	Size:     "calls",
	Default:  500,
	TakePart: true,
	Shape:    func(n int) Shape { return Shape{Data: 16 * float64(n)} },
	Measure:  afterSilence,
}

var submit = &Probe{
	Name:    "submit",
	About:   "call with callers that are idle, so that a worker runs the task: latency from submission to done",
	Size:    "submissions",
	Default: 20000,
	Shape:   func(n int) Shape { return Shape{Data: 8 * float64(n)} },
	Measure: backToBack,
}

var submitIdle = &Probe{
	Name:    "submit-idle",
	About:   "submit after 1 ms of silence each time, in turn with waking a bare thread: latency from sleep",
	Size:    "submissions",
	Default: 500,
	Shape:   func(n int) Shape { return Shape{Data: 16 * float64(n)} },
	Measure: afterSilence,
}

func backToBack(ctx context.Context, ex *executor.Executor, n int) ([]Metric, error) {
	o := newOneTask()
	warm := min(n, 1000)
	times := make([]time.Duration, n)
	for i := -warm; i < n; i++ {
		took, err := o.submit(ex)
		if err != nil {
			return nil, err
		}
		if i >= 0 {
			times[i] = took
		}
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return []Metric{
		{"p50-ns", quantile(times, 0.50)},
		{"p99-ns", quantile(times, 0.99)},
	}, o.ran(warm + n)
}

func afterSilence(ctx context.Context, ex *executor.Executor, n int) ([]Metric, error) {
	o := newOneTask()
	bare := newBareThread()
	defer bare.close()
	times, yardstick := make([]time.Duration, n), make([]time.Duration, n)
	for i := range n {
		if err := sleep(ctx, time.Millisecond); err != nil {
			return nil, err
		}
		var err error
		if times[i], err = o.submit(ex); err != nil {
			return nil, err
		}
		if err := sleep(ctx, time.Millisecond); err != nil {
			return nil, err
		}
		yardstick[i] = bare.wake()
	}
	p50, bareP50 := quantile(times, 0.50), quantile(yardstick, 0.50)
	return []Metric{
		{"p50-ns", p50},
		{"p99-ns", quantile(times, 0.99)},
		{"bare-p50-ns", bareP50},
		{"bare-p99-ns", quantile(yardstick, 0.99)},
		{"vs-bare", p50 / max(bareP50, 1)},
	}, o.ran(n)
}

// A bareThread is a goroutine that is locked to its thread and parked: waking it shows the least cost of a wake-up.
type bareThread struct {
	parker  park.Parker
	stop    atomic.Bool
	answers atomic.Uint32
	gone    chan struct{}
}

func newBareThread() *bareThread {
	b := &bareThread{gone: make(chan struct{})}
	go func() {
		defer close(b.gone)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for {
			b.parker.Park()
			if b.stop.Load() {
				return
			}
			b.answers.Add(1)
		}
	}()
	return b
}

// wake unparks the thread, spins until it has answered, and returns the time that this took.
func (b *bareThread) wake() time.Duration {
	want := b.answers.Load() + 1
	begin := time.Now()
	b.parker.Unpark()
	for b.answers.Load() != want {
	}
	return time.Since(begin)
}

func (b *bareThread) close() {
	b.stop.Store(true)
	b.parker.Unpark()
	<-b.gone
}
