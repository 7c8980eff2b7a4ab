package watch_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/watch"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// Tasks that wait outside Blocking, while others are queued, are named. That is no stall: a spare goes on.
func TestSilentByName(t *testing.T) {
	fits(t, func(t testing.TB, limit time.Duration) {
		records := new(records)
		w := watch.New(watch.Options{NoProgress: limit, LongTask: -1, Logger: slog.New(records)})
		ex, err := executor.New(executor.Config{Workers: 1, Observers: []*executor.Observer{w.Observer()}})
		require.NoError(t, err)
		gate, open := newGate(t)
		g := graph.New("crawl")
		g.Task(func(context.Context) error { <-gate; return nil }).Named("fetch")
		held := ex.Start(t.Context(), work("first", func() { _ = ex.Start(t.Context(), g) }))
		require.NoError(t, held.Wait())
		require.NoError(t, ex.Run(t.Context(), work("second", func() {})))
		records.eventually(t, 1)
		open()
		require.NoError(t, ex.Close())
		require.Equal(t, "tasks wait outside Blocking", records.messages()[0])
		a := records.attrs(0)
		require.EqualValues(t, 1, a["times"].Uint64())
		require.Equal(t, "worker 0: crawl fetch", a["tasks"].String())
	})
}
