//go:build !modelcheck

package stalls

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A plant is a Host, and the system that its watch asks.
type plant struct {
	workers  []Worker
	queued   bool
	used     map[int64]time.Duration
	awake    map[int64]bool // the thread runs, or waits for a core
	unknown  bool           // the kernel does not tell
	gone     bool           // the threads have ended, and others have taken their places
	runnable uint64
	asleep   []int // workers that the host was told of
	double   bool  // it was told twice, or of the end before the begin
	looked   int
}

func (p *plant) Workers(list []Worker) []Worker { return append(list, p.workers...) }
func (p *plant) Queued() bool                   { return p.queued }
func (p *plant) Looked(time.Time)               { p.looked++ }

func (p *plant) Sleeps(worker int) {
	p.double = p.double || slices.Contains(p.asleep, worker)
	p.asleep = append(p.asleep, worker)
}

func (p *plant) Wakes(worker int) {
	i := slices.Index(p.asleep, worker)
	if p.double = p.double || i < 0; i >= 0 {
		p.asleep = slices.Delete(p.asleep, i, i+1)
	}
}

// newPlant has workers in tasks that sleep, with the threads 1, 2 and so on, and queued items.
func newPlant(t *testing.T, workers int) (*plant, *Watch) {
	p := &plant{queued: true, used: make(map[int64]time.Duration), awake: make(map[int64]bool)}
	for i := range workers {
		p.workers = append(p.workers, Worker{Thread: int64(i + 1), Doing: InTask})
	}
	old := system
	t.Cleanup(func() { system = old })
	system.tells = true
	system.used = func(w Worker) (time.Duration, bool) {
		if p.gone || w.Thread <= 0 {
			return 0, false
		}
		return p.used[w.Thread], true
	}
	system.asleep = func(thread int64) (asleep, known bool) {
		known = !p.unknown && !p.gone
		return known && !p.awake[thread], known
	}
	system.runnable = func() uint64 { return p.runnable }
	now := time.Unix(0, 0)
	system.now = func() time.Time { now = now.Add(period); return now }
	w := new(Watch)
	w.Init(p)
	w.on.Store(1) // as after wake, but no clock ticks
	return p, w
}

// looks looks n times, and returns of which workers the host knows then.
func (p *plant) looks(w *Watch, n int) []int {
	for range n {
		w.look()
	}
	return p.asleep
}

func TestFound(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*plant)
		looks  int
		found  []int
	}{
		{"one look tells nothing", func(*plant) {}, 1, nil},
		{"two looks", func(*plant) {}, 2, []int{0, 1}},
		{"nothing queued", func(p *plant) { p.queued = false }, 50, nil},
		{"one looks for an item", func(p *plant) { p.workers[1].Doing = Looking }, 50, nil},
		{"one sleeps until there is an item", func(p *plant) { p.workers[1].Doing = Idle }, 50, nil},
		{"one is in Blocking, or waits", func(p *plant) { p.workers[1].Doing = Away }, 50, []int{0}},
		{"one waits for a core", func(p *plant) { p.awake[1] = true }, 50, []int{1}},
		{"one has no thread", func(p *plant) { p.workers[0].Thread = 0 }, 50, []int{1}},
		{"goroutines wait for a P", func(p *plant) { p.runnable = 1 }, starved, nil},
		{"they wait for long", func(p *plant) { p.runnable = 1 }, starved + 1, []int{0, 1}},
		{"the threads have ended", func(p *plant) { p.gone = true }, starved, nil},
		{"they have ended long ago", func(p *plant) { p.gone = true }, starved + 1, []int{0, 1}},
		{"the kernel does not tell", func(p *plant) { p.unknown = true }, starved, nil},
		{"it does not for long", func(p *plant) { p.unknown = true }, starved + 1, []int{0, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, w := newPlant(t, 2)
			c.change(p)
			require.Equal(t, c.found, p.looks(w, c.looks))
		})
	}
}

// A thread that has run between the looks does not sleep for long, whatever the kernel says at the looks.
func TestBusyIsNotFound(t *testing.T) {
	p, w := newPlant(t, 2)
	for range 100 {
		p.used[1] += naps + 1
		require.NotContains(t, p.looks(w, 1), 0)
	}
	require.Equal(t, []int{1}, p.asleep)
}

// A task that wakes up now and then, to look at something, sleeps.
func TestNapping(t *testing.T) {
	p, w := newPlant(t, 2)
	p.awake[2] = true
	for range 10 {
		p.used[1] += naps
		p.used[2] += naps
		p.looks(w, 1)
	}
	require.Equal(t, []int{0}, p.asleep)
	require.False(t, p.double)
}

// A task that has gone on is forgotten at the next look, and found again when it sleeps again.
func TestGoesOn(t *testing.T) {
	for name, goOn := range map[string]func(*plant){
		"it runs":                   func(p *plant) { p.used[1]++; p.awake[1] = true },
		"it has run for long":       func(p *plant) { p.used[1] += period / 2 },
		"it calls Blocking":         func(p *plant) { p.workers[0].Doing = Away },
		"the worker has ended":      func(p *plant) { p.workers[0].Thread = 0 },
		"it is on another thread":   func(p *plant) { p.workers[0].Thread = 7 },
		"the worker looks for work": func(p *plant) { p.workers[0].Doing = Looking },
	} {
		t.Run(name, func(t *testing.T) {
			p, w := newPlant(t, 2)
			require.Equal(t, []int{0, 1}, p.looks(w, 2))
			goOn(p)
			require.Equal(t, []int{1}, p.looks(w, 1))
			p.workers[0], p.awake[1] = Worker{Thread: 1, Doing: InTask}, false
			require.Equal(t, []int{1, 0}, p.looks(w, 2))
			w.Close()
			require.Empty(t, p.asleep)
			require.False(t, p.double)
		})
	}
}

// A task that sleeps at each look, and has run a little in between, stays found.
func TestNaps(t *testing.T) {
	p, w := newPlant(t, 1)
	require.Equal(t, []int{0}, p.looks(w, 2))
	for range 10 {
		p.used[1] += period / 10
		require.Equal(t, []int{0}, p.looks(w, 1))
	}
}

// A process that may open no more files cannot ask whether a thread sleeps. A task that begins to sleep then, after it
// has computed for long, is found by its clock within a moment, stays found though it wakes up now and then, and is
// forgotten when it goes on. One that computes is not found.
func TestUnknown(t *testing.T) {
	p, w := newPlant(t, 2)
	p.unknown = true
	now, next := time.Unix(0, 0), period
	system.now = func() time.Time { return now }
	look := func(uses ...time.Duration) []int { // parts of the time in which the threads run
		for i, part := range uses {
			p.used[int64(i+1)] += next / part
		}
		now = now.Add(next)
		_, next = w.look()
		return p.asleep
	}
	const computes, naps, sleeps = 1, 10, time.Hour
	for next < longestPeriod {
		require.Empty(t, look(computes, computes))
	}
	begun := now
	for len(look(sleeps, computes)) == 0 {
		require.Less(t, now.Sub(begun), time.Second)
	}
	require.GreaterOrEqual(t, now.Sub(begun), starved*period)
	for range 2 * starved {
		require.Equal(t, []int{0}, look(naps, computes))
	}
	require.Empty(t, look(computes, computes))
	p.unknown, p.awake[2] = false, true
	look(sleeps, computes)
	require.Equal(t, []int{0}, look(sleeps, computes))
	p.unknown = true
	for range 2 * starved {
		require.Equal(t, []int{0}, look(sleeps, computes))
	}
	require.False(t, p.double)
}

// TestGoneThread: tasks that end on a thread that is taken for one that has ended are not found to sleep.
func TestGoneThread(t *testing.T) {
	p, w := newPlant(t, 1)
	p.gone = true
	for range 3 * starved {
		p.workers[0].Ended++
		require.Empty(t, p.looks(w, 1))
	}
	require.Equal(t, []int{0}, p.looks(w, starved+1))
	p.workers[0].Ended++
	require.Empty(t, p.looks(w, 1))
	require.False(t, p.double)
}

// The watch ends when no worker is awake, and seldom looks while nothing waits for them.
func TestWatchEnds(t *testing.T) {
	p, w := newPlant(t, 2)
	p.queued = false
	for range calmLooks - 1 {
		on, next := w.look()
		require.True(t, on)
		require.Equal(t, period, next)
	}
	on, next := w.look()
	require.True(t, on)
	require.Equal(t, longestPeriod, next)
	p.workers[0].Ended++
	_, next = w.look()
	require.Equal(t, longPeriod, next)
	p.queued = true
	on, next = w.look()
	require.True(t, on)
	require.Equal(t, period, next)
	for i := range p.workers {
		p.workers[i].Doing = []Doing{Idle, Away}[i]
	}
	on, _ = w.look()
	require.False(t, on)
	require.Zero(t, w.on.Load())
	require.Empty(t, p.asleep)
}

// Whatever happens, the host is told of each sleep once, and of its end once.
func TestRandomSleeps(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range testkit.Count(t, 200) {
		p, w := newPlant(t, 1+rng.IntN(4))
		for range 200 {
			i := rng.IntN(len(p.workers))
			switch thread := p.workers[i].Thread; rng.IntN(8) {
			case 0:
				p.used[thread]++
			case 1:
				p.awake[thread] = !p.awake[thread]
			case 2:
				p.workers[i].Doing = Doing(rng.IntN(4))
			case 3:
				p.queued = !p.queued
			case 4:
				p.runnable ^= 1
			case 5:
				p.workers[i].Thread = int64(i+1) * int64(rng.IntN(2))
			case 6:
				if len(p.workers) < 6 { // a spare
					p.workers = append(p.workers, Worker{Thread: int64(len(p.workers) + 1), Doing: InTask})
				}
			case 7:
				p.unknown = !p.unknown
			}
			w.on.Store(1)
			w.look()
			require.False(t, p.double)
			for _, worker := range p.asleep {
				require.Equal(t, InTask, p.workers[worker].Doing)
				require.NotZero(t, p.workers[worker].Thread)
			}
		}
		w.Close()
		require.Empty(t, p.asleep)
		require.False(t, p.double)
	}
}

// Tasks that are in Blocking for a moment while an item waits do not shorten the period: they have not begun to sleep
// in silence for long.
func TestPeriodOverBlocking(t *testing.T) {
	p, w := newPlant(t, 2)
	now := time.Unix(0, 0)
	system.now = func() time.Time { now = now.Add(period / 2); return now }
	for _, looks := range []bool{true, false} { // whether the clock ever finds a worker awake
		next := period
		for range 1000 {
			for i := range p.workers {
				p.used[int64(i+1)] += next
				p.awake[int64(i+1)] = true
				p.workers[i].Doing = InTask
				p.workers[i].Ended++
			}
			if looks {
				w.look()
			}
			for i := range p.workers {
				p.workers[i].Doing = Away
			}
			on, _ := w.look()
			require.False(t, on)
			w.on.Store(1)
			next = w.resume()
			now = now.Add(next)
		}
		require.Equal(t, longPeriod, next)
		w.pause()
		now = now.Add(2 * longPeriod)
		require.Equal(t, period, w.resume()) // longer than a period: the workers may have slept for want of an item
	}
}

// The host is told of each look, also of one that finds nobody awake.
func TestLooked(t *testing.T) {
	p, w := newPlant(t, 1)
	w.look()
	require.Equal(t, 1, p.looked)
	p.workers[0].Doing = Idle
	w.look()
	require.Equal(t, 2, p.looked)
	w.Close()
	w.look()
	require.Equal(t, 2, p.looked)
}

// A lateItem is a plant in which an item waits from the second look at the queues on.
type lateItem struct {
	*plant
	asked int
}

func (l *lateItem) Queued() bool { l.asked++; return l.asked > 1 }

// An item that is submitted just before the period may be long, by a thread that does not hurry the clock, is seen.
func TestSubmittedMeanwhile(t *testing.T) {
	for _, doing := range []Doing{InTask, Away} {
		p, w := newPlant(t, 1)
		p.workers[0].Doing = doing
		w.calm = calmLooks - 1
		w.Init(&lateItem{plant: p})
		_, next := w.look()
		require.Zero(t, w.slow.Load())
		require.True(t, doing == Away || next == period)
	}
}

// What a look takes for each of 16 workers that run. Their clocks are asked of the kernel.
func BenchmarkLook(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := &plant{queued: true, used: make(map[int64]time.Duration)}
	for range 16 {
		p.workers = append(p.workers, Worker{Thread: osthread.ID(), Doing: InTask})
	}
	w := new(Watch)
	w.Init(p)
	w.on.Store(1)
	for b.Loop() {
		w.look()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/16, "ns/worker")
}

// While all tasks compute the clock slows down, the more the longer they do. A task that begins to sleep is found soon
// after the next look, and one that sleeps already does not keep the clock from slowing down again.
func TestBusyPeriod(t *testing.T) {
	for name, c := range map[string]struct {
		part time.Duration // of a core that a task has: one of
		ends uint64        // tasks from each look to the next
		most time.Duration
	}{
		"with a core each":           {1, 0, longestPeriod},
		"on few cores":               {16, 0, longestPeriod},
		"with a core each, and ends": {1, 1, longPeriod},
		"on few cores, and ends":     {16, 1, longPeriod},
	} {
		t.Run(name, func(t *testing.T) {
			p, w := newPlant(t, 3)
			now := time.Unix(0, 0)
			system.now = func() time.Time { return now }
			next := period
			look := func(busy ...int64) {
				for _, thread := range busy {
					p.awake[thread] = true
					p.used[thread] += next / c.part
				}
				p.workers[2].Ended += c.ends
				now = now.Add(next)
				_, next = w.look()
			}
			slowsDown := func(busy ...int64) {
				for start := now; now.Sub(start) < 2*busyPart*longestPeriod; {
					calm := now.Sub(start)
					require.Equal(t, min(max(period, calm/busyPart), c.most), next, "after %v", calm)
					look(busy...)
				}
				require.Equal(t, c.most, next)
			}
			look(1, 2, 3)
			slowsDown(1, 2, 3)
			p.awake[1], p.used[1] = false, p.used[1]+next/2 // it has slept for half of the time
			look(2, 3)
			require.Empty(t, p.asleep)
			require.Equal(t, period, next)
			look(2, 3)
			require.Equal(t, []int{0}, p.asleep)
			slowsDown(2, 3)
			p.awake[2] = false // just after the look
			look(3)
			require.Equal(t, []int{0, 1}, p.asleep, "it has slept all the time")
			require.Equal(t, period, next)
			look(1, 2, 3)
			require.Empty(t, p.asleep)
		})
	}
}

// A pause is no time of computing: after it the clock ticks as at first, and what ran during it is not held against
// what a task may run and still sleep.
func TestPauses(t *testing.T) {
	computes := func(p *plant) {
		for i := range p.workers {
			p.used[int64(i+1)] += period
			p.awake[int64(i+1)] = true
		}
	}
	for name, pause := range map[string]func(p *plant, w *Watch, pass func(time.Duration)){
		"nothing queued": func(p *plant, w *Watch, pass func(time.Duration)) {
			p.queued = false
			for range 100 {
				w.look()
				pass(longPeriod)
			}
		},
		"nobody awake": func(p *plant, w *Watch, pass func(time.Duration)) {
			for i := range p.workers {
				p.workers[i].Doing = Idle
			}
			on, _ := w.look()
			require.False(t, on)
			pass(time.Hour)
			w.on.Store(1)
			require.Equal(t, period, w.resume())
			for i := range p.workers {
				p.workers[i].Doing = InTask
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, w := newPlant(t, 2)
			now := time.Unix(0, 0)
			system.now = func() time.Time { now = now.Add(period); return now }
			w.look()
			computes(p)
			w.look()
			pause(p, w, func(d time.Duration) { now = now.Add(d) })
			p.queued = true
			computes(p)
			_, next := w.look()
			require.Less(t, next, 2*period) // a pause is no time of computing
			require.Empty(t, p.asleep)
		})
	}
}
