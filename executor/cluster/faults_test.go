package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/clustertest"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
)

// quickOrLong returns how much of something a test has, and what it has with MAGPIE_TESTS=long.
func quickOrLong(quick, long int) int {
	if os.Getenv("MAGPIE_TESTS") == "long" {
		return long
	}
	return quick
}

// A site is a server, an executor and functions, for tests of runs.
type site struct {
	t      *testing.T
	server *served.Server
	ex     *executor.Executor
	*clustertest.Functions
	client *cluster.Client
}

func newSite(t *testing.T) *site { return newSiteOf(t, queue) }

// newSiteOf returns a site with that queue.
func newSiteOf(t *testing.T, queue cluster.Queue) *site {
	s := &site{t: t, server: served.Start(t, embedded.Config{}), ex: newExecutor(t), Functions: clustertest.NewFunctions()}
	s.client = s.newClient(queue)
	return s
}

// newClient returns a client whose partitions have two calls or so.
func (s *site) newClient(queue cluster.Queue) *cluster.Client {
	s.t.Helper()
	c, err := cluster.NewClient(within(s.t), s.server.Conn(), cluster.ClientConfig{
		Queue: queue, Patient: true, Target: 2 * cluster.DefaultCost,
	})
	require.NoError(s.t, err)
	s.t.Cleanup(c.Close)
	return c
}

// work starts a worker with the functions of the site.
func (s *site) work(c cluster.WorkerConfig) (stop func()) {
	s.t.Helper()
	return work(s.t, s.server.Conn(), s.ex, s.Registry, c)
}

func (s *site) submit(r *clustertest.Random) *cluster.Handle {
	s.t.Helper()
	h, err := s.client.Submit(within(s.t), r.Graph, cluster.Submission{})
	require.NoError(s.t, err)
	return h
}

// equal checks that a run has the results of a local run.
func (s *site) equal(r *clustertest.Random, h *cluster.Handle, what string) {
	s.t.Helper()
	local, err := cluster.Run(within(s.t), s.ex, s.Registry, r.Graph)
	require.NoError(s.t, err)
	want, err := r.Results(local)
	require.NoError(s.t, err)
	res, err := h.Wait(within(s.t))
	require.NoError(s.t, err, what)
	got, err := r.Results(res)
	require.NoError(s.t, err, what)
	require.Equal(s.t, want, got, what)
}

// messages returns how many messages a stream of the queue has.
func (s *site) messages(stream string) uint64 {
	s.t.Helper()
	js, err := jetstream.New(s.server.Conn())
	require.NoError(s.t, err)
	st, err := js.Stream(within(s.t), stream)
	require.NoError(s.t, err)
	return st.CachedInfo().State.Msgs
}

// settled waits until the queue has no message any more.
func (s *site) settled() {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return s.messages("magpie-work-q") == 0 }, patience, 10*time.Millisecond)
}

// TestRandomGraphs: random graphs have the results of local runs, on two workers with few and many slots.
func TestRandomGraphs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.work(cluster.WorkerConfig{Slots: 1})
	s.work(cluster.WorkerConfig{Slots: 8})
	for seed := range uint64(quickOrLong(25, 1000)) {
		r := s.Random(seed, clustertest.Options{Flaky: int(seed % 3)})
		s.equal(r, s.submit(r), fmt.Sprintf("seed %d", seed))
	}
	s.settled()
	require.Zero(t, s.messages("magpie-dead-q"))
}

// TestWorkerKilled: a worker dies at each of its steps, before or after its effect, and another one completes the run.
func TestWorkerKilled(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for seed := range uint64(quickOrLong(1, 40)) {
		r := s.Random(seed, clustertest.Options{Tasks: 14})
		whole := newMortal(0, false)
		stop := s.work(whole.into(cluster.WorkerConfig{Slots: 1}))
		s.equal(r, s.submit(r), "no death")
		stop()
		require.Greater(t, whole.count(), 10)
		for at := 1; at <= whole.count(); at++ {
			m := newMortal(at, (at+int(seed))%2 == 0)
			stop := s.work(m.into(cluster.WorkerConfig{Slots: 1}))
			h := s.submit(r)
			// The order of the steps is not that of the run before, so some deaths come after the end of the run.
			waited, waitEnds := context.WithCancel(within(t))
			go func() {
				defer waitEnds()
				_, _ = h.Wait(waited)
			}()
			select {
			case <-m.dead:
			case <-waited.Done():
			}
			waitEnds()
			stop()
			stop = s.work(cluster.WorkerConfig{Slots: 2})
			s.equal(r, h, fmt.Sprintf("seed %d, death at step %d, after its effect: %v", seed, m.at, m.after))
			s.settled()
			stop()
		}
	}
	require.Zero(t, s.messages("magpie-dead-q"))
}

// TestMoreThanOnce: messages that are there twice, and acknowledgements that are lost, change no result.
func TestMoreThanOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var doubled atomic.Int64
	var was sync.Map
	c := cluster.WorkerConfig{Slots: 3}.Between(
		func(s protocol.Store) protocol.Store { return &twice{s, &was} },
		func(d protocol.Delivery) protocol.Delivery {
			if d.Deliveries() > 1 {
				doubled.Add(1)
			}
			return &forgetful{d}
		})
	s.work(c)
	s.work(c)
	for seed := range uint64(quickOrLong(4, 200)) {
		r := s.Random(seed, clustertest.Options{Tasks: 16})
		s.equal(r, s.submit(r), fmt.Sprintf("seed %d", seed))
	}
	s.settled()
	require.Positive(t, doubled.Load())
	require.Zero(t, s.messages("magpie-dead-q"))
}

// TestServerRestarts: a server that is stopped during a run, and started again on its store, goes on with it.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	// What is on its way to a worker when the server stops is delivered again after its lease.
	short := queue
	short.Lease = 2 * time.Second
	s := newSiteOf(t, short)
	begun := make(chan struct{})
	var armed atomic.Bool
	s.Each = func(context.Context, cluster.Info) error {
		if armed.CompareAndSwap(true, false) {
			begun <- struct{}{}
		}
		return nil
	}
	s.work(cluster.WorkerConfig{Slots: 2})
	for seed := range uint64(quickOrLong(1, 20)) {
		r := s.Random(seed, clustertest.Options{Tasks: 30})
		armed.Store(true)
		h := s.submit(r)
		<-begun
		s.server.Stop()
		s.server.Again()
		s.equal(r, h, fmt.Sprintf("seed %d", seed))
	}
}

// TestCutOff: a worker that the network cuts off past its lease has its partition run by another, and what it says when
// it is back changes nothing.
func TestCutOff(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	nc, freeze := s.server.Freezable()
	began, release := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	s.Poison = func(context.Context) {
		if first.CompareAndSwap(false, true) {
			close(began)
			<-release
		}
	}
	short := queue
	short.Name, short.Lease = "short", 2*time.Second
	c, err := cluster.NewClient(within(t), s.server.Conn(), cluster.ClientConfig{Queue: short, Patient: true,
		Target: cluster.DefaultCost})
	require.NoError(t, err)
	defer c.Close()
	stopSlow := work(t, nc, s.ex, s.Registry, cluster.WorkerConfig{Queue: short, Slots: 1})
	r := s.Random(3, clustertest.Options{Tasks: 8, Poison: 1, Plain: true})
	h, err := c.Submit(within(t), r.Graph, cluster.Submission{})
	require.NoError(t, err)
	<-began
	freeze(true)
	work(t, s.server.Conn(), s.ex, s.Registry, cluster.WorkerConfig{Queue: short, Slots: 2})
	s.equal(r, h, "while the first worker is cut off")
	freeze(false)
	close(release)
	stopSlow()
	s.equal(r, h, "when it is back")
	require.Zero(t, s.messages("magpie-dead-short"))
}

// TestPoison: a partition that ends each worker that runs it ends the run, and its message is a dead letter.
func TestPoison(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var current atomic.Pointer[mortal]
	s.Poison = func(context.Context) { current.Load().die() }
	r := s.Random(1, clustertest.Options{Tasks: 6, Poison: 1, Plain: true})
	var h *cluster.Handle
	deaths := 0
	for ended := false; !ended; {
		m := newMortal(0, false)
		current.Store(m)
		stop := s.work(m.into(cluster.WorkerConfig{Slots: 1}))
		if h == nil {
			h = s.submit(r)
		}
		end := make(chan error, 1)
		waited, waitEnds := context.WithCancel(within(t))
		go func() { _, err := h.Wait(waited); end <- err }()
		select {
		case <-m.dead:
			deaths++
			waitEnds()
			<-end
		case err := <-end:
			var failed *cluster.RunError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, cluster.Poison, failed.Reason, "%v", err)
			ended = true
		}
		waitEnds()
		stop()
	}
	require.Equal(t, protocol.Defaults.Lost+1, deaths)
	all := letters(t, s.client)
	require.Len(t, all, 1)
	require.Equal(t, h.ID(), all[0].Run)
	require.Positive(t, all[0].Calls)
	require.Contains(t, all[0].Why, "poison: 4 workers have been lost with it")
	require.Greater(t, all[0].Deliveries, uint64(protocol.Defaults.Lost))
	s.Poison = nil
	other := s.Random(2, clustertest.Options{})
	s.work(cluster.WorkerConfig{})
	s.equal(other, s.submit(other), "another run")
}

// TestCancelStorm: runs that are cancelled at any moment, from many sides, end as cancelled or with the right results,
// and leave no message behind.
func TestCancelStorm(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.work(cluster.WorkerConfig{Slots: 4})
	s.work(cluster.WorkerConfig{Slots: 4})
	errStorm := errors.New("the storm")
	var cancelled, done atomic.Int64
	var wg sync.WaitGroup
	limit := within(t)
	// All runs may have been done before they were cancelled.
	for seed := uint64(0); seed < uint64(quickOrLong(16, 400)) || cancelled.Load() == 0 && limit.Err() == nil; seed++ {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, 1))
			r := s.Random(seed, clustertest.Options{Tasks: 20, Slow: 2})
			h, err := s.client.Submit(within(t), r.Graph, cluster.Submission{})
			if err != nil {
				t.Errorf("seed %d: %v", seed, err)
				return
			}
			for range 3 {
				after := time.Duration(rnd.Int64N(int64(300 * time.Millisecond)))
				wg.Go(func() {
					time.Sleep(after)
					if err := h.Cancel(within(t), errStorm); err != nil {
						t.Errorf("seed %d: %v", seed, err)
					}
				})
			}
			switch _, err := h.Wait(within(t)); {
			case err == nil:
				done.Add(1)
			case errors.Is(err, context.Canceled):
				cancelled.Add(1)
			default:
				t.Errorf("seed %d: %v", seed, err)
			}
		})
		if seed%8 == 7 {
			wg.Wait()
		}
	}
	wg.Wait()
	t.Logf("%d were cancelled, %d done", cancelled.Load(), done.Load())
	require.Positive(t, cancelled.Load())
	s.settled()
	require.Zero(t, s.messages("magpie-dead-q"))
}

// TestStoreLost: when the server has lost its store, a graph that is submitted again, with the same ID, has its results
// again, by the client and the worker that were there before.
func TestStoreLost(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.work(cluster.WorkerConfig{})
	r := s.Random(3, clustertest.Options{})
	submit := func() (h *cluster.Handle) {
		t.Helper()
		require.Eventually(t, func() bool { // it fails while the server is away
			var err error
			h, err = s.client.Submit(within(t), r.Graph, cluster.Submission{ID: "run"})
			return err == nil
		}, patience, 10*time.Millisecond)
		return h
	}
	s.equal(r, submit(), "before")
	s.server.Lose()
	s.newClient(queue) // makes the streams
	s.equal(r, submit(), "after")
}

// forgotten returns a run that has begun, and whose queue has lost all its messages.
func (s *site) forgotten() (*clustertest.Random, *cluster.Handle) {
	s.t.Helper()
	r := s.Random(7, clustertest.Options{Tasks: 30, Plain: true})
	m := newMortal(12, false)
	stop := s.work(m.into(cluster.WorkerConfig{Slots: 1}))
	h := s.submit(r)
	<-m.dead
	stop()
	js, err := jetstream.New(s.server.Conn())
	require.NoError(s.t, err)
	st, err := js.Stream(within(s.t), "magpie-work-q")
	require.NoError(s.t, err)
	require.NoError(s.t, st.Purge(within(s.t)))
	s.work(cluster.WorkerConfig{})
	return r, h
}

// TestMended: a run whose queue has lost all its messages goes on while a client waits for it, and says so.
func TestMended(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	told := make(chan error, 1)
	c, err := cluster.NewClient(within(t), s.server.Conn(), cluster.ClientConfig{Queue: queue, Report: func(err error) {
		select {
		case told <- err:
		default: // the first one will do
		}
	}}.Mending(10*time.Millisecond))
	require.NoError(t, err)
	defer c.Close()
	r, h := s.forgotten()
	h, err = c.Attach(within(t), h.ID())
	require.NoError(t, err)
	s.equal(r, h, "mended")
	require.ErrorContains(t, <-told, "the queue has lost messages")
}

// TestResume: a run whose queue has lost all its messages goes on after Resume.
func TestResume(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r, h := s.forgotten()
	n, err := h.Resume(within(t))
	require.NoError(t, err)
	require.Positive(t, n)
	require.Eventually(t, func() bool { // a mark was lost too, if the worker died between an output and its marks
		s.settled()
		_, err := h.Resume(within(t))
		p, err2 := h.Progress(within(t))
		return errors.Join(err, err2) == nil && p.Ended
	}, patience, 10*time.Millisecond)
	s.equal(r, h, "resumed")
	n, err = h.Resume(within(t))
	require.NoError(t, err)
	require.Zero(t, n)
}
