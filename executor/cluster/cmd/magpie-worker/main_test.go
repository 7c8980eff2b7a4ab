package main

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
)

// TestWorker: the program runs what another submits with the same functions, shows what it does, and ends with its
// context.
func TestWorker(t *testing.T) {
	s := served.Start(t, embedded.Config{Listen: "127.0.0.1:0"})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	var said lines
	log.SetOutput(&said)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	go func() { ended <- run(ctx, []string{"-nats", s.URL(), "-queue", "words", "-http", "127.0.0.1:0"}) }()

	reg := cluster.NewRegistry()
	words := cluster.Register(reg, "words", func(context.Context, string) (map[string]int, error) { return nil, nil })
	merge := cluster.RegisterAll(reg, "merge", func(context.Context, []map[string]int) (map[string]int, error) {
		return nil, nil
	})
	g := cluster.NewGraph("words")
	all := merge.Call(g, words.Call(g, cluster.Value("a rose is a rose")), words.Call(g, cluster.Value("A tree")))

	nc, err := nats.Connect(s.URL())
	require.NoError(t, err)
	defer nc.Close()
	wait, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	c, err := cluster.NewClient(wait, nc, cluster.ClientConfig{Queue: cluster.Queue{Name: "words"}, Patient: true})
	require.NoError(t, err)
	defer c.Close()
	res, err := c.Run(wait, g)
	require.NoError(t, err)
	got, err := all.Result(res)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"a": 3, "rose": 2, "is": 1, "tree": 1}, got)

	at := regexp.MustCompile(`http://[0-9.:]+`).FindString(said.String())
	for page, text := range map[string]string{
		"/metrics":       `magpie_worker_partitions_done_total{worker="`,
		"/debug/magpie/": "dump",
		"/debug/vars":    `"magpie_worker_partition_run_seconds":{`,
	} {
		require.Contains(t, get(t, at+page), text)
	}
	require.NotContains(t, get(t, at+"/debug/vars"), `"cmdline"`, "arguments may have passwords")
	cancel()
	require.NoError(t, <-ended)
	_, err = http.Get(at)
	require.Error(t, err, "the pages end with the worker")
}

// get returns a page.
func get(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url)
	require.NoError(t, err)
	defer r.Body.Close()
	require.Equal(t, http.StatusOK, r.StatusCode)
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(text)
}

// lines are what a log has got. Any thread.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestWaits: without a server the program says so, without the password, and an interrupt ends it.
func TestWaits(t *testing.T) {
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	for _, url := range []string{"nats://a:secret@127.0.0.1:1", "a:secret@127.0.0.1:1"} {
		var said lines
		log.SetOutput(&said)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- run(ctx, []string{"-nats", url}) }()
		const want = "connect to nats://…@127.0.0.1:1: "
		require.Eventually(t, func() bool { return strings.Contains(said.String(), want) }, time.Minute, time.Millisecond)
		cancel()
		require.NoError(t, <-ended)
		require.Contains(t, said.String(), "the next try is in 5s")
		require.NotContains(t, said.String(), "secret")
	}
}

// TestRefusals: what cannot work is an error that says why.
func TestRefusals(t *testing.T) {
	t.Setenv("NATS_URL", "")
	require.ErrorContains(t, run(t.Context(), nil), "set NATS_URL, or -nats")
	require.ErrorContains(t, run(t.Context(), []string{"-nats", "nats://127.0.0.1:1", "-creds", "none"}), "none")
	require.ErrorContains(t, run(t.Context(), []string{"-nats", "nats://127.0.0.1:1", "words"}),
		`"words" is not a flag (-h lists the flags)`)
	err := run(t.Context(), []string{"-grace", "x"})
	require.ErrorContains(t, err, "for flag -grace: parse error (-h lists the flags)")
	err = run(t.Context(), []string{"-nats", "nats://127.0.0.1:1", "-ca", filepath.Join(t.TempDir(), "none")})
	require.ErrorIs(t, err, os.ErrNotExist)
	at, ca := served.Secure(t, "../../setup")
	err = run(t.Context(), []string{"-nats", "tls://albums:wrong@" + at, "-ca", ca})
	require.ErrorContains(t, err, "connect to tls://…@"+at+": ")
	s := served.Start(t, embedded.Config{Listen: "127.0.0.1:0"})
	err = run(t.Context(), []string{"-nats", s.URL(), "-http", "127.0.0.1:none"})
	require.ErrorContains(t, err, "-http: ")
}

// TestWrongPassword: a server that refuses the user is an error that says which flags have the password, and not what
// it was.
func TestWrongPassword(t *testing.T) {
	s := served.Other(t, &server.Options{JetStream: true, Host: "127.0.0.1", AuthTimeout: 60,
		Users: []*server.User{{Username: "magpie", Password: "right"}}})
	for _, user := range []string{"", "magpie:wrong@", "nobody:right@"} {
		t.Setenv("NATS_URL", "nats://"+user+s.Addr().String())
		err := run(t.Context(), nil)
		require.ErrorIs(t, err, nats.ErrAuthorization)
		require.ErrorContains(t, err, "-nats, or NATS_URL, must have the password, as in nats://USER:PASSWORD@HOST")
		require.ErrorContains(t, err, "-creds must name a file")
		require.NotContains(t, err.Error(), "wrong@")
	}
}
