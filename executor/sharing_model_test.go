//go:build modelcheck

package executor

import (
	"testing"

	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/internal/share"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// shared makes an executor of n workers that sleep and of spares, with a Share but no table: the program allots
// processors, at first one.
func shared(n, spares int, p string) (*Executor, *share.Control) {
	ex := started(Config{
		Workers: n, Spares: spares,
		Experiment: experiment.Options{Policy: p}, Host: host.Options{Share: &host.Share{Path: "/dev/null/no table"}},
	})
	c := ex.sharing.Control()
	model.Calm(func() { c.SetAllotment(1) })
	return ex, c
}

// TestModelShareItems: an executor with one processor, and then with two, runs items that are pushed meanwhile. None is
// left, although workers rest.
func TestModelShareItems(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex, c := shared(n, -1, p)
		join := model.Go(func() { runJob(ex, pushes(2)) })
		c.SetAllotment(2)
		join()
		rest(ex)
	})
}

// TestModelShareShrinks: an executor with two processors loses one while it runs items that push others.
func TestModelShareShrinks(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex, c := shared(n, -1, p)
		model.Calm(func() { c.SetAllotment(2) })
		join := model.Go(func() { c.SetAllotment(1) })
		runJob(ex, func(j *job, w *Worker) {
			j.push(w, nothing)
		})
		join()
		rest(ex)
	})
}

// TestModelShareForks: workers rest at Forks and Joins while the allotment falls, and have their turns. Each call is
// made once.
func TestModelShareForks(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex, c := shared(n, -1, p)
		model.Calm(func() { c.SetAllotment(2) })
		fn, calls := once()
		join := model.Go(func() {
			c.SetAllotment(1)
			c.BeginCycle()
		})
		err := scoped(ex, func(s *Scope) error {
			model.Assert(Fork(s, fn, 1).Join(s) == 2, "the wrong result")
			return nil
		})
		join()
		model.Assert(err == nil && calls.get() == 1, "%d calls, error %v", calls.get(), err)
		rest(ex)
	})
}

// TestModelShareBlocking: with one processor, a task blocks until an item that it has pushed has run.
func TestModelShareBlocking(t *testing.T) {
	onEach(t, []int{1, 2}, func(n int, p string) {
		spares := -1
		if n == 1 {
			spares = 1
		}
		ex, _ := shared(n, spares, p)
		beforehand(n, p, func() { runJob(ex, blocks) })
		rest(ex)
	})
}

// TestModelShareNoBoundary: with one processor, a task waits outside Blocking for an item that another worker would
// run. It never comes to a boundary, so the cycles that pass wake the other worker.
func TestModelShareNoBoundary(t *testing.T) {
	onEach(t, []int{2}, func(n int, p string) {
		ex, c := shared(n, -1, p)
		var began, done xatomic.Bool
		join := model.Go(func() {
			runJob(ex, func(j *job, w *Worker) {
				j.push(w, func(*Worker) { done.Store(true) })
				began.Store(true)
				done.Await()
			})
		})
		model.Calm(func() { began.Await() })
		for !done.Load() {
			c.BeginCycle()
			model.Spin()
		}
		join()
		rest(ex)
	})
}
