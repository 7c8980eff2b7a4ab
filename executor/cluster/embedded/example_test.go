package embedded_test

import (
	"context"
	"fmt"
	"os"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
)

// A program is its own queue: server, worker and submitter are in one process. The server listens, so workers of other
// processes may help.
func ExampleStart() {
	dir, err := os.MkdirTemp("", "squares")
	if err == nil {
		defer os.RemoveAll(dir)
		err = squares(context.Background(), dir)
	}
	if err != nil {
		fmt.Println(err)
	}
	// Output: [0 1 4 9]
}

func squares(ctx context.Context, dir string) error {
	server, err := embedded.Start(ctx, embedded.Config{Dir: dir, Listen: "127.0.0.1:0"})
	if err != nil {
		return err
	}
	defer server.Close()
	nc, err := server.Connect()
	if err != nil {
		return err
	}
	defer nc.Close()

	reg := cluster.NewRegistry()
	square := cluster.Register(reg, "square", func(_ context.Context, n int) (int, error) { return n * n, nil })
	worker, err := cluster.NewWorker(ctx, nc, nil, reg, cluster.WorkerConfig{})
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
	g := cluster.NewGraph("squares")
	var calls []cluster.Call[int]
	for n := range 4 {
		calls = append(calls, square.Call(g, cluster.Value(n)).Cost(cluster.DefaultTarget))
	}
	results, err := client.Run(ctx, g)
	if err != nil {
		return err
	}
	all := make([]int, len(calls))
	for i, call := range calls {
		if all[i], err = call.Result(results); err != nil {
			return err
		}
	}
	fmt.Println(all)
	return nil
}
