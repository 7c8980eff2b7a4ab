package watch_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/watch"
)

// A layer of its own that tells its task, without a TaskSet.
type bare struct {
	executor.Item
	lasts time.Duration // of the task
	body  executor.Body
	left  atomic.Int64
}

func (c *bare) Name() string { return "bare" }
func (c *bare) Begin(*executor.JobRun) (*executor.Item, error) {
	c.body.Init(c)
	c.Item = executor.Item{Body: &c.body, Exec: c.step}
	c.left.Store(1)
	return &c.Item, nil
}
func (c *bare) step(w *executor.Worker, _ *executor.Item) *executor.Item {
	_ = c.body.Run().CallTask(w, &executor.TaskInfo{Name: "x"}, func(context.Context) error {
		time.Sleep(c.lasts)
		return nil
	})
	c.count(-1)
	return nil
}
func (c *bare) count(d int64) {
	if c.left.Add(d) == 0 {
		c.body.Run().Finish(nil)
	}
}
func (c *bare) Enter(*executor.Worker) { c.count(+1) }
func (c *bare) Leave(*executor.Worker) { c.count(-1) }
func (c *bare) Flush(*executor.Worker) {}
func (c *bare) Release()               {}
func (c *bare) Fail(_ *executor.Worker, _ *executor.Item, err error) *executor.Item {
	c.body.Run().Abort(err)
	c.count(-1)
	return nil
}

// A report tells a task of a layer that has made no TaskSet.
func TestTaskWithoutSet(t *testing.T) {
	fits(t, func(t testing.TB, limit time.Duration) {
		records := new(records)
		w := watch.New(watch.Options{NoProgress: -1, LongTask: limit, Logger: slog.New(records)})
		ex := newExecutor(t, executor.Config{Workers: 1, Observers: []*executor.Observer{w.Observer()}})
		require.NoError(t, ex.Run(t.Context(), &bare{lasts: 3 * limit}))
		require.NotEmpty(t, records.messages())
		require.Equal(t, "job", records.attrs(0)["job"].String())
		require.Equal(t, "x", records.attrs(0)["task"].String())
	})
}
