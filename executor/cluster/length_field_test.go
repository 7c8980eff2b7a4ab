//go:build unix

package cluster_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/internal/clustertest"
)

// A field is servers that are processes.
type field struct {
	t       testing.TB
	dir     string
	servers []*process
	addrs   []string
	queues  []string
}

// newField starts servers with their stores in dir.
func newField(t testing.TB, dir string, servers int, sync bool) *field {
	t.Helper()
	f := &field{t: t, dir: dir}
	all := freeAddrs(t, 2*servers)
	f.addrs = all[:servers]
	for i := range servers {
		name := fmt.Sprint("server", i+1)
		p := &serverPart{Dir: filepath.Join(dir, name), Name: name, Listen: all[i], Sync: sync}
		if servers > 1 {
			p.Route, p.Routes = all[servers+i], all[servers:]
		}
		f.servers = append(f.servers, newProcess(t, t.TempDir(), name, "server", p))
	}
	return f
}

// freeAddrs returns addresses that nobody listened on a moment ago.
func freeAddrs(t testing.TB, n int) (addrs []string) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer l.Close() // when all are found, so that they differ
		addrs = append(addrs, l.Addr().String())
	}
	return addrs
}

// connect connects to the servers, not through proxies.
func (f *field) connect(ctx context.Context) *nats.Conn {
	f.t.Helper()
	var urls []string
	for _, a := range f.addrs {
		urls = append(urls, "nats://"+a)
	}
	nc, err := dialed(ctx, strings.Join(urls, ","))
	require.NoError(f.t, err)
	return nc
}

// messages returns how many messages the streams of a queue have, of those that are removed with age.
func (f *field) messages(ctx context.Context, queue string) (work, records, objects uint64, err error) {
	nc := f.connect(ctx)
	defer nc.Close()
	return left(ctx, nc, queue)
}

// keep is how long the queues of fields keep records: longer than runs take. The last check waits for twice as long.
const keep = 15 * time.Minute

// cleaned waits until nothing is left in the queues.
func (f *field) cleaned() {
	f.t.Helper()
	limit, cancel := context.WithTimeout(f.t.Context(), 3*keep)
	defer cancel()
	for _, q := range f.queues {
		for {
			work, records, objects, err := f.messages(limit, q)
			if err == nil && work+records+objects == 0 {
				break
			}
			if !sleep(limit, time.Second) {
				f.t.Errorf("queue %s has %d messages, %d records and %d chunks long after its last run: %v", q, work, records,
					objects, err)
				break
			}
		}
	}
}

// A battle is a field with workers on a queue, and what goes wrong between them.
type battle struct {
	*field
	*clustertest.Functions
	t       testing.TB
	queue   cluster.Queue
	workers []*process
	nets    [][]*proxy // of each worker, to each server; those of the client are the last
	nc      *nats.Conn
	client  *cluster.Client
	ex      *executor.Executor
	rnd     *rand.Rand // of the faults
}

const battleWorkers = 4

// lease is that of the queues of battles.
const lease = 2 * time.Second

func newBattle(t testing.TB, f *field, name string, seed uint64, part workerPart) *battle {
	t.Helper()
	b := &battle{field: f, t: t, Functions: clustertest.NewFunctions(), rnd: rand.New(rand.NewPCG(seed, 2))}
	b.queue = cluster.Queue{Name: name, Replicas: len(f.servers), Keep: keep, Lease: lease}
	f.queues = append(f.queues, name)
	ex, err := executor.New(executor.Config{Workers: 2})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ex.Close()) })
	b.ex = ex
	dir := t.TempDir()
	for i := range battleWorkers + 1 {
		var nets []*proxy
		for _, a := range f.addrs {
			nets = append(nets, newProxy(t, a))
		}
		b.nets = append(b.nets, nets)
		if i < battleWorkers {
			p := part
			p.URLs, p.Queue, p.Name = b.urls(i), b.queue, fmt.Sprint("w", i)
			b.workers = append(b.workers, newProcess(t, dir, p.Name, "worker", &p))
		}
	}
	limit, cancel := context.WithTimeout(t.Context(), stuck*lookEvery)
	defer cancel()
	b.nc, err = dialed(limit, b.urls(battleWorkers))
	require.NoError(t, err)
	t.Cleanup(b.nc.Close)
	for b.client == nil {
		c, err := cluster.NewClient(limit, b.nc, clientConfig(b.queue))
		if err == nil {
			b.client = c
			t.Cleanup(c.Close)
		} else if !sleep(limit, 100*time.Millisecond) {
			t.Fatalf("no client: %v\n%s", err, b.tails())
		}
	}
	return b
}

func (b *battle) urls(i int) string {
	var urls []string
	for _, p := range b.nets[i] {
		urls = append(urls, p.url())
	}
	return strings.Join(urls, ",")
}

// tails returns the last lines of all processes.
func (b *battle) tails() string {
	var all strings.Builder
	for _, p := range append(b.servers, b.workers...) {
		all.WriteString(p.tail())
	}
	return all.String()
}

// worker returns one of the workers.
func (b *battle) worker() *process { return b.workers[b.rnd.IntN(len(b.workers))] }

// startEnded starts the workers again that have ended by themselves, and returns how many these were.
func (b *battle) startEnded() (n int) {
	for _, p := range b.workers {
		if !p.alive() {
			p.start()
			n++
		}
	}
	return n
}

// server returns one of the servers.
func (b *battle) server() *process { return b.servers[b.rnd.IntN(len(b.servers))] }

// upTo returns a random time.
func (b *battle) upTo(d time.Duration) time.Duration {
	return time.Duration(b.rnd.Int64N(int64(d) + 1))
}

// leader returns the server that leads the work queue, or another one if nobody says which.
func (b *battle) leader(ctx context.Context) *process {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	js, err := jetstream.New(b.nc)
	if err != nil {
		return b.server()
	}
	st, err := js.Stream(ctx, "magpie-work-"+b.queue.Name)
	if err == nil && st.CachedInfo().Cluster != nil {
		for _, p := range b.servers {
			if p.name == st.CachedInfo().Cluster.Leader {
				return p
			}
		}
	}
	return b.server()
}

// open returns how many messages are to be delivered, or are with workers. The work stream may have more: a server that
// was killed may have noted that a message is acknowledged, and not have removed it. Then it does so when that is too
// old.
func (b *battle) open(ctx context.Context) (n uint64, err error) {
	js, err := jetstream.New(b.nc)
	if err != nil {
		return 0, err
	}
	st, err := js.Stream(ctx, "magpie-work-"+b.queue.Name)
	if err != nil {
		return 0, err
	}
	consumers := st.ListConsumers(ctx)
	for c := range consumers.Info() {
		n += c.NumPending + uint64(c.NumAckPending)
	}
	return n, consumers.Err()
}

// state says what is in the queue, for runs that are stuck.
func (b *battle) state(h *cluster.Handle) string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var all strings.Builder
	p, err := h.Progress(ctx)
	fmt.Fprintf(&all, "run %s: %+v, %v\n", h.ID(), p, err)
	bl, err := b.client.Backlog(ctx)
	fmt.Fprintf(&all, "queue: %+v, %v\n", bl, err)
	js, err := jetstream.New(b.nc)
	if err != nil {
		return all.String() + err.Error()
	}
	if kv, err := js.KeyValue(ctx, "magpie-"+b.queue.Name); err == nil {
		if w, err := kv.Watch(ctx, "r."+h.ID()+".>"); err == nil {
			for e := range w.Updates() {
				if e == nil {
					break
				}
				fmt.Fprintf(&all, "%s: %.300s\n", e.Key(), e.Value())
			}
			_ = w.Stop()
		}
	}
	for _, stream := range []string{"magpie-work-", "magpie-dead-"} {
		st, err := js.Stream(ctx, stream+b.queue.Name)
		if err != nil {
			fmt.Fprintln(&all, stream, err)
			continue
		}
		info := st.CachedInfo().State
		for seq := info.FirstSeq; seq <= info.LastSeq && seq < info.FirstSeq+1000; seq++ {
			if m, err := st.GetMsg(ctx, seq); err == nil {
				fmt.Fprintf(&all, "%s%d: %v %.300s\n", stream, seq, m.Header, m.Data)
			}
		}
		consumers := st.ListConsumers(ctx)
		for c := range consumers.Info() {
			if c.NumPending > 0 || c.NumAckPending > 0 {
				fmt.Fprintf(&all, "consumer %s: pending %d, leased %d, redelivered %d, requests %d\n", c.Name, c.NumPending,
					c.NumAckPending, c.NumRedelivered, c.NumWaiting)
			}
		}
	}
	return all.String()
}

// remove removes the store of a server that has ended.
func (b *battle) remove(p *process) {
	require.NoError(b.t, os.RemoveAll(p.fields.(*serverPart).Dir))
}
