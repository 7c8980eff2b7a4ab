package executor_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

// Make an executor, run a graph on it, close it.
func Example() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	var sum atomic.Int64
	g := graph.New("sum")
	report := g.Task(func(context.Context) error {
		fmt.Println("sum:", sum.Load())
		return nil
	})
	for i := range 100 {
		report.Succeed(g.Task(func(context.Context) error {
			sum.Add(int64(i))
			return nil
		}))
	}
	if err := ex.Run(context.Background(), g); err != nil {
		log.Fatal(err)
	}
	// Output: sum: 4950
}

// A service does heavy work beside its handlers. GOMAXPROCS is raised, so a busy worker never keeps a handler's
// goroutine waiting for a P.
func Example_service() {
	ex, err := executor.New(executor.Config{Name: "thumbnails"})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Work for this request: cancelled with it, off the handler's P.
		g := graph.New("thumbnail")
		var size int
		g.Task(func(ctx context.Context) error {
			size = len(r.URL.Query().Get("image"))
			return ctx.Err()
		})
		if err := ex.Run(r.Context(), g); err != nil {
			log.Printf("%+v", err) // with the stack, if a task has panicked
			http.Error(w, "no thumbnail", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "scaled", size, "bytes")
	}))
	defer server.Close()

	answer, err := http.Get(server.URL + "?image=magpie")
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	fmt.Print(string(text))
	// Output: scaled 6 bytes
}

// A task may start runs on its own executor and wait for them, also with one worker only: the worker runs them itself.
func Example_nested() {
	ex, err := executor.New(executor.Config{Workers: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	inner := graph.New("inner")
	inner.Task(func(context.Context) error { fmt.Println("inner"); return nil })
	outer := graph.New("outer")
	outer.Task(func(ctx context.Context) error {
		if err := ex.Run(ctx, inner); err != nil {
			return err
		}
		fmt.Println("outer")
		return nil
	})
	if err := ex.Run(context.Background(), outer); err != nil {
		log.Fatal(err)
	}
	// Output:
	// inner
	// outer
}

// A run that was started can be cancelled, with a cause that its tasks and its error tell.
func ExampleRun_Cancel() {
	ex, err := executor.New(executor.Config{Workers: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	g := graph.New("endless")
	g.Task(func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	})
	r := ex.Start(context.Background(), g)
	r.Cancel(errors.New("no longer needed"))
	fmt.Println(r.Wait())
	// Output: run of "endless": context canceled: no longer needed
}

// A graph that is run until its result is good enough.
func ExampleUntil() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	root := 2.0 // of 2, by Newton's method
	g := graph.New("newton")
	g.Task(func(context.Context) error { root = (root + 2/root) / 2; return nil })
	err = ex.Run(context.Background(), executor.Until(g, func() bool { return root*root-2 < 1e-9 }))
	fmt.Printf("%.6f %v\n", root, err)
	// Output: 1.414214 <nil>
}

// A graph that is run three times.
func ExampleTimes() {
	ex, err := executor.New(executor.Config{Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()

	runs := 0
	g := graph.New("g")
	g.Task(func(context.Context) error { runs++; return nil })
	fmt.Println(ex.Run(context.Background(), executor.Times(g, 3)), runs)
	// Output: <nil> 3
}

// countdown is a layer of its own: one item that runs n times.
type countdown struct {
	executor.Item
	body executor.Body
	n    int
	left atomic.Int64 // the item, and the workers between Enter and Leave: at 0 the run is over
}

func (c *countdown) Name() string { return "countdown" }

// Begin makes the countdown ready for a run and hands its item to the executor.
func (c *countdown) Begin(*executor.JobRun) (*executor.Item, error) {
	c.body.Init(c)
	c.Item = executor.Item{Body: &c.body, Exec: c.step}
	c.left.Store(1)
	return &c.Item, nil
}

func (c *countdown) step(_ *executor.Worker, self *executor.Item) *executor.Item {
	if c.body.Stopped() || c.n == 0 {
		c.count(-1)
		return nil
	}
	fmt.Println(c.n)
	c.n--
	return self // next on this worker, unless others wait
}

func (c *countdown) count(d int64) {
	if c.left.Add(d) == 0 {
		c.body.Run().Finish(nil)
	}
}

func (c *countdown) Enter(*executor.Worker) { c.count(+1) }
func (c *countdown) Leave(*executor.Worker) { c.count(-1) }
func (c *countdown) Flush(*executor.Worker) {}
func (c *countdown) Release()               {}

func (c *countdown) Fail(_ *executor.Worker, _ *executor.Item, err error) *executor.Item {
	c.body.Run().Abort(err)
	c.count(-1)
	return nil
}

// Items and a job of one's own, without package graph.
func ExampleItem() {
	ex, err := executor.New(executor.Config{Workers: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	if err := ex.Run(context.Background(), &countdown{n: 3}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 3
	// 2
	// 1
}

// A group takes the place of an errgroup: only the line that makes it changes.
func ExampleGroup() {
	ex, err := executor.New(executor.Config{})
	if err != nil {
		panic(err)
	}
	defer ex.Close()

	g, ctx := executor.GroupWithContext(context.Background(), ex)
	g.SetLimit(4)
	squares := make([]int, 10)
	for i := range squares {
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			squares[i] = i * i
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		panic(err)
	}
	fmt.Println(squares)
	// Output: [0 1 4 9 16 25 36 49 64 81]
}

// A service that is told to end gives its work a while, and cancels what is left.
func ExampleExecutor_Shutdown() {
	ex, err := executor.New(executor.Config{Workers: 1})
	if err != nil {
		panic(err)
	}
	endless := ex.Start(context.Background(), executor.NewJob("endless", func(s *executor.Scope) error {
		<-s.Context().Done()
		return nil
	}))

	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	fmt.Println(ex.Shutdown(ctx))
	fmt.Println(errors.Is(endless.Wait(), executor.ErrShutdown))
	// Output:
	// executor: shut down before all work was done: context deadline exceeded
	// true
}

// A server refuses requests for which there is no room.
func ExampleExecutor_TryStart() {
	ex, err := executor.New(executor.Config{Workers: 1, MaxRuns: 1})
	if err != nil {
		panic(err)
	}
	defer ex.Close()

	end := make(chan struct{})
	job := executor.NewJob("request", func(*executor.Scope) error { <-end; return nil })
	first, err := ex.TryStart(context.Background(), job)
	fmt.Println(err)
	_, err = ex.TryStart(context.Background(), job)
	fmt.Println(errors.Is(err, executor.ErrBusy))
	close(end)
	fmt.Println(first.Wait())
	// Output:
	// <nil>
	// true
	// <nil>
}
