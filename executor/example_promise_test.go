package executor_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/magpie-go/magpie/executor"
)

// A client calls back with the reply. No worker and no goroutine waits for it.
func ExamplePromise() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	send := func(ctx context.Context, request string, callback func(reply string, err error)) {
		time.AfterFunc(time.Millisecond, func() { callback("reply to "+request, ctx.Err()) })
	}
	ctx := context.Background()
	p := executor.NewPromise[string](ctx, ex)
	send(p.Context(), "question", func(reply string, err error) { p.Complete(reply, err) })
	length := executor.Async(ctx, ex, func(context.Context) (int, error) {
		reply, _ := p.Future().Wait() // has ended, and well
		return len(reply), nil
	}, p.Future())
	fmt.Println(length.Wait())
	// Output: 17 <nil>
}

// A future comes after the end of a context.
func ExampleNewPromise() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	session, leave := context.WithCancelCause(context.Background())
	left := executor.NewPromise[error](context.Background(), ex)
	context.AfterFunc(session, func() { left.Resolve(context.Cause(session)) })
	report := executor.Async(context.Background(), ex, func(context.Context) (string, error) {
		why, _ := left.Future().Wait()
		return fmt.Sprint("the session is over: ", why), nil
	}, left.Future())
	leave(errors.New("the user has left"))
	fmt.Println(report.Wait())
	// Output: the session is over: the user has left <nil>
}

// A request is made again some time after it has failed. No worker waits in between.
func ExampleTimer() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	ctx := context.Background()
	later := executor.Timer(ctx, ex, 5*time.Millisecond)
	again := executor.Async(ctx, ex, func(context.Context) (string, error) { return "the second reply", nil }, later)
	fmt.Println(again.Wait())
	// Output: the second reply <nil>
}

// A run of one executor begins after a run of another.
func ExampleRun_OnEnd() {
	disks, err := executor.New(executor.Config{Workers: 1, Name: "disks"})
	if err != nil {
		log.Fatal(err)
	}
	defer disks.Close()
	sums, err := executor.New(executor.Config{Workers: 1, Name: "sums"})
	if err != nil {
		log.Fatal(err)
	}
	defer sums.Close()

	ctx := context.Background()
	var numbers []int
	read := disks.Start(ctx, executor.NewJob("read", func(*executor.Scope) error {
		numbers = append(numbers, 1, 2, 3)
		return nil
	}))
	over := make(chan *executor.Run, 1)
	read.OnEnd(func(err error) {
		if err != nil {
			log.Fatal(err)
		}
		over <- sums.Start(ctx, executor.NewJob("sum", func(*executor.Scope) error {
			fmt.Println(numbers[0] + numbers[1] + numbers[2])
			return nil
		}))
	})
	fmt.Println((<-over).Wait())

	// The same with a future, which comes after runs of any executor.
	first := executor.Async(ctx, sums, func(context.Context) (int, error) { return numbers[0], nil }, read)
	fmt.Println(first.Wait())
	// Output:
	// 6
	// <nil>
	// 1 <nil>
}
