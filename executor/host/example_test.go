package host_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
)

// Two executors share the processors of the machine. While both have work, the one with the greater weight is allotted
// more, and each at least one. Without Path they share with other programs of the same user, too.
func ExampleShare() {
	table := filepath.Join(os.TempDir(), fmt.Sprintf("example-%d.gat", os.Getpid()))
	defer os.Remove(table)
	for i, name := range []string{"reports", "indexer"} {
		ex, err := executor.New(executor.Config{
			Name:    name,
			Workers: 2,
			Host:    host.Options{Share: &host.Share{Path: table, Weight: 1 + i, Minimum: 1}},
		})
		if err != nil {
			log.Fatal(err)
		}
		defer ex.Close()
		result, err := executor.Call(context.Background(), ex, func(s *executor.Scope, n int) int {
			f := executor.Fork(s, func(_ *executor.Scope, n int) int { return n * n }, n)
			return n + f.Join(s)
		}, 6)
		fmt.Println(name, result, err)
	}
	// Output:
	// reports 42 <nil>
	// indexer 42 <nil>
}
