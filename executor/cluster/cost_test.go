package cluster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// Records are the records of runs that no worker has written.
type records struct {
	t  *testing.T
	nc *nats.Conn
	c  *cluster.Client // of nc
}

func newRecords(t *testing.T) *records {
	nc := served.Start(t, embedded.Config{}).Conn()
	return &records{t, nc, connect(t, nc)}
}

func (r *records) put(key string, value any) {
	r.t.Helper()
	require.NoError(r.t, r.nc.Publish("$KV.magpie-q."+key, wire.Encode(value)))
}

// run writes the records of a run, and returns when the server has them.
func (r *records) run(id string, phase wire.Phase, done, failed int) *cluster.Handle {
	r.t.Helper()
	s := wire.State{V: 1, Phase: phase, Begin: wire.Begin{Name: "graph " + id, Parts: 10_000}, Began: time.Unix(1, 0)}
	if phase == wire.Failed {
		s.Error = &wire.Failure{Reason: wire.Poison, Text: "it was given up"}
	}
	r.put(protocol.StateKey(id), s)
	for i := range done {
		r.put(protocol.OutputKey(id, i), wire.Output{V: 1, Part: i})
	}
	for i := range failed {
		r.put(fmt.Sprint("r.", id, ".f.", i), wire.Tries{V: 1, Failed: 1, Text: "it has failed"})
	}
	var h *cluster.Handle
	require.Eventually(r.t, func() bool {
		var p cluster.Progress
		var err error
		if h, err = r.c.Attach(within(r.t), id); err == nil {
			p, err = h.Progress(within(r.t))
		}
		return err == nil && p.Ended == (phase != wire.Running) && p.Done == done && p.Failed == failed
	}, patience, 5*time.Millisecond)
	return h
}

// bytes returns how many bytes have gone to the server and come from there.
func (r *records) bytes() uint64 {
	n := r.nc.Stats()
	return n.InBytes + n.OutBytes
}

// cost returns how many bytes that takes.
func (r *records) cost(f func()) uint64 {
	before := r.bytes()
	f()
	return r.bytes() - before
}

// TestProgressCosts: the progress of a run costs the same for any number of partitions that are done. A watch reads the
// attempts that have failed once.
func TestProgressCosts(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	few, many := r.run("few", wire.Running, 1, 0), r.run("many", wire.Running, 5000, 500)
	read := func(h *cluster.Handle) func() {
		return func() {
			_, err := h.Progress(within(t))
			require.NoError(t, err)
		}
	}
	one := r.cost(read(few))
	t.Logf("%d bytes, and %d with 5000 partitions and 500 failed attempts", one, r.cost(read(many)))
	require.Less(t, r.cost(read(few)), uint64(8<<10))

	const most = 8 << 10
	looks, cheap := 0, 0
	before := r.bytes()
	for p, err := range many.Watch(within(t), time.Millisecond) {
		require.NoError(t, err)
		require.Equal(t, 5000, p.Done)
		require.Equal(t, 500, p.Failed)
		now := r.bytes()
		if cheap++; now-before > most {
			cheap = 0 // as long as the watch has not begun
		}
		before = now
		if looks++; looks == 1000 || cheap == 20 {
			break
		}
	}
	require.Equal(t, 20, cheap)

	changed := false
	for p, err := range many.Watch(within(t), time.Millisecond) {
		require.NoError(t, err)
		if !changed {
			changed = true
			r.put("r.many.f.7", wire.Tries{V: 1, Failed: 1, Lost: 2})
		}
		if p.Failed == 502 {
			break
		}
	}
}

// TestAnnouncementsCost: the announcements of many workers are read once a second at most, by all that asks of runs.
func TestAnnouncementsCost(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	h := r.run("a", wire.Running, 1, 0)
	const workers, each = 100, 1 << 10
	for i := range workers {
		r.put(fmt.Sprint("w.w", i), map[string]any{"v": 1, "worker": fmt.Sprint("w", i), "pad": make([]byte, each)})
	}
	require.Eventually(t, func() bool {
		all, err := r.c.Workers(within(t))
		return err == nil && len(all) == workers
	}, patience, 5*time.Millisecond)

	begin, looks, read := time.Now(), 0, 0
	before := r.bytes()
	for _, err := range h.Watch(within(t), time.Millisecond) {
		require.NoError(t, err)
		_, err := r.c.Runs(within(t))
		require.NoError(t, err)
		now := r.bytes()
		if now-before > workers*each {
			read++
		}
		before = now
		if looks++; looks == 100 {
			break
		}
	}
	require.LessOrEqual(t, read, 2+int(time.Since(begin)/time.Second), "of %d looks", looks)
}

// TestRunsCosts: the runs of a queue are read once, and then only what has changed.
func TestRunsCosts(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	const ended = 200
	for i := range ended {
		r.run(fmt.Sprint("ended-", i), wire.Failed, 1, 1)
	}
	r.run("goes-on", wire.Running, 3, 2)
	runs := func(c *cluster.Client) []cluster.RunStatus {
		t.Helper()
		all, err := c.Runs(within(t))
		require.NoError(t, err)
		for i := range all {
			if !all[i].Ended {
				all[i].For = 0
			}
		}
		return all
	}
	same := func(n int) {
		t.Helper()
		all := runs(connect(t, r.nc)) // of a client that has read nothing before
		require.Len(t, all, n)
		require.Equal(t, all, runs(r.c))
	}
	first := r.cost(func() { require.Len(t, runs(r.c), ended+1) })
	second := r.cost(func() { require.Len(t, runs(r.c), ended+1) })
	t.Logf("%d bytes for %d runs, and then %d", first, ended, second)
	require.Less(t, second, uint64(16<<10))
	same(ended + 1)
	r.put("w.late", map[string]any{"v": 1, "worker": "late", "running": []map[string]any{{"run": "new", "part": 1}}})
	r.run("new", wire.Cancelled, 2, 1)
	r.put("r.goes-on.f.1", wire.Tries{V: 1, Failed: 3})
	r.put("r.goes-on.o.3", wire.Output{V: 1, Part: 3})
	same(ended + 2)
	for _, run := range runs(r.c) {
		require.Empty(t, run.Running, "%s: what a worker said before the end", run.ID)
	}
	r.run("goes-on", wire.Failed, 4, 4)
	same(ended + 2)

	js, err := jetstream.New(r.nc)
	require.NoError(t, err)
	kv, err := js.KeyValue(within(t), "magpie-q")
	require.NoError(t, err)
	require.NoError(t, kv.Purge(within(t), protocol.StateKey("new")))
	same(ended + 1)
	require.NoError(t, js.DeleteStream(within(t), "KV_magpie-q"))
	connect(t, r.nc) // makes it again
	same(0)
	r.run("other", wire.Running, 1, 0)
	same(1)
}

// TestPatientCosts: a client that waits for a worker is told of one that comes, and asks the server for nothing while
// others announce themselves.
func TestPatientCosts(t *testing.T) {
	t.Parallel()
	s := served.Start(t, embedded.Config{})
	ex, f := newExecutor(t), newFunctions()
	other := cluster.NewRegistry()
	newGate(other)
	work(t, s.Conn(), ex, other, cluster.WorkerConfig{})
	nc := s.Conn()
	c := connect(t, nc)
	announced := make(chan *nats.Msg, 100)
	_, err := s.Conn().ChanSubscribe("$KV.magpie-q.w.>", announced)
	require.NoError(t, err)
	g := cluster.NewGraph("g")
	one := f.one.Call(g)
	type submitted struct {
		h   *cluster.Handle
		err error
	}
	done := make(chan submitted, 1)
	go func() {
		h, err := c.Submit(within(t), g, cluster.Submission{})
		done <- submitted{h, err}
	}()
	asks := true
	for last, looks := uint64(0), 0; asks && looks < 10; looks++ {
		<-announced // two seconds later
		now := nc.Stats().OutMsgs
		asks = now == 0 || now != last
		last = now
	}
	require.False(t, asks)
	require.Empty(t, done)

	work(t, s.Conn(), ex, f.reg, cluster.WorkerConfig{})
	got := <-done
	require.NoError(t, got.err)
	res, err := got.h.Wait(within(t))
	require.NoError(t, err)
	want(t, res, one, 1)
}
