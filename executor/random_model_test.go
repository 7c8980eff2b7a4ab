//go:build modelcheck

package executor

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/testkit"
)

// A whim is a random program: an executor of up to three workers and a spare, and calls on it.
type whim struct {
	ex    *Executor
	room  int // items that may still be made: executions are to stay short
	exits int // goroutines that may still be ended
}

// TestModelRandom: however items are pushed, submitted, nested, ended by Goexit and run beside a Blocking, every item
// runs once, every run ends, and nothing is left at the end.
func TestModelRandom(t *testing.T) {
	n := testkit.Count(t, 10_000)
	policies := testkit.Usable(experiment.Policies(), experiment.Available)
	model.CheckRandom(t, n, testkit.Seed(t), func() {
		h := &whim{room: 12, exits: 2}
		cfg := Config{Workers: 1 + model.Choose(3), Spares: 1,
			Experiment: experiment.Options{Policy: oneOf(policies)}, Callers: IdleCallers,
			Host: host.Options{KeepGOMAXPROCS: true}}
		if model.Choose(2) == 0 {
			cfg.Callers, h.exits = AutoCallers, 0 // an item that runs on a waiting goroutine must not end it
		}
		if model.Choose(2) == 0 {
			cfg.Experiment.Deque = oneOf(deque.Kinds())
			cfg.Experiment.Capacity = model.Choose(3)
			if cfg.Experiment.Deque.Batches() {
				cfg.Experiment.Steal = deque.Batch(model.Choose(3))
			}
		}
		ex, err := New(cfg)
		model.Assert(err == nil, "New: %v", err)
		h.ex = ex
		submit := func() {
			for range 1 + model.Choose(2) {
				h.run()
			}
		}
		join := model.Go(submit)
		submit()
		if model.Choose(2) == 0 {
			join()
			death(h.ex)
		} else {
			death(h.ex) // the other may be refused
			join()
		}
	})
	testkit.Proved(t, n, "PCT runs of a whole executor")
}

// run runs a job.
func (h *whim) run() {
	j := newJob(nil)
	broken := false // some item was ended with its goroutine
	j.first = func(w *Worker) { h.act(j, w, &broken) }
	err := h.ex.Run(context.Background(), j)
	switch {
	case errors.Is(err, ErrClosed):
		model.Assert(j.ran == 0, "a refused run ran")
	case broken:
		model.Assert(errors.Is(err, ErrGoexit), "%v", err)
		j.ranAll(err)
	default:
		j.ended(err)
	}
}

// act is what an item does.
func (h *whim) act(j *job, w *Worker, broken *bool) {
	returned := false
	defer func() {
		if !returned { // also if it was one of a run below it on the stack that ended the goroutine
			*broken = true
		}
	}()
	for range model.Choose(3) {
		if h.room == 0 {
			break
		}
		h.room--
		switch model.Choose(5) {
		case 0, 1:
			j.push(w, func(w *Worker) { h.act(j, w, broken) })
		case 2:
			h.run()
		case 3:
			if h.exits > 0 {
				h.exits--
				runtime.Goexit()
			}
		case 4:
			Blocking(func() { h.act(j, w, broken) })
		}
	}
	returned = true
}
