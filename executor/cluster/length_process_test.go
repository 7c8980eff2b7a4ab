//go:build unix

package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/clustertest"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
)

// A part is what a process of the tests at length does until its context ends. Its fields go to the process as JSON.
type part interface {
	play(ctx context.Context) error
}

const (
	partVariable   = "MAGPIE_CLUSTER_PART"
	fieldsVariable = "MAGPIE_CLUSTER_FIELDS"
)

// TestMain is a process of a test, if it was started as one.
func TestMain(m *testing.M) {
	parts := map[string]part{"server": &serverPart{}, "worker": &workerPart{}, "submitter": &submitterPart{}}
	p := parts[os.Getenv(partVariable)]
	if p == nil {
		os.Exit(m.Run())
	}
	log.SetFlags(log.Ltime | log.Lmicroseconds)
	if err := json.Unmarshal([]byte(os.Getenv(fieldsVariable)), p); err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // it ends with the process that has started this one
		stop()
	}()
	if err := p.play(ctx); err != nil {
		log.Fatal(err)
	}
}

// A serverPart is a server.
type serverPart struct {
	Dir, Listen, Name, Route string
	Routes                   []string // none: it is alone
	Sync                     bool
}

func (p *serverPart) play(ctx context.Context) error {
	c := embedded.Config{Dir: p.Dir, Listen: p.Listen, SyncAlways: p.Sync, Log: func(line string) { log.Print(line) }}
	if len(p.Routes) > 0 {
		c.Cluster = &embedded.Cluster{Server: p.Name, Listen: p.Route, Routes: p.Routes}
	}
	s, err := embedded.Start(ctx, c)
	if err != nil {
		return err
	}
	<-ctx.Done()
	s.Close()
	return nil
}

// dialed connects to servers of which each is behind a proxy, and tries until one is there.
func dialed(ctx context.Context, urls string) (*nats.Conn, error) {
	for {
		nc, err := nats.Connect(urls, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond),
			nats.IgnoreDiscoveredServers(), nats.Timeout(5*time.Second))
		if err == nil || ctx.Err() != nil {
			return nc, err
		}
		sleep(ctx, 100*time.Millisecond)
	}
}

// sleep sleeps until ctx ends at most, and reports whether it has not ended.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
	return ctx.Err() == nil
}

// A workerPart is a worker with the functions of random graphs, of which each call takes up to Slow. Poison kills it.
type workerPart struct {
	URLs    string
	Queue   cluster.Queue
	Name    string
	Slots   int
	Slow    time.Duration
	Doubles bool // it publishes twice, and forgets to acknowledge
	Skewed  bool // its clock is not that of the server
}

func (p *workerPart) play(ctx context.Context) error {
	f := clustertest.NewFunctions()
	f.Each = func(ctx context.Context, _ cluster.Info) error {
		sleep(ctx, rand.N(p.Slow+1))
		return context.Cause(ctx)
	}
	f.Poison = func(context.Context) {
		log.Print("poison")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	nc, err := dialed(ctx, p.URLs)
	if err != nil {
		return err
	}
	defer nc.Close()
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		return err
	}
	defer ex.Close()
	c := cluster.WorkerConfig{Queue: p.Queue, Name: p.Name, Slots: p.Slots, Grace: time.Second,
		Report: func(err error) { log.Print(err) }}
	if p.Doubles {
		var was sync.Map
		c = c.Between(func(s protocol.Store) protocol.Store { return &twice{s, &was} },
			func(d protocol.Delivery) protocol.Delivery { return &forgetful{d} })
	}
	if p.Skewed {
		c = c.Between(nil, func(d protocol.Delivery) protocol.Delivery { return &skewed{d} })
	}
	for {
		w, err := cluster.NewWorker(ctx, nc, ex, f.Registry, c)
		if err == nil {
			err = w.Run(ctx)
		}
		if err == nil || ctx.Err() != nil {
			return nil
		}
		log.Print(err)
		sleep(ctx, 100*time.Millisecond)
	}
}

// A submitterPart submits a random graph.
type submitterPart struct {
	URLs    string
	Queue   cluster.Queue
	Seed    uint64
	Options clustertest.Options
	ID      string
}

func (p *submitterPart) play(ctx context.Context) error {
	nc, err := dialed(ctx, p.URLs)
	if err != nil {
		return err
	}
	defer nc.Close()
	c, err := cluster.NewClient(ctx, nc, clientConfig(p.Queue))
	if err != nil {
		return err
	}
	defer c.Close()
	r := clustertest.NewFunctions().Random(p.Seed, p.Options)
	_, err = c.Submit(ctx, r.Graph, cluster.Submission{ID: p.ID})
	return err
}

// clientConfig is that of clients whose partitions have two calls or so.
func clientConfig(q cluster.Queue) cluster.ClientConfig {
	return cluster.ClientConfig{Queue: q, Patient: true, Target: 2 * cluster.DefaultCost}
}

// A process is a part in a process of its own. Its methods may be called from any goroutine.
type process struct {
	t      testing.TB
	name   string
	log    string // a file
	kind   string
	fields part

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{} // closed when cmd has ended
}

func newProcess(t testing.TB, dir, name, kind string, fields part) *process {
	t.Helper()
	p := &process{t: t, name: name, log: filepath.Join(dir, name+".log"), kind: kind, fields: fields}
	p.start()
	t.Cleanup(p.kill)
	return p
}

// start starts the process, which does not run.
func (p *process) start() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	fields, err := json.Marshal(p.fields)
	require.NoError(p.t, err)
	self, err := os.Executable()
	require.NoError(p.t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), partVariable+"="+p.kind, fieldsVariable+"="+string(fields))
	_, err = cmd.StdinPipe()
	require.NoError(p.t, err)
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(p.t, err)
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(p.t, cmd.Start())
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }() // the log says why it has ended
	p.cmd, p.ended = cmd, ended
}

// send sends a signal, to a process that may have ended.
func (p *process) send(s os.Signal) (ended chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.cmd.Process.Signal(s)
	return p.ended
}

// kill is kill -9.
func (p *process) kill() { <-p.send(os.Kill) }

// stop asks the process to end, and waits for that.
func (p *process) stop() { <-p.send(syscall.SIGTERM) }

// hang stops the process for a time.
func (p *process) hang(ctx context.Context, d time.Duration) {
	p.send(syscall.SIGSTOP)
	sleep(ctx, d)
	p.send(syscall.SIGCONT)
}

// alive reports whether the process has not ended.
func (p *process) alive() bool {
	select {
	case <-p.send(syscall.Signal(0)):
		return false
	default:
		return true
	}
}

// tail returns the last lines of the log.
func (p *process) tail() string {
	const some = 12
	lines := p.lines()
	return fmt.Sprintf("%s:\n\t%s\n", p.name, strings.Join(lines[max(0, len(lines)-some):], "\n\t"))
}

// last returns the last line of the log.
func (p *process) last() string {
	lines := p.lines()
	return lines[len(lines)-1]
}

// lines returns the lines of the log.
func (p *process) lines() []string {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return []string{err.Error()}
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}
