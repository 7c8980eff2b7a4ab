package cluster_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
)

// withQueue calls f with a client of a queue that has one worker. A real worker is a program of its own.
func withQueue(reg *cluster.Registry, f func(ctx context.Context, c *cluster.Client) error) error {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "queue")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	server, err := embedded.Start(ctx, embedded.Config{Dir: dir})
	if err != nil {
		return err
	}
	defer server.Close()
	nc, err := server.Connect()
	if err != nil {
		return err
	}
	defer nc.Close()
	worker, err := cluster.NewWorker(ctx, nc, nil, reg, cluster.WorkerConfig{Name: "worker-1"})
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(working) }()
	defer func() { stop(); <-ended }()
	client, err := cluster.NewClient(ctx, nc, cluster.ClientConfig{Patient: true})
	if err != nil {
		return err
	}
	defer client.Close()
	return f(ctx, client)
}

// A program shows how far a run is, and ends with it.
func ExampleHandle_Watch() {
	reg := cluster.NewRegistry()
	square := cluster.Register(reg, "square", func(_ context.Context, n int) (int, error) { return n * n, nil })
	g := cluster.NewGraph("squares")
	for n := range 4 {
		square.Call(g, cluster.Value(n)).Cost(time.Minute)
	}
	err := withQueue(reg, func(ctx context.Context, c *cluster.Client) error {
		run, err := c.Submit(ctx, g, cluster.Submission{})
		if err != nil {
			return err
		}
		var last cluster.Progress
		for p, err := range run.Watch(ctx, 100*time.Millisecond) {
			if err != nil {
				return err // or go on: a server may be away for a while
			}
			last = p // a real program draws a bar, and says what p.Running has
		}
		fmt.Println(last.Done, "of", last.Parts)
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 4 of 4
}

// A request has a trace, and the calls of the graph that it submits are of the same one, on any machine.
func ExampleWithTrace() {
	reg := cluster.NewRegistry()
	resize := cluster.Register(reg, "resize", func(ctx context.Context, name string) (string, error) {
		parent, _ := cluster.TraceFrom(ctx) // for requests that the function makes
		return name + " in " + parent, nil
	})
	handle := func(c *cluster.Client, r *http.Request) error {
		ctx := cluster.WithTrace(r.Context(), r.Header.Get("traceparent"), r.Header.Get("tracestate"))
		g := cluster.NewGraph("picture")
		resized := resize.Call(g, cluster.Value("sea.jpg"))
		results, err := c.Run(ctx, g)
		if err != nil {
			return err
		}
		fmt.Println(resized.Result(results))
		return nil
	}
	err := withQueue(reg, func(_ context.Context, c *cluster.Client) error {
		r := httptest.NewRequest("POST", "/pictures", nil)
		r.Header.Set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
		return handle(c, r)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: sea.jpg in 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 <nil>
}
