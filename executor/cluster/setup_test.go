package cluster_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
	"github.com/magpie-go/magpie/internal/testkit"
)

// TestSetup: the servers of setup take only connections with TLS, have sync_interval: always, and know each other.
func TestSetup(t *testing.T) {
	cert, key := served.Certificate(t)
	for name, value := range map[string]string{
		"NAME": "server1", "LISTEN": "127.0.0.1:0", "STORE": t.TempDir(), "CERT": cert, "KEY": key, "CA": cert,
		"ALBUMS_PASSWORD": "secret", "OWNER_PASSWORD": "secret", "REPORTS_PASSWORD": "secret",
		"ROUTE_LISTEN": "127.0.0.1:0",
		"ROUTE1":       "nats://127.0.0.1:1", "ROUTE2": "nats://127.0.0.1:2", "ROUTE3": "nats://127.0.0.1:3",
	} {
		t.Setenv(name, value)
	}
	for file, routes := range map[string]int{"one.conf": 0, "three.conf": 3} {
		opts, err := server.ProcessConfigFile(filepath.Join("setup", file))
		require.NoError(t, err)
		require.NotNil(t, opts.TLSConfig, file)
		require.True(t, opts.SyncAlways, file)
		require.Len(t, opts.Accounts, 2, file)
		require.Len(t, opts.Routes, routes)
		require.Equal(t, routes > 0, opts.Cluster.TLSConfig != nil, file)
	}
}

// accounts starts a server with the accounts of setup/accounts.conf.
func accounts(t *testing.T) *server.Server {
	t.Helper()
	for _, name := range []string{"ALBUMS_PASSWORD", "OWNER_PASSWORD", "REPORTS_PASSWORD"} {
		t.Setenv(name, "secret")
	}
	opts, err := server.ProcessConfigFile(filepath.Join("setup", "accounts.conf"))
	require.NoError(t, err)
	opts.JetStream = true
	opts.AuthTimeout = patience.Seconds()
	return served.Other(t, opts)
}

// logIn connects a user of setup/accounts.conf.
func logIn(t *testing.T, s *server.Server, user string, opts ...nats.Option) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect("", append(opts, nats.InProcessServer(s), nats.UserInfo(user, "secret"),
		nats.Timeout(patience))...)
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	return nc
}

// TestAccounts: users of setup/accounts.conf run graphs on their own queues, with no word of the server that they may
// not do something, and neither read nor write other queues.
func TestAccounts(t *testing.T) {
	s := accounts(t)
	for user, prefix := range map[string]string{"albums": "_INBOX", "reports": "_INBOX_reports"} {
		violated := make(chan error, 100)
		connect := func() *nats.Conn {
			return logIn(t, s, user, nats.CustomInboxPrefix(prefix),
				nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { violated <- err }))
		}
		own := cluster.Queue{Name: user, Keep: time.Hour, Lease: time.Minute}
		f := newFunctions()
		stop := work(t, connect(), newExecutor(t), f.reg, cluster.WorkerConfig{Queue: own})
		c, err := cluster.NewClient(within(t), connect(), cluster.ClientConfig{
			Queue: own, Patient: true, Target: cluster.DefaultTarget})
		require.NoError(t, err)
		g := cluster.NewGraph("g")
		var all []cluster.Arg[int]
		for range 40 {
			all = append(all, f.double.Call(g, f.one.Call(g).Cost(time.Second)).Cost(time.Second))
		}
		sum := f.sum.Call(g, all...)
		h, err := c.Submit(within(t), g, cluster.Submission{ID: "run"})
		require.NoError(t, err)
		res, err := h.Wait(within(t))
		require.NoError(t, err)
		got, err := sum.Result(res)
		require.NoError(t, err)
		require.Equal(t, 80, got)
		_, err = c.Backlog(within(t))
		require.NoError(t, err)
		_, err = h.Progress(within(t))
		require.NoError(t, err)
		_, err = c.Runs(within(t))
		require.NoError(t, err)
		_, err = h.Resume(within(t))
		require.NoError(t, err)
		require.NoError(t, h.Cancel(within(t), nil))
		js, err := jetstream.New(connect())
		require.NoError(t, err)
		_, err = js.Publish(within(t), "magpie."+user+".dead", nil)
		require.NoError(t, err)
		require.Len(t, letters(t, c), 1)
		require.NoError(t, c.RemoveDeadLetter(within(t), 1))
		c.Close()
		stop()
		require.Empty(t, violated)
	}

	owner, err := cluster.NewClient(within(t), logIn(t, s, "owner"), cluster.ClientConfig{
		Queue: cluster.Queue{Name: "reports"}})
	require.NoError(t, err)
	defer owner.Close()
	_, err = owner.Attach(within(t), "run")
	require.NoError(t, err, "of the same account")

	albums, err := cluster.NewClient(within(t), logIn(t, s, "albums"), cluster.ClientConfig{
		Queue: cluster.Queue{Name: "reports"}})
	require.NoError(t, err)
	defer albums.Close()
	_, err = albums.Attach(within(t), "run")
	require.ErrorIs(t, err, cluster.ErrUnknownRun, "of another account")

	require.NoError(t, other(within(t), logIn(t, s, "owner")))
	reports := logIn(t, s, "reports", nats.CustomInboxPrefix("_INBOX_reports"))
	testkit.Fits(t, func() string { // a busy server may not have told the connection within the time
		short, cancel := context.WithTimeout(t.Context(), 2*time.Second) // it does not answer what may not be done
		defer cancel()
		err := other(short, reports)
		require.Error(t, err)
		if !strings.Contains(err.Error(), "the user of the connection may not do this") {
			return err.Error()
		}
		return ""
	})
	refused(t, logIn(t, s, "reports", nats.CustomInboxPrefix("_INBOX_reports")))
}

// other opens a queue that is not that of the user.
func other(ctx context.Context, nc *nats.Conn) error {
	c, err := cluster.NewClient(ctx, nc, cluster.ClientConfig{Queue: cluster.Queue{Name: "other"}})
	if err == nil {
		c.Close()
	}
	return err
}

// refused tries to read and write the queue "other", and to read the answers to other clients.
func refused(t *testing.T, nc *nats.Conn) {
	t.Helper()
	for _, subject := range []string{
		"$JS.API.STREAM.MSG.GET.KV_magpie-other", "$JS.API.DIRECT.GET.KV_magpie-other",
		"$JS.API.STREAM.INFO.KV_magpie-other", "$JS.API.STREAM.DELETE.KV_magpie-other",
		"$JS.API.CONSUMER.CREATE.KV_magpie-other.x", "$JS.API.CONSUMER.MSG.NEXT.magpie-work-other.x",
		"$JS.API.STREAM.UPDATE.KV_magpie-reports", "$JS.API.STREAM.DELETE.KV_magpie-reports",
		"magpie.other.work.x", "$KV.magpie-other.r.x.state",
	} {
		require.NoError(t, nc.Publish(subject, nil))
		require.NoError(t, nc.FlushTimeout(patience))
		require.ErrorContains(t, nc.LastError(), `Publish to "`+subject+`"`)
	}
	for _, subject := range []string{"_INBOX.>", ">", "$KV.magpie-other.>", "$JS.ACK.>"} {
		_, err := nc.SubscribeSync(subject)
		require.NoError(t, err)
		require.NoError(t, nc.FlushTimeout(patience))
		require.ErrorContains(t, nc.LastError(), `Subscription to "`+subject+`"`)
	}
}
