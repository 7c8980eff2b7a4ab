package main

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/cmd/internal/workload"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
	"github.com/magpie-go/magpie/internal/testkit"
)

// TestMain is a process of a show, if it was started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{"server", "worker", "top"}, os.Args[1]) {
		main()
		return
	}
	os.Exit(m.Run())
}

// shown runs a show and returns what it prints.
func shown(t *testing.T, args ...string) string {
	t.Helper()
	t.Setenv("NATS_URL", "")
	o, err := parse(append(args, "-v"), io.Discard)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	var out bytes.Buffer
	err = show(ctx, o, &out)
	require.NoError(t, err, out.String())
	return out.String()
}

// TestShow: a run goes on after workers and the server were killed with kill -9, and its result is right.
func TestShow(t *testing.T) {
	out := shown(t, "-workers", "2", "-tasks", "200", "-width", "20", "-sleep", "-kill", "worker=0s,server=300ms")
	require.Contains(t, out, "the result is right")
	require.Contains(t, out, "kill worker")
	require.Contains(t, out, "kill server1")
}

// TestShowThree: a run goes on after the leader of three servers was killed.
func TestShowThree(t *testing.T) {
	if testkit.Quick() {
		t.Skip("MAGPIE_TESTS=long, or medium, runs it: it takes a quarter of a minute")
	}
	out := shown(t, "-servers", "3", "-workers", "2", "-tasks", "1000", "-sleep", "-kill", "leader=1s")
	require.Contains(t, out, "the result is right")
	require.Contains(t, out, "kill server")
}

// TestLocal: the graph runs without a queue too.
func TestLocal(t *testing.T) {
	t.Setenv("NATS_URL", "")
	var out bytes.Buffer
	require.NoError(t, command(t.Context(), []string{"-local", "-tasks", "20", "-sleep"}, &out))
	require.Regexp(t, `the result is right: \d+ calls in this process in .*; [01]\.\d{3} of the ideal, which is 25ms\n`, out.String())
}

// TestSecured: run, its workers and top reach servers with TLS, and serve the users of setup/accounts.conf.
func TestSecured(t *testing.T) {
	at, ca := served.Secure(t, "../../setup")
	for user, args := range map[string][]string{"albums": nil, "reports": {"-inbox", "_INBOX_reports"}} {
		t.Setenv("NATS_URL", "tls://"+user+":secret@"+at)
		args := append(args, "-ca", ca, "-queue", user)
		var out bytes.Buffer
		run := append([]string{"run", "-workers", "2", "-tasks", "40", "-width", "10", "-sleep", "-v"}, args...)
		require.NoError(t, command(t.Context(), run, &out), out.String())
		require.Contains(t, out.String(), "the result is right")
		require.Regexp(t, `memory: submitter (\?|\d+ MiB), worker1 (\?|\d+ MiB), worker2`, out.String())
		require.NoError(t, command(t.Context(), append([]string{"top", "-once"}, args...), &out), out.String())
		require.Contains(t, out.String(), "runs: 0 go on, 1 have results")
	}
	err := command(t.Context(), []string{"top", "-once"}, io.Discard)
	require.ErrorContains(t, err, "-ca has its file")
}

// TestTop: top prints who serves the queue, what waits in it, and what runs where.
func TestTop(t *testing.T) {
	s := served.Start(t, embedded.Config{Listen: "127.0.0.1:0"})
	var out bytes.Buffer
	args := []string{"-nats", s.URL(), "-queue", "q", "-once"}
	require.ErrorContains(t, top(t.Context(), args, &out), `no queue "q"`)
	c, err := cluster.NewClient(t.Context(), s.Conn(), cluster.ClientConfig{Queue: cluster.Queue{Name: "q"}})
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, top(t.Context(), args, &out))
	require.Contains(t, out.String(), "0 partitions wait, 0 are with workers, 0 were given up")
	require.Contains(t, out.String(), "runs: 0 go on, 0 have results, 0 have failed or were cancelled")
	require.NotContains(t, out.String(), "WORKER")

	reg := cluster.NewRegistry()
	wait := cluster.Register0(reg, "wait", func(ctx context.Context) (int, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	})
	w, err := cluster.NewWorker(t.Context(), s.Conn(), nil, reg, cluster.WorkerConfig{
		Queue: cluster.Queue{Name: "q"}, Name: "w1"})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { _ = w.Run(ctx) })
	g := cluster.NewGraph("waits")
	wait.Call(g)
	wait.Call(g)
	var h *cluster.Handle
	require.Eventually(t, func() bool {
		h, err = c.Submit(t.Context(), g, cluster.Submission{ID: "long"})
		return err == nil
	}, time.Minute, 10*time.Millisecond, "no worker")
	shows := func(line string) {
		t.Helper()
		require.Eventually(t, func() bool {
			out.Reset()
			return top(t.Context(), args, &out) == nil && regexp.MustCompile(line).Match(out.Bytes())
		}, time.Minute, 100*time.Millisecond, "%s", line)
	}
	shows(`\n0 +long +w1 +2 +wait#0 +[0-9hm.]+s\n`)
	require.Contains(t, out.String(), "runs: 1 go on")
	require.Regexp(t, `\nlong +waits +0 +1 +0 +1 +[0-9hm.]+s\n`, out.String())
	require.Regexp(t, `\nw1 +[12] +\d+ +\d+ +1\n`, out.String())
	require.NoError(t, h.Cancel(t.Context(), nil))
	shows(`runs: 0 go on, 0 have results, 1 have failed or were cancelled\n`)
	cancel()
	ended.Wait()
}

// TestTopOfProcesses: top shows what each of several worker processes runs.
func TestTopOfProcesses(t *testing.T) {
	t.Setenv("NATS_URL", "")
	o, err := parse([]string{"-workers", "2", "-slots", "1", "-sleep"}, io.Discard)
	require.NoError(t, err)
	s, err := begin(o, io.Discard)
	require.NoError(t, err)
	defer s.end()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	nc, err := s.connect(ctx, o)
	require.NoError(t, err)
	defer nc.Close()
	c, err := s.client(ctx, nc, o)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, s.await(ctx, c))
	h, err := c.Submit(ctx, workload.New().Graph(4, 4, workload.Effort{Time: time.Hour, Sleep: true}, 1).Graph,
		cluster.Submission{ID: "long"})
	require.NoError(t, err)
	for p, err := range h.Watch(ctx, 100*time.Millisecond) {
		require.NoError(t, err)
		if len(p.Running) == 2 {
			break
		}
	}
	var out bytes.Buffer
	require.NoError(t, top(ctx, []string{"-nats", s.server.URL, "-queue", o.queue, "-once"}, &out))
	for _, worker := range []string{"worker1", "worker2"} {
		require.Regexp(t, `\n\d+ +long +`+worker+` +1 +mix#\d+ +[0-9hm.]+s\n`, out.String())
		require.Regexp(t, `\n`+worker+` +1 +1 +\d+ +1\n`, out.String())
	}
	require.NoError(t, h.Cancel(ctx, nil))
}

// TestLongTables: a table leaves out what would not fit a screen.
func TestLongTables(t *testing.T) {
	var out bytes.Buffer
	var all []cluster.Running
	for i := range rows + 3 {
		all = append(all, cluster.Running{Part: i, For: time.Duration(i) * time.Minute})
	}
	tableOfPartitions(&out, []cluster.WorkerStatus{{Running: all}})
	require.Regexp(t, `^PARTITION.+\n17 `, out.String(), "the oldest is first")
	require.Contains(t, out.String(), "and 3 others\n")
	require.Equal(t, rows+3, strings.Count(out.String(), "\n"))
}

// TestTopInterrupted: an interrupt ends top, and is no error.
func TestTopInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there")
	}
	s := served.Start(t, embedded.Config{Listen: "127.0.0.1:0"})
	c, err := cluster.NewClient(t.Context(), s.Conn(), cluster.ClientConfig{Queue: cluster.Queue{Name: "q"}})
	require.NoError(t, err)
	c.Close()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "top", "-nats", s.URL(), "-queue", "q", "-every", "1ms")
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	pages := bufio.NewScanner(stdout)
	for pages.Scan() && !strings.Contains(pages.Text(), "partitions wait") {
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	for pages.Scan() {
		require.NotContains(t, pages.Text(), "canceled")
	}
	require.NoError(t, cmd.Wait(), stderr.String())
	require.Empty(t, stderr.String())
}

// TestRefusals: what cannot be shown is an error that says why.
func TestRefusals(t *testing.T) {
	for text, args := range map[string][]string{
		"there is no command":        {"burn"},
		"there may be 1 or 3":        {"-servers", "2"},
		"must be positive":           {"-tasks", "0"},
		"is not as worker=2s":        {"-kill", "worker"},
		"may be killed":              {"-kill", "queue=2s"},
		"is not a flag":              {"-sleep", "burn"},
		"-servers is for servers":    {"-nats", "nats://127.0.0.1:1", "-servers", "3"},
		"-ca is for a server that":   {"-nats", "", "-ca", "file"},
		"-local has none":            {"-local", "-kill", "worker=1s"},
		"not started by this progr":  {"-nats", "nats://127.0.0.1:1", "-kill", "server=1s"},
		"connect to nats://127.0.0.": {"top", "-nats", "nats://127.0.0.1:1"},
	} {
		require.ErrorContains(t, command(t.Context(), args, io.Discard), text)
	}
	t.Setenv("NATS_URL", "")
	require.ErrorContains(t, command(t.Context(), []string{"top"}, io.Discard), "set NATS_URL, or -nats")
}

// TestStatus: wrong arguments have a status of their own, which wsbench knows.
func TestStatus(t *testing.T) {
	for _, args := range [][]string{{"burn"}, {"-tasks", "x"}, {"-cost", "-1s"}, {"top", "-every", "0s"}} {
		require.Equal(t, 2, status(command(t.Context(), append(args, "-nats", "nats://127.0.0.1:1"), io.Discard)), args)
	}
	require.Equal(t, 1, status(command(t.Context(), []string{"-nats", "nats://127.0.0.1:1"}, io.Discard)))
}

// TestHelp: help is no error, and says which commands and flags there are.
func TestHelp(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, command(t.Context(), []string{"help"}, &out))
	require.Contains(t, out.String(), "top ")
	require.ErrorIs(t, command(t.Context(), []string{"run", "-h"}, &out), flag.ErrHelp)
	require.ErrorIs(t, command(t.Context(), []string{"top", "-h"}, &out), flag.ErrHelp)
	require.Contains(t, out.String(), "-kill")
	require.Contains(t, out.String(), "-once")
}

// TestSecrets: a password in a URL is not printed.
func TestSecrets(t *testing.T) {
	err := command(t.Context(), []string{"top", "-nats", "nats://a:secret@127.0.0.1:1,nats://b:secret@127.0.0.1:1"},
		io.Discard)
	require.ErrorContains(t, err, "connect to nats://…@127.0.0.1:1,nats://…@127.0.0.1:1")
}

// TestServerThatEnds: a server that cannot run is an error that says why.
func TestServerThatEnds(t *testing.T) {
	t.Setenv("NATS_URL", "")
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	err := command(t.Context(), []string{"-dir", file}, io.Discard)
	require.ErrorContains(t, err, "server1 has ended: ")
	require.ErrorContains(t, err, "the store directory cannot be made")
}

// TestWorkload: the result of the graph is the one that is known before, and depends on the seed.
func TestWorkload(t *testing.T) {
	f := workload.New()
	a, b := f.Graph(100, 7, workload.Effort{}, 1), f.Graph(100, 7, workload.Effort{}, 2)
	for _, g := range []*workload.Graph{a, b} {
		res, err := cluster.Run(t.Context(), nil, f.Registry, g.Graph)
		require.NoError(t, err)
		right, err := g.IsRight(res)
		require.NoError(t, err)
		require.True(t, right)
	}
	res, err := cluster.Run(t.Context(), nil, f.Registry, a.Graph)
	require.NoError(t, err)
	_, err = b.IsRight(res)
	require.Error(t, err, "the results are those of another graph")
}
