package bench

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/park"
)

var call = &Probe{
	Name:     "call",
	About:    "a graph of one task, from the call of Run to its return, n times back to back: latency",
	Size:     "calls",
	Default:  20000,
	TakePart: true,
	Shape:    func(n int) workloads.Shape { return workloads.Shape{Data: 8 * float64(n)} },
	Measure:  backToBack,
}

var callIdle = &Probe{
	Name:     "call-idle",
	About:    "call after 1 ms of silence each time, in turn with two bare threads that wake each other",
	Size:     "calls",
	Default:  500,
	TakePart: true,
	Shape:    func(n int) workloads.Shape { return workloads.Shape{Data: 16 * float64(n)} },
	Measure:  afterSilence,
}

var submit = &Probe{
	Name:    "submit",
	About:   "call with callers that are idle, so that a worker runs the task: latency from submission to done",
	Size:    "submissions",
	Default: 20000,
	Shape:   func(n int) workloads.Shape { return workloads.Shape{Data: 8 * float64(n)} },
	Measure: backToBack,
}

var submitIdle = &Probe{
	Name:    "submit-idle",
	About:   "submit after 1 ms of silence each time, in turn with two bare threads that do: latency from sleep",
	Size:    "submissions",
	Default: 500,
	Shape:   func(n int) workloads.Shape { return workloads.Shape{Data: 16 * float64(n)} },
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
	figures, err := alternate(ctx, n, func() (time.Duration, error) { return o.submit(ex) }, "bare", bare.roundTrip)
	if err != nil {
		return nil, err
	}
	return figures, o.ran(n)
}

// alternate measures something and a yardstick n times in turn, each time after a millisecond of silence.
func alternate(
	ctx context.Context, n int, measure func() (time.Duration, error), yardstick string, wait func() time.Duration,
) ([]Metric, error) {
	times, others := make([]time.Duration, n), make([]time.Duration, n)
	for i := range n {
		if err := sleep(ctx, time.Millisecond); err != nil {
			return nil, err
		}
		var err error
		if times[i], err = measure(); err != nil {
			return nil, err
		}
		if err := sleep(ctx, time.Millisecond); err != nil {
			return nil, err
		}
		others[i] = wait()
	}
	p50, otherP50 := quantile(times, 0.50), quantile(others, 0.50)
	return []Metric{
		{"p50-ns", p50},
		{"p99-ns", quantile(times, 0.99)},
		{yardstick + "-p50-ns", otherP50},
		{yardstick + "-p99-ns", quantile(others, 0.99)},
		{"vs-" + yardstick, p50 / max(otherP50, 1)},
	}, nil
}

// A bareThread is a goroutine that is locked to its thread and parked, and that wakes the caller when it is woken: two
// threads that wake each other by futexes, with nothing else to do.
type bareThread struct {
	there, back park.Parker
	stop        atomic.Bool
	gone        chan struct{}
}

func newBareThread() *bareThread {
	b := &bareThread{gone: make(chan struct{})}
	go func() {
		defer close(b.gone)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for {
			b.there.Park()
			if b.stop.Load() {
				return
			}
			b.back.Unpark()
		}
	}()
	return b
}

// roundTrip wakes the thread, sleeps until the thread wakes the caller, and returns the time that this took.
func (b *bareThread) roundTrip() time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := time.Now()
	b.there.Unpark()
	b.back.Park()
	return time.Since(begin)
}

func (b *bareThread) close() {
	b.stop.Store(true)
	b.there.Unpark()
	<-b.gone
}
