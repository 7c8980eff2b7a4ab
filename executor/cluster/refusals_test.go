package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/clustertest"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
)

// hurried is a client that does not wait for workers.
func hurried(t *testing.T, nc *nats.Conn) *cluster.Client {
	t.Helper()
	c, err := cluster.NewClient(within(t), nc, cluster.ClientConfig{Queue: queue, Target: cluster.DefaultTarget})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// announced waits until a queue has so many workers.
func announced(t *testing.T, c *cluster.Client, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		workers, err := c.Workers(within(t))
		return err == nil && len(workers) == n
	}, patience, 5*time.Millisecond)
}

// TestFunctionsOfWorkers: a graph whose functions no worker has, or has with other types, is refused with an error that
// names them. Its calls go to workers that have them.
func TestFunctionsOfWorkers(t *testing.T) {
	t.Parallel()
	s := served.Start(t, embedded.Config{})
	ex := newExecutor(t)
	version := func(name string) (*cluster.Registry, cluster.Func[int, string]) {
		reg := cluster.NewRegistry()
		f := cluster.Register(reg, "name", func(context.Context, int) (string, error) { return name, nil })
		return reg, f
	}
	older := cluster.NewRegistry()
	cluster.Register(older, "name", func(context.Context, string) (string, error) { return "older", nil })
	newer, name := version("newer")
	c := hurried(t, s.Conn())
	graph := func() (*cluster.Graph, cluster.Call[string]) {
		g := cluster.NewGraph("g")
		return g, name.Call(g, cluster.Value(1))
	}

	g, _ := graph()
	_, err := c.Submit(within(t), g, cluster.Submission{})
	require.ErrorIs(t, err, cluster.ErrNoWorker)
	require.ErrorContains(t, err, "no worker serves the queue")

	work(t, s.Conn(), ex, older, cluster.WorkerConfig{Name: "older"})
	announced(t, c, 1)
	_, err = c.Submit(within(t), g, cluster.Submission{})
	var missing *cluster.MissingError
	require.ErrorIs(t, err, cluster.ErrNoWorker)
	require.ErrorAs(t, err, &missing)
	require.Equal(t, "name", missing.Function)
	require.NotEmpty(t, missing.Have)
	require.NotEqual(t, missing.Have, missing.Want)

	none := cluster.NewRegistry()
	other := cluster.Register0(none, "other", func(context.Context) (int, error) { return 0, nil })
	lacking := cluster.NewGraph("lacking")
	other.Call(lacking)
	_, err = c.Submit(within(t), lacking, cluster.Submission{})
	require.ErrorAs(t, err, &missing)
	require.Equal(t, "other", missing.Function)
	require.Empty(t, missing.Have)

	work(t, s.Conn(), ex, newer, cluster.WorkerConfig{Name: "newer"})
	announced(t, c, 2)
	for range 20 {
		g, call := graph()
		h, err := c.Submit(within(t), g, cluster.Submission{})
		require.NoError(t, err)
		res, err := h.Wait(within(t))
		require.NoError(t, err)
		got, err := call.Result(res)
		require.NoError(t, err)
		require.Equal(t, "newer", got)
	}
}

// TestFunctionsApart: a graph whose functions no worker has all of runs on several, unless one partition needs them.
func TestFunctionsApart(t *testing.T) {
	t.Parallel()
	s := served.Start(t, embedded.Config{})
	ex := newExecutor(t)
	left, right, both := cluster.NewRegistry(), cluster.NewRegistry(), cluster.NewRegistry()
	inc := func(_ context.Context, n int) (int, error) { return n + 1, nil }
	cluster.Register(left, "left", inc)
	cluster.Register(right, "right", inc)
	l, r := cluster.Register(both, "left", inc), cluster.Register(both, "right", inc)
	work(t, s.Conn(), ex, left, cluster.WorkerConfig{Name: "left"})
	work(t, s.Conn(), ex, right, cluster.WorkerConfig{Name: "right"})
	c := hurried(t, s.Conn())
	announced(t, c, 2)

	g := cluster.NewGraph("apart")
	call := l.Call(g, cluster.Value(0)).Cost(cluster.DefaultTarget)
	for range 5 {
		call = l.Call(g, r.Call(g, call).Cost(cluster.DefaultTarget)).Cost(cluster.DefaultTarget)
	}
	h, err := c.Submit(within(t), g, cluster.Submission{})
	require.NoError(t, err)
	res, err := h.Wait(within(t))
	require.NoError(t, err)
	got, err := call.Result(res)
	require.NoError(t, err)
	require.Equal(t, 11, got)

	together := cluster.NewGraph("together")
	r.Call(together, l.Call(together, cluster.Value(0)).Colocate("x")).Colocate("x")
	_, err = c.Submit(within(t), together, cluster.Submission{})
	require.ErrorIs(t, err, cluster.ErrNoWorker)
	require.ErrorContains(t, err, "no worker has all the functions of one partition: left, right")
}

// TestForeignMessages: messages and records that no client has written are buried or end their run. The worker goes on.
func TestForeignMessages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.work(cluster.WorkerConfig{Slots: 2})
	r := s.Random(1, clustertest.Options{})
	s.equal(r, s.submit(r), "before")

	js, err := jetstream.New(s.server.Conn())
	require.NoError(t, err)
	st, err := js.Stream(within(t), "magpie-work-q")
	require.NoError(t, err)
	var class string // of the worker
	for name := range st.ConsumerNames(within(t)).Name() {
		class = name
	}
	zeros := strings.Repeat("0", 64)
	foreign := []string{
		``, `{`, `null`, `[]`, `"x"`, `{"v":0}`, `{"v":1}`, `{"v":1,"kind":"burn","run":"a","plan":"p"}`,
		`{"v":1,"kind":"part","run":"a.b","plan":"p"}`, `{"v":1,"kind":"part","run":">","plan":"p"}`,
		`{"v":1,"kind":"part","run":"a","part":-1,"plan":"p"}`, `{"v":1,"kind":"start","run":"a","plan":"p"}`,
		`{"v":1,"kind":"start","run":"a","plan":"p","begin":{"deadline":-1}}`,
		strings.Repeat("[", 500_000), string(bytes.Repeat([]byte{0xff}, 1000)),
	}
	for _, m := range foreign {
		_, err := js.Publish(within(t), "magpie.q.work."+class, []byte(m))
		require.NoError(t, err)
	}
	// A part of a run that nobody has begun ends that run before it begins, and is no dead letter.
	_, err = js.Publish(within(t), "magpie.q.work."+class, []byte(`{"v":1,"kind":"part","run":"a","plan":"`+zeros+`"}`))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return s.messages("magpie-dead-q") >= uint64(len(foreign)) }, patience,
		10*time.Millisecond)
	s.settled()
	require.EqualValues(t, len(foreign), s.messages("magpie-dead-q"))

	// A record that is no output, under the key of one.
	_, err = js.Publish(within(t), "$KV.magpie-q.r.spoilt.o.0", []byte("spoilt"))
	require.NoError(t, err)
	slow := s.Random(2, clustertest.Options{Tasks: 20, Plain: true})
	h, err := s.client.Submit(within(t), slow.Graph, cluster.Submission{ID: "spoilt"})
	require.NoError(t, err)
	var failed *cluster.RunError
	_, err = h.Wait(within(t))
	require.ErrorAs(t, err, &failed)
	require.Equal(t, cluster.Corrupt, failed.Reason)
	s.equal(r, s.submit(r), "after")
}

// TestLargeValues: results and inputs that are larger than a message may be.
func TestLargeValues(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.work(cluster.WorkerConfig{Slots: 2})
	for seed := range uint64(quickOrLong(2, 30)) {
		r := s.Random(seed, clustertest.Options{Tasks: 12, Bytes: 3 << 20})
		s.equal(r, s.submit(r), "large values")
	}
}

// TestFailures: a function that fails or panics, a result that does not encode, a deadline, and a call of Cancel end a
// run with an error that says so.
func TestFailures(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	reg := cluster.NewRegistry()
	began := make(chan struct{}, 1)
	fail := cluster.Register0(reg, "fail", func(context.Context) (int, error) { return 0, errBoom })
	long := cluster.Register0(reg, "long", func(context.Context) (int, error) {
		return 0, errors.New("b" + strings.Repeat("o", 3<<20)) // more than a message may have
	})
	panics := cluster.Register0(reg, "panic", func(context.Context) (int, error) { panic("ouch") })
	nan := cluster.Register0(reg, "nan", func(context.Context) (float64, error) { return math.NaN(), nil })
	hang := cluster.Register0(reg, "hang", func(ctx context.Context) (int, error) {
		began <- struct{}{}
		<-ctx.Done()
		return 0, context.Cause(ctx)
	})
	work(t, s.server.Conn(), s.ex, reg, cluster.WorkerConfig{Name: "w"})
	run := func(call func(*cluster.Graph), sub cluster.Submission) *cluster.Handle {
		g := cluster.NewGraph("g")
		call(g)
		h, err := s.client.Submit(within(t), g, sub)
		require.NoError(t, err)
		return h
	}
	fails := func(h *cluster.Handle, reason cluster.Reason, text string) error {
		_, err := h.Wait(within(t))
		var failed *cluster.RunError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, reason, failed.Reason, "%v", err)
		require.ErrorContains(t, err, text)
		return err
	}
	failed := run(func(g *cluster.Graph) { fail.Call(g) }, cluster.Submission{ID: "failed"})
	err := fails(failed, cluster.Failed, "boom")
	require.EqualError(t, err, `cluster: run failed: graph "g": task fail#0: boom (worker w)`)
	fails(run(func(g *cluster.Graph) { long.Call(g) }, cluster.Submission{}), cluster.Failed, "ooo")
	fails(run(func(g *cluster.Graph) { panics.Call(g) }, cluster.Submission{}), cluster.Failed, "ouch")
	fails(run(func(g *cluster.Graph) { nan.Call(g) }, cluster.Submission{}), cluster.Failed, "NaN")

	// On a busy machine a deadline may pass before the call begins.
	for deadline := time.Second; len(began) == 0; deadline *= 2 {
		h := run(func(g *cluster.Graph) { hang.Call(g) }, cluster.Submission{Deadline: deadline})
		err = fails(h, cluster.Deadline, "deadline")
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	<-began

	h := run(func(g *cluster.Graph) { hang.Call(g) }, cluster.Submission{})
	<-began
	require.NoError(t, h.Cancel(within(t), errors.New("I have changed my mind")))
	err = fails(h, cluster.Cancelled, "I have changed my mind")
	require.ErrorIs(t, err, context.Canceled)

	h = run(func(g *cluster.Graph) { hang.Call(g) }, cluster.Submission{})
	<-began
	require.NoError(t, h.Cancel(within(t), errors.New(strings.Repeat("no, ", 1<<20))))
	fails(h, cluster.Cancelled, "no, no, ")
	s.settled()
}

// TestStop: a worker that is stopped gives back what it does not finish, and another one runs it.
func TestStop(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	reg := cluster.NewRegistry()
	began := make(chan struct{}, 10)
	finish := make(chan struct{})
	wait := cluster.Register0(reg, "wait", func(ctx context.Context) (int, error) {
		began <- struct{}{}
		select {
		case <-finish:
			return 1, nil
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	})
	stop := work(t, s.server.Conn(), s.ex, reg, cluster.WorkerConfig{Grace: time.Millisecond})
	g := cluster.NewGraph("g")
	call := wait.Call(g)
	h, err := s.client.Submit(within(t), g, cluster.Submission{})
	require.NoError(t, err)
	<-began
	stop()
	announced(t, s.client, 0)
	work(t, s.server.Conn(), s.ex, reg, cluster.WorkerConfig{})
	<-began // long before the end of the lease
	close(finish)
	res, err := h.Wait(within(t))
	require.NoError(t, err)
	got, err := call.Result(res)
	require.NoError(t, err)
	require.Equal(t, 1, got)
}

// TestAttach: a run goes on without the client that has submitted it, and another one has its results by its ID.
func TestAttach(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := s.Random(5, clustertest.Options{Tasks: 20})
	_, err := s.client.Attach(within(t), "nobody")
	require.ErrorIs(t, err, cluster.ErrUnknownRun)
	_, err = s.client.Attach(within(t), "a.b")
	require.ErrorIs(t, err, cluster.ErrUnknownRun)

	stop := s.work(cluster.WorkerConfig{})
	nc := s.server.Conn()
	c, err := cluster.NewClient(within(t), nc, cluster.ClientConfig{Queue: queue, Patient: true})
	require.NoError(t, err)
	_, err = c.Submit(within(t), r.Graph, cluster.Submission{ID: "run-5"})
	require.NoError(t, err)
	nc.Close()
	c.Close()
	stop()
	s.work(cluster.WorkerConfig{})

	var h *cluster.Handle
	require.Eventually(t, func() bool {
		h, err = s.client.Attach(within(t), "run-5")
		return err == nil
	}, patience, 10*time.Millisecond)
	s.equal(r, h, "attached")
	_, err = s.client.Submit(within(t), r.Graph, cluster.Submission{ID: "run-5"})
	require.NoError(t, err)
	s.equal(r, h, "submitted again")
}

// TestRunsHere: a graph that is worth less than a partition does not go to the queue.
func TestRunsHere(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	f := newFunctions()
	c, err := cluster.NewClient(within(t), s.server.Conn(), cluster.ClientConfig{
		Queue: queue, Executor: s.ex, Registry: f.reg,
	})
	require.NoError(t, err)
	defer c.Close()
	small := cluster.NewGraph("small")
	one := f.one.Call(small)
	res, err := c.Run(within(t), small) // there is no worker
	require.NoError(t, err)
	got, err := one.Result(res)
	require.NoError(t, err)
	require.Equal(t, 1, got)

	large := cluster.NewGraph("large")
	f.one.Call(large).Cost(time.Minute)
	_, err = c.Run(within(t), large)
	require.ErrorContains(t, err, "no worker serves the queue")
}

// TestRefusedConnections: what a worker and a client cannot use is an error that says why.
func TestRefusedConnections(t *testing.T) {
	t.Parallel()
	plain := served.Other(t, &server.Options{})
	nc, err := nats.Connect("", nats.InProcessServer(plain))
	require.NoError(t, err)
	defer nc.Close()
	_, err = cluster.NewClient(within(t), nc, cluster.ClientConfig{})
	require.ErrorContains(t, err, "start the server with it (-js)")
	_, err = cluster.NewWorker(within(t), nc, newExecutor(t), cluster.NewRegistry(), cluster.WorkerConfig{})
	require.ErrorContains(t, err, "start the server with it (-js)")
	_, err = cluster.NewWorker(within(t), nc, newExecutor(t), nil, cluster.WorkerConfig{})
	require.ErrorContains(t, err, "needs a registry")
	_, err = cluster.NewWorker(within(t), nc, newExecutor(t), cluster.NewRegistry(), cluster.WorkerConfig{Name: "a b"})
	require.ErrorContains(t, err, "the name of a worker")
	_, err = cluster.NewWorker(within(t), nc, newExecutor(t), cluster.NewRegistry(), cluster.WorkerConfig{Slots: -1})
	require.ErrorContains(t, err, "-1 slots")
	_, err = cluster.NewWorker(within(t), nc, newExecutor(t), cluster.NewRegistry(), cluster.WorkerConfig{Grace: -1e9})
	require.ErrorContains(t, err, "a Grace of -1s")
	jetStream := served.Start(t, embedded.Config{}).Conn()
	for _, q := range []cluster.Queue{{Keep: time.Second}, {Keep: -1}, {Lease: 1}, {Lease: -1}} {
		_, err = cluster.NewClient(within(t), jetStream, cluster.ClientConfig{Queue: q})
		require.ErrorContains(t, err, "the least are 10s and 100ms")
	}
	w, err := cluster.NewWorker(within(t), jetStream, newExecutor(t), cluster.NewRegistry(), cluster.WorkerConfig{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = w.Run(ctx) // whether it can announce itself first
	require.ErrorContains(t, w.Run(t.Context()), "Run was called before")
}

// TestClosedConnection: Wait ends with the connection, since it would never be told.
func TestClosedConnection(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	reg := cluster.NewRegistry()
	began := make(chan struct{}, 1)
	hang := cluster.Register0(reg, "hang", func(ctx context.Context) (int, error) {
		began <- struct{}{}
		<-ctx.Done()
		return 0, context.Cause(ctx)
	})
	work(t, s.server.Conn(), s.ex, reg, cluster.WorkerConfig{Grace: time.Millisecond})
	nc := s.server.Conn()
	g := cluster.NewGraph("g")
	hang.Call(g)
	for _, sub := range []cluster.Submission{{ID: "a b"}, {Deadline: -1}} {
		_, err := s.client.Submit(within(t), g, sub)
		require.ErrorContains(t, err, "was not submitted: the ")
	}
	h, err := connect(t, nc).Submit(within(t), g, cluster.Submission{})
	require.NoError(t, err)
	<-began
	waited := make(chan error, 1)
	go func() { _, err := h.Wait(within(t)); waited <- err }()
	nc.Close()
	require.ErrorIs(t, <-waited, nats.ErrConnectionClosed)
	_, err = h.Wait(within(t))
	require.ErrorIs(t, err, nats.ErrConnectionClosed)
}
