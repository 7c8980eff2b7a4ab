//go:build unix

package cluster_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/internal/clustertest"
	"github.com/magpie-go/magpie/internal/testkit"
)

// TestThreeServers: of three servers the leader of the work queue is killed in the middle of a run, which then has the
// results of a local run. The server stays away.
func TestThreeServers(t *testing.T) {
	t.Parallel()
	f := newField(t, t.TempDir(), 3, false)
	runOnThree(t, func() *nats.Conn { return f.connect(within(t)) }, func(nc *nats.Conn) {
		leader := f.leader(t, nc, "magpie-work-q")
		leader.kill()
		t.Cleanup(func() { require.False(t, leader.alive()) })
	})
}

// TestThreeScript: setup/three.sh starts servers that clients reach by TLS, with the authority and the users that it
// says, and a run goes on when one of them is killed.
func TestThreeScript(t *testing.T) {
	if testkit.Quick() {
		t.Skip("MAGPIE_TESTS=long runs it: its ports are fixed")
	}
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("there is no openssl")
	}
	dir := t.TempDir()
	script := exec.Command("sh", filepath.Join("setup", "three.sh"), dir)
	script.Stderr = t.Output()
	out, err := script.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, script.Start())
	t.Cleanup(func() {
		_ = script.Process.Signal(os.Interrupt)
		_ = script.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err, "the script has ended; are the ports 4231 to 4233 and 6231 to 6233 free?")
	require.Equal(t, "clients: -nats tls://USER:PASSWORD@127.0.0.1:4231 -ca "+filepath.Join(dir, "ca.pem")+"\n", line)

	connect := func() *nats.Conn {
		nc, err := nats.Connect("tls://albums:albums@127.0.0.1:4231,tls://albums:albums@127.0.0.1:4232,"+
			"tls://albums:albums@127.0.0.1:4233", nats.RootCAs(filepath.Join(dir, "ca.pem")), nats.MaxReconnects(-1))
		require.NoError(t, err)
		return nc
	}
	runOnThree(t, connect, func(*nats.Conn) {
		text, err := os.ReadFile(filepath.Join(dir, "server2.pid"))
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	})
}

// runOnThree runs a graph on a queue with three replicas, named "q", and compares the results with those of a local run.
// In the middle of the run it calls kill.
func runOnThree(t *testing.T, connect func() *nats.Conn, kill func(*nats.Conn)) {
	nc, own := connect(), connect()
	t.Cleanup(nc.Close)
	t.Cleanup(own.Close)
	q := cluster.Queue{Name: "q", Replicas: 3, Keep: time.Hour, Lease: lease}
	var c *cluster.Client
	until(t, "a client", func(ctx context.Context) (err error) {
		c, err = cluster.NewClient(ctx, nc, clientConfig(q))
		return err
	})
	t.Cleanup(c.Close)

	functions := clustertest.NewFunctions()
	begun, killed := make(chan struct{}, 1), make(chan struct{})
	functions.Each = func(ctx context.Context, _ cluster.Info) error {
		select {
		case begun <- struct{}{}:
		default:
		}
		select {
		case <-killed: // so a run is not over before
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	ex := newExecutor(t)
	var w *cluster.Worker
	until(t, "a worker", func(ctx context.Context) (err error) {
		w, err = cluster.NewWorker(ctx, own, ex, functions.Registry, cluster.WorkerConfig{
			Queue: q, Slots: 4, Report: func(err error) { t.Log(err) }})
		return err
	})
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { _ = w.Run(ctx) }) // the run says whether it works
	t.Cleanup(ended.Wait)
	t.Cleanup(cancel)

	const seed = 1
	r := functions.Random(seed, clustertest.Options{})
	var h *cluster.Handle
	until(t, "a submission", func(ctx context.Context) (err error) {
		h, err = c.Submit(ctx, r.Graph, cluster.Submission{ID: "run"})
		return err
	})
	select {
	case <-begun:
	case <-within(t).Done():
		t.Fatal("no function is called")
	}
	kill(nc)
	close(killed)
	got, err := waited(within(t), r, h)
	require.NoError(t, err)

	local, err := cluster.Run(t.Context(), newExecutor(t), functions.Registry, r.Graph)
	require.NoError(t, err)
	want, err := r.Results(local)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// until calls f until it has no error: servers refuse much while they choose leaders.
func until(t *testing.T, what string, f func(ctx context.Context) error) {
	t.Helper()
	limit := within(t)
	for {
		ctx, cancel := context.WithTimeout(limit, 5*time.Second)
		err := f(ctx)
		cancel()
		if err == nil {
			return
		}
		if !sleep(limit, 50*time.Millisecond) {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// leader returns the server that leads a stream.
func (f *field) leader(t *testing.T, nc *nats.Conn, stream string) (leader *process) {
	t.Helper()
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	until(t, "a leader", func(ctx context.Context) error {
		st, err := js.Stream(ctx, stream)
		if err != nil {
			return err
		}
		for _, p := range f.servers {
			if info := st.CachedInfo().Cluster; info != nil && p.name == info.Leader {
				leader = p
				return nil
			}
		}
		return context.DeadlineExceeded
	})
	return leader
}
