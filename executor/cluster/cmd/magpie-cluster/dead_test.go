package main

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
)

// TestDead: dead letters are listed and removed.
func TestDead(t *testing.T) {
	s := served.Start(t, embedded.Config{Listen: "127.0.0.1:0"})
	t.Setenv("NATS_URL", s.URL())
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dead := func(args ...string) (string, error) {
		var out bytes.Buffer
		err := command(ctx, append([]string{"dead", "-queue", "q"}, args...), &out)
		return out.String(), err
	}
	_, err := dead()
	require.ErrorContains(t, err, `the server has no queue "q"`)

	nc, err := nats.Connect(s.URL())
	require.NoError(t, err)
	defer nc.Close()
	c, err := cluster.NewClient(ctx, nc, cluster.ClientConfig{Queue: cluster.Queue{Name: "q"}})
	require.NoError(t, err)
	defer c.Close()
	out, err := dead()
	require.NoError(t, err)
	require.Equal(t, "queue q has no dead letters\n", out)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	for _, data := range []string{
		"foreign", `{"v":1,"kind":"part","run":"r","part":3,"plan":"gone"}`,
		`{"v":1,"kind":"start","run":"r","plan":"gone","begin":{"name":"g"}}`,
	} {
		m := nats.NewMsg("magpie.q.dead")
		m.Data = []byte(data)
		m.Header.Set("Magpie-Why", "poison: it is")
		m.Header.Set("Magpie-Deliveries", "5")
		_, err := js.PublishMsg(ctx, m)
		require.NoError(t, err)
	}
	out, err = dead()
	require.NoError(t, err)
	require.Contains(t, out, "a message that cannot be read, delivered 5 times\n   poison: it is\n2  ")
	require.Contains(t, out, "  run r, partition 3, delivered 5 times\n   poison: it is\n3  ")
	require.Contains(t, out, "  run r of graph \"g\", its beginning, delivered 5 times\n")
	require.Contains(t, out, "submit the graph with another ID")

	out, err = dead("-remove", "2")
	require.NoError(t, err)
	require.Equal(t, "removed 2\n", out)
	_, err = dead("-remove", "2")
	require.ErrorIs(t, err, cluster.ErrNoLetter)
	_, err = dead("-remove", "x")
	require.ErrorContains(t, err, `-remove "x": it is for numbers as 3,7, or all`)
	require.Equal(t, 2, status(err))
	out, err = dead("-remove", "all")
	require.NoError(t, err)
	require.Equal(t, "removed 1\nremoved 3\n", out)
	out, err = dead()
	require.NoError(t, err)
	require.Equal(t, "queue q has no dead letters\n", out)
}

// TestAboutDead: what is known of a letter is said.
func TestAboutDead(t *testing.T) {
	l := cluster.DeadLetter{Run: "r", Graph: "g", Part: 3, Calls: 2, Call: "resize#4", Deliveries: 5}
	require.Equal(t, `run r of graph "g", partition 3: 2 calls from resize#4 on, delivered 5 times`, about(l))
}
