package executor_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
)

// A long task lets request handlers go first between two blocks of its work, and ends early when its run is cancelled.
func ExampleYield() {
	ex, err := executor.New(executor.Config{
		Workers: 2, Threads: host.Threads{Class: host.ClassBatch, BestEffort: true},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	digest := func(blocks int) executor.Job {
		return executor.NewJob("digest", func(s *executor.Scope) error {
			h, block := sha256.New(), make([]byte, 4096)
			for range blocks {
				if err := executor.Yield(s.Context()); err != nil {
					return err
				}
				h.Write(block)
			}
			fmt.Printf("%x\n", h.Sum(nil)[:4])
			return nil
		})
	}
	fmt.Println(ex.Run(context.Background(), digest(1000)))

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	fmt.Println(ex.Run(ctx, digest(1<<30)))
	// Output:
	// 830497ac
	// <nil>
	// run of "digest": context deadline exceeded
}
