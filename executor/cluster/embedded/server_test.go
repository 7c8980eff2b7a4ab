package embedded_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// start starts a server that is closed with the test.
func start(t *testing.T, c embedded.Config) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// streamOf opens the stream "s", and makes it if it is missing.
func streamOf(t *testing.T, nc *nats.Conn) (jetstream.JetStream, jetstream.Stream) {
	t.Helper()
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	st, err := js.CreateOrUpdateStream(t.Context(), jetstream.StreamConfig{Name: "s", Subjects: []string{"s.>"}})
	require.NoError(t, err)
	return js, st
}

// TestGoesOn: a server that is started on the directory of another goes on with its streams, whether this process alone
// or the loopback reaches it, and whether each write is synced or not.
func TestGoesOn(t *testing.T) {
	for name, c := range map[string]embedded.Config{
		"inside": {},
		"tcp":    {Listen: "127.0.0.1:0"},
		"synced": {SyncAlways: true},
	} {
		t.Run(name, func(t *testing.T) {
			c.Dir = filepath.Join(t.TempDir(), "store")
			for i := range uint64(2) {
				s, err := embedded.Start(t.Context(), c)
				require.NoError(t, err)
				require.Equal(t, c.Listen != "", s.URL() != "")
				nc, err := s.Connect()
				if c.Listen != "" {
					nc.Close()
					nc, err = nats.Connect(s.URL())
				}
				require.NoError(t, err)
				js, st := streamOf(t, nc)
				info, err := st.Info(t.Context())
				require.NoError(t, err)
				require.Equal(t, i, info.State.Msgs)
				_, err = js.Publish(t.Context(), "s.x", nil)
				require.NoError(t, err)
				nc.Close()
				s.Close()
			}
		})
	}
}

// TestRefusals: what cannot work is an error that says why, and leaves the directory free.
func TestRefusals(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	foreign := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(foreign, "letters.txt"), nil, 0o600))
	newer := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(newer, "magpie.lock"), []byte("magpie store 9\n"), 0o600))
	used := t.TempDir()
	start(t, embedded.Config{Dir: used})

	for name, tt := range map[string]struct {
		c   embedded.Config
		say string
	}{
		"no directory":     {embedded.Config{}, "needs a store directory"},
		"a file":           {embedded.Config{Dir: file}, "cannot be made"},
		"below a file":     {embedded.Config{Dir: filepath.Join(file, "x")}, "cannot be made"},
		"foreign":          {embedded.Config{Dir: foreign}, "is not a store directory of this package"},
		"newer":            {embedded.Config{Dir: newer}, "another version"},
		"used":             {embedded.Config{Dir: used}, "another server uses the store directory"},
		"not the loopback": {embedded.Config{Dir: t.TempDir(), Listen: "0.0.0.0:0"}, "not of the loopback"},
		"no port":          {embedded.Config{Dir: t.TempDir(), Listen: "127.0.0.1"}, "missing port"},
		"a bad port":       {embedded.Config{Dir: t.TempDir(), Listen: "127.0.0.1:99999"}, "the port is not"},
		"cluster alone":    {embedded.Config{Dir: t.TempDir(), Cluster: &embedded.Cluster{}}, "needs Config.Listen"},
		"no name": {embedded.Config{Dir: t.TempDir(), Listen: "127.0.0.1:0", Cluster: &embedded.Cluster{}},
			"needs a name"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := embedded.Start(t.Context(), tt.c)
			require.ErrorContains(t, err, tt.say)
			require.Nil(t, s)
		})
	}
}

// TestPortTaken: a port that another server has is an error, and the directory is free afterwards.
func TestPortTaken(t *testing.T) {
	first := start(t, embedded.Config{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	dir := t.TempDir()
	_, err := embedded.Start(t.Context(), embedded.Config{Dir: dir, Listen: strings.TrimPrefix(first.URL(), "nats://")})
	require.ErrorContains(t, err, "address already in use")
	start(t, embedded.Config{Dir: dir})
}

// TestBrokenStore: a stream that cannot be read back is an error, where the server itself would go on without it.
func TestBrokenStore(t *testing.T) {
	dir := t.TempDir()
	s, err := embedded.Start(t.Context(), embedded.Config{Dir: dir})
	require.NoError(t, err)
	nc, err := s.Connect()
	require.NoError(t, err)
	streamOf(t, nc)
	nc.Close()
	s.Close()

	metas, err := filepath.Glob(filepath.Join(dir, "jetstream", "$G", "streams", "s", "meta.inf"))
	require.NoError(t, err)
	require.Len(t, metas, 1)
	require.NoError(t, os.Truncate(metas[0], 10))
	_, err = embedded.Start(t.Context(), embedded.Config{Dir: dir})
	require.ErrorContains(t, err, "cannot be read back in full")
}

// TestHalfConsumer: a server that was killed while it made a consumer starts, and the consumer can be made again.
func TestHalfConsumer(t *testing.T) {
	dir := t.TempDir()
	s, err := embedded.Start(t.Context(), embedded.Config{Dir: dir})
	require.NoError(t, err)
	nc, err := s.Connect()
	require.NoError(t, err)
	js, st := streamOf(t, nc)
	_, err = js.Publish(t.Context(), "s.x", []byte("message"))
	require.NoError(t, err)
	config := jetstream.ConsumerConfig{Durable: "c", AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Second}
	_, err = st.CreateConsumer(t.Context(), config)
	require.NoError(t, err)
	nc.Close()
	s.Close()

	for _, file := range []string{"meta.sum", "meta.inf"} {
		require.NoError(t, os.Remove(filepath.Join(dir, "jetstream", "$G", "streams", "s", "obs", "c", file)))
		s, err = embedded.Start(t.Context(), embedded.Config{Dir: dir})
		require.NoError(t, err)
		nc, err = s.Connect()
		require.NoError(t, err)
		_, st = streamOf(t, nc)
		_, err = st.Consumer(t.Context(), "c")
		require.ErrorIs(t, err, jetstream.ErrConsumerNotFound)
		c, err := st.CreateConsumer(t.Context(), config)
		require.NoError(t, err)
		m, err := c.Next()
		require.NoError(t, err)
		require.Equal(t, "message", string(m.Data()))
		nc.Close()
		s.Close()
	}
}

// TestStartEnds: a start ends with its context.
func TestStartEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if s, err := embedded.Start(ctx, embedded.Config{Dir: t.TempDir()}); err == nil {
			s.Close()
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("Start has not returned")
	}
}

// TestToken: a server with a token takes only clients that give it.
func TestToken(t *testing.T) {
	s := start(t, embedded.Config{Dir: t.TempDir(), Listen: "127.0.0.1:0", Token: "secret"})
	nc, err := s.Connect()
	require.NoError(t, err)
	nc.Close()
	for token, want := range map[string]error{"secret": nil, "": nats.ErrAuthorization, "other": nats.ErrAuthorization} {
		nc, err := nats.Connect(s.URL(), nats.Token(token))
		require.ErrorIs(t, err, want)
		if err == nil {
			nc.Close()
		}
	}
}

// TestTokenOfCluster: servers with a token find each other, and take no other server.
func TestTokenOfCluster(t *testing.T) {
	var routes []string
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		routes = append(routes, l.Addr().String())
		require.NoError(t, l.Close())
	}
	var servers []*embedded.Server
	for i, route := range routes {
		servers = append(servers, start(t, embedded.Config{
			Dir: t.TempDir(), Listen: "127.0.0.1:0", Token: "secret",
			Cluster: &embedded.Cluster{Server: fmt.Sprint("s", i), Listen: route, Routes: routes},
		}))
	}
	nc, err := nats.Connect(servers[0].URL(), nats.Token("secret"))
	require.NoError(t, err)
	defer nc.Close()
	require.Eventually(t, func() bool {
		return slices.Contains(nc.DiscoveredServers(), servers[1].URL())
	}, time.Minute, 5*time.Millisecond)

	c, err := net.Dial("tcp", routes[0])
	require.NoError(t, err)
	defer c.Close()
	hello, err := bufio.NewReader(c).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, hello, `"auth_required":true`)
}
