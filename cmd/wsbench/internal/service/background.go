package service

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
)

// A Background is a way to run the work beside the service. Others are further rows of the table.
type Background struct {
	Name, About string
	// OnLinux says that the background is for Linux only.
	OnLinux bool
	// Extra says that the background is measured only if it is asked for.
	Extra bool
	// start begins to run w's tasks. stop is called when w is stopped, and returns when the tasks have ended.
	start func(w *work) (stop func() error, err error)
}

// Backgrounds returns all backgrounds. Those that are Extra come last. They run tasks without end. All but errgroup
// have 16 that have been started and have not ended: the end of one starts another.
func Backgrounds() []*Background {
	return []*Background{
		{Name: None, About: "no work in the background", start: func(*work) (func() error, error) {
			return func() error { return nil }, nil
		}},
		{Name: "goroutines", About: "a goroutine for each task", start: startGoroutines},
		{Name: "errgroup", About: "goroutines, as many at once as GOMAXPROCS, as with errgroup.Group.SetLimit: " +
			"a channel is the semaphore", start: startLimited},
		magpie("magpie", "an executor with the zero Config", executor.Config{}),
		magpie("magpie-nice5", "an executor with Nice 5", executor.Config{Threads: host.Threads{Nice: 5}}),
		yielding(magpie("magpie-yield", "an executor with Nice 5, whose tasks call executor.Yield after each unit",
			executor.Config{Threads: host.Threads{Nice: 5}})),
		magpie("magpie-nice19", "an executor with Nice 19", executor.Config{Threads: host.Threads{Nice: 19}}),
		magpie("magpie-hostshare", "an executor with a QuotaShare of 0.25, for use with a quota",
			executor.Config{Host: host.Options{Share: host.QuotaShare(0.25)}}),
		magpie("magpie-plain", "an executor with KeepGOMAXPROCS", executor.Config{Host: host.Options{KeepGOMAXPROCS: true}}),
		extra(collecting(400, math.MaxInt64, magpie("magpie-gogc400",
			"an executor with Nice 5, in a process with GOGC=400", executor.Config{Threads: host.Threads{Nice: 5}}))),
		extra(collecting(-1, 1<<30, &Background{Name: "errgroup-limit",
			About: "errgroup in a process with GOGC=off and GOMEMLIMIT=1GiB", start: startLimited})),
		extra(collecting(-1, 1<<30, magpie("magpie-limit",
			"an executor with Nice 5, in a process with GOGC=off and GOMEMLIMIT=1GiB", executor.Config{
				Threads: host.Threads{Nice: 5},
			}))),
		extra(yielding(magpie("magpie-hostshare-yield", "an executor with a QuotaShare of 0.25 and Nice 5, whose tasks "+
			"call executor.Yield, for use with a quota", executor.Config{
			Host: host.Options{Share: host.QuotaShare(0.25)}, Threads: host.Threads{Nice: 5},
		}))),
		extra(magpie("magpie-one", "an executor with Nice 5 and one worker, so that cores are left to the service",
			executor.Config{Threads: host.Threads{Nice: 5}, Workers: 1})),
		extra(magpie("magpie-nice10", "an executor with Nice 10", executor.Config{Threads: host.Threads{Nice: 10}})),
		extra(magpie("magpie-batch", "an executor with ClassBatch", executor.Config{
			Threads: host.Threads{Class: host.ClassBatch},
		})),
		extra(magpie("magpie-idle", "an executor with ClassIdle", executor.Config{
			Threads: host.Threads{Class: host.ClassIdle},
		})),
		extra(magpie("magpie-short", "an executor with a Slice of 100µs",
			executor.Config{Threads: host.Threads{Slice: 100 * time.Microsecond}})),
		extra(magpie("magpie-long", "an executor with a Slice of 6ms", executor.Config{
			Threads: host.Threads{Slice: 6 * time.Millisecond},
		})),
	}
}

// None is the name of the background without work.
const None = "none"

// Usable reports whether this system has the background.
func (b *Background) Usable() bool { return !b.OnLinux || runtime.GOOS == "linux" }

func startGoroutines(w *work) (stop func() error, err error) {
	var all sync.WaitGroup
	var task func()
	task = func() {
		defer all.Done()
		if w.task() {
			all.Add(1)
			go task()
		}
	}
	all.Add(w.window)
	for range w.window {
		go task()
	}
	return func() error {
		all.Wait()
		return nil
	}, nil
}

// startLimited starts a goroutine for each task, as Go of an errgroup.Group with a limit does: the module does not
// depend on golang.org/x/sync.
func startLimited(w *work) (stop func() error, err error) {
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	all.Go(func() {
		for !w.stopped.Load() {
			free <- struct{}{}
			all.Go(func() {
				w.task()
				<-free
			})
		}
	})
	return func() error {
		all.Wait()
		return nil
	}, nil
}

// magpie returns the background of an executor.
func magpie(name, about string, cfg executor.Config) *Background {
	cfg.Name = "background"
	return &Background{
		Name: name, About: about,
		OnLinux: cfg.Threads.Nice != 0 || cfg.Threads.Class != host.ClassNormal || cfg.Threads.Slice != 0,
		start: func(w *work) (stop func() error, err error) {
			ex, err := executor.New(cfg)
			if err != nil {
				return nil, err
			}
			return startAsync(w, ex), nil
		},
	}
}

// extra makes a background one that is measured only if it is asked for.
func extra(b *Background) *Background {
	b.Extra = true
	return b
}

// collecting makes a background one whose process has that GOGC, and that GOMEMLIMIT in bytes: with a larger GOGC the
// garbage collector runs less often, and the heap grows to a multiple of what is live. A negative GOGC is off: then the
// heap always grows to the limit.
func collecting(percent int, limit int64, b *Background) *Background {
	start := b.start
	b.start = func(w *work) (stop func() error, err error) {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
		return start(w)
	}
	return b
}

// yielding makes the tasks of a background of an executor let others go first after each unit.
func yielding(b *Background) *Background {
	start := b.start
	b.start = func(w *work) (stop func() error, err error) {
		w.pause = func() { _ = executor.Yield(context.Background()) } // the context does not end
		return start(w)
	}
	return b
}

func startAsync(w *work, ex *executor.Executor) (stop func() error) {
	var all sync.WaitGroup
	var start func()
	task := func(context.Context) (struct{}, error) {
		defer all.Done()
		if w.task() {
			start()
		}
		return struct{}{}, nil
	}
	start = func() {
		all.Add(1)
		executor.Async(context.Background(), ex, task)
	}
	for range w.window {
		start()
	}
	return func() error {
		all.Wait()
		return ex.Close()
	}
}
