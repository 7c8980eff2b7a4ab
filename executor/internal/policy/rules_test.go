package policy

import (
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A scene is a machine whose workers' attempts a test decides. It notes what they ask for. It implements Machine.
type scene struct {
	running  bool
	stopping bool
	work     bool // there is an item
	waiting  int  // workers that sleep
	notified,
	yields int
	actors []*actor
}

// An actor is a worker of a scene. It implements Host.
type actor struct {
	*scene
	id        int
	thief     Thief
	tries     int
	outcome   func(victim int) deque.Outcome
	next      int // the next victim
	slept     int
	only      bool // it tries to steal from worker 0 only
	leaves    bool
	pulls     int // every other is refused
	asked     [2]int
	preempted [2]bool
}

func newScene(kind, workers int, o Options) (*scene, Policy) {
	s := &scene{running: true}
	for i := range workers {
		s.actors = append(s.actors, &actor{scene: s, id: i})
	}
	p := Table[kind].New(s, o)
	for _, a := range s.actors {
		a.thief = p.Attach(a)
	}
	return s, p
}

func (s *scene) Workers() int       { return len(s.actors) }
func (s *scene) Limit() int         { return len(s.actors) }
func (s *scene) Running() bool      { return s.running }
func (s *scene) AnyWork() bool      { return s.work }
func (s *scene) AnySubmitted() bool { return false }
func (s *scene) Stopping() bool     { return s.stopping }
func (s *scene) AnyWaiter() bool    { return s.waiting > 0 }
func (s *scene) NotifyAll()         { s.Notify(s.waiting) }
func (s *scene) NotifyHelpers()     {}
func (s *scene) Notify(n int) int {
	n = max(0, min(n, s.waiting))
	s.waiting -= n
	s.notified += n
	return n
}

func (a *actor) ID() int       { return a.id }
func (a *actor) Sees(int) bool { return true }
func (a *actor) Leave() bool   { return a.leaves }
func (a *actor) Prepare()      {}
func (a *actor) Cancel() bool  { return false }
func (a *actor) Commit()       { a.slept++; a.running, a.stopping = false, true }
func (a *actor) Searching()    {}
func (a *actor) Pause(int)     {}
func (a *actor) Yield()        { a.yields++ }
func (a *actor) Items() uint64 { return 0 }
func (a *actor) YieldTo(int)   { a.yields++ }
func (a *actor) Pull(int) bool { a.pulls++; return a.pulls%2 == 0 }
func (a *actor) Preempted(_ int, sign Sign) bool {
	a.asked[sign]++
	return a.preempted[sign]
}
func (a *actor) Nanotime() int64 { return 0 }

// Random takes turns.
func (a *actor) Random(n int) int {
	if a.next++; a.only {
		return 0
	}
	return a.next % n
}

func (a *actor) Try(victim int) deque.Outcome {
	a.tries++
	if a.outcome == nil {
		return deque.Empty
	}
	return a.outcome(victim)
}

// after returns an outcome: a steal after n attempts.
func after(n int) func(int) deque.Outcome {
	return func(int) deque.Outcome {
		if n--; n < 0 {
			return deque.Stolen
		}
		return deque.Empty
	}
}

// TestYields: a thief yields before each attempt, or as its option says (004, section 5.3).
func TestYields(t *testing.T) {
	const workers, failed = 4, 200
	for yields, want := range map[Yields]int{
		YieldEach:      failed + 1,
		YieldNever:     0,
		YieldDelayed:   failed + 1 - 2*workers,
		YieldSelective: failed / 64,
	} {
		s, _ := newScene(ABP, workers, Options{Yields: yields})
		a := s.actors[0]
		a.outcome = after(failed)
		require.True(t, a.thief.Find())
		require.Equal(t, failed+1, a.tries)
		require.Equal(t, want, s.yields, YieldsNames[yields])
	}
}

// TestWishes: a thief with an item wishes two wake-ups. Another takes them over from it while it is busy, and makes
// them when it meets workers that sleep (004, Algorithm 2).
func TestWishes(t *testing.T) {
	s, p := newScene(MBWSRole, 3, Options{SleepThreshold: 10})
	m := p.(*mbws)
	busy, thief, sleeper := s.actors[0], s.actors[1], s.actors[2]
	m.watchdog.Store(99) // neither is the watchdog

	busy.outcome = after(0)
	require.True(t, busy.thief.Find())
	busy.thief.Busy(true)
	require.EqualValues(t, 2, m.peers[0].wishes.Load())

	thief.outcome = after(6) // it meets each of the others twice
	require.True(t, thief.thief.Find())
	require.Zero(t, m.peers[0].wishes.Load(), "taken over")
	require.EqualValues(t, 2+2, m.peers[1].wishes.Load(), "no worker was there to be woken")

	m.peers[2].tell(mbwsSleeping)
	s.waiting = 1
	thief.outcome = after(6)
	require.True(t, thief.thief.Find())
	require.Equal(t, 1, s.notified, "the sleeper was woken")
	require.EqualValues(t, 2+2-1+2, m.peers[1].wishes.Load())

	// In place of a sleep, a thief gives up a wish.
	sleeper.thief.Busy(false)
	thief.tries, thief.outcome = 0, nil
	require.False(t, thief.thief.Find())
	require.Equal(t, 1, thief.slept)
	require.Zero(t, m.peers[1].wishes.Load())
	require.Equal(t, (5+1)*(10+1), thief.tries, "five wishes, each in place of a sleep")
}

// TestWatchdogSleepsDuringAnAttempt: a thief finds the first item of a run while the watchdog, which saw no run, goes
// to sleep. The thief wakes it: the worker that runs the item would be alone otherwise, whatever it pushes.
func TestWatchdogSleepsDuringAnAttempt(t *testing.T) {
	s, p := newScene(MBWSRole, 2, Options{})
	m := p.(*mbws)
	m.peers[0].sentry.volunteer()
	thief := s.actors[1]
	thief.outcome = func(int) deque.Outcome {
		m.watchdog.Store(0)
		s.waiting = 1
		return deque.Stolen
	}
	require.True(t, thief.thief.Find())
	require.Equal(t, 1, s.notified)
	require.Zero(t, m.watchdog.Load())
}

// TestSleepThreshold: a thief that is not the watchdog sleeps after so many failed attempts. The watchdog does not
// sleep while a run is in progress.
func TestSleepThreshold(t *testing.T) {
	for _, kind := range []int{MBWSRole} {
		for threshold, want := range map[int]int{0: sleepThreshold, 32: 32, 256: 256, 4096: 4096} {
			s, p := newScene(kind, 3, Options{SleepThreshold: threshold})
			p.(*mbws).watchdog.Store(99)
			a := s.actors[0]
			require.False(t, a.thief.Find())
			require.Equal(t, want+1, a.tries)

			s, _ = newScene(kind, 3, Options{SleepThreshold: threshold})
			a = s.actors[0]
			a.outcome = after(10 * want)
			require.True(t, a.thief.Find())
			require.Zero(t, a.slept)
		}
	}
}

// TestYieldTo: a thief gives its core to a busy victim that has none, and then does nothing else in this attempt (004,
// Algorithm 2, lines 18 and 19). The policies differ in the sign that they go by.
func TestYieldTo(t *testing.T) {
	const failed = 3 * 2 * clockInterval
	for _, test := range []struct {
		name          string
		kind          int
		preempted     [2]bool
		yields, pulls int
		clocks        int // how often the clock was looked at
		overs         int // wishes taken over
	}{
		{"role", MBWSRole, [2]bool{true, true}, 0, 0, 0, 2},
		{"same", BWSSame, [2]bool{true, true}, failed, 0, 0, 0},
		{"same, on another CPU", BWSSame, [2]bool{false, true}, 0, 0, 0, 2},
		{"clock", BWSClock, [2]bool{true, true}, failed, 0, 0, 0},
		{"clock, on another CPU", BWSClock, [2]bool{false, true}, 6, 0, 6, 2},
		{"clock, running", BWSClock, [2]bool{false, false}, 0, 0, 6, 2},
		{"pull", BWSPull, [2]bool{true, true}, failed, 0, 0, 0},
		{"pull, on another CPU", BWSPull, [2]bool{false, true}, 0, 6, 6, 2},
		{"pull, running", BWSPull, [2]bool{false, false}, 0, 0, 6, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, p := newScene(test.kind, 2, Options{SleepThreshold: 1000})
			m := p.(*mbws)
			m.watchdog.Store(99)
			busy, thief := s.actors[0], s.actors[1]
			busy.thief.Busy(false)
			m.peers[0].wishes.Store(2)
			thief.preempted = test.preempted
			left := failed
			thief.outcome = func(victim int) deque.Outcome {
				if victim == 0 {
					if left--; left < 0 {
						return deque.Stolen
					}
				}
				return deque.Empty
			}
			thief.only = true
			require.True(t, thief.thief.Find())
			require.Equal(t, test.yields, s.yields, "yields")
			require.Equal(t, test.pulls, thief.pulls, "pulls")
			require.Equal(t, test.clocks, thief.asked[StoppedClock], "looks at the clock")
			require.EqualValues(t, 2-test.overs, m.peers[0].wishes.Load(), "wishes left")
		})
	}
}

// TestBusyWakes: with BusyWakes each push wakes two workers, whatever thieves there are. Thieves wish no wake-ups.
func TestBusyWakes(t *testing.T) {
	s, p := newScene(MBWSRole, 5, Options{BusyWakes: true})
	a := s.actors[0]
	a.outcome = after(0)
	require.True(t, a.thief.Find())
	require.Zero(t, p.(*mbws).peers[0].wishes.Load())
	p.(*mbws).join()
	require.Zero(t, p.Thieves().Load(), "workers that push call Shown although there is a thief")
	s.waiting = 3
	p.Shown()
	require.Equal(t, 2, s.notified)
}

// TestWSGIRatio: there is one thief for every two busy workers, at least one during a run, and none between runs.
func TestWSGIRatio(t *testing.T) {
	const workers = 8
	s, p := newScene(WSGI, workers, Options{})
	w := p.(*wsgi)
	for busy := range workers + 1 {
		require.Equal(t, max(1, (busy+1)/2), w.count(0, 0), "%d busy workers", busy)
		if busy < workers {
			s.waiting, s.notified = workers, 0
			s.actors[busy].thief.Busy(false)
			require.Equal(t, max(1, (busy+2)/2), s.notified, "as many are woken as are missing")
		}
	}
	for i := range workers {
		s.actors[i].thief.Idle()
	}
	require.Equal(t, 1, w.count(0, 0))
	s.running = false
	require.Zero(t, w.count(0, 0))
}

// TestLastThiefLeaves: a thief that leaves service as the last wakes another for an item that is there, also between
// runs: the item of a future that has ended keeps the executor from being collected.
func TestLastThiefLeaves(t *testing.T) {
	for kind, row := range Table {
		s, _ := newScene(kind, 2, Options{})
		s.running, s.work, s.waiting = false, true, 1
		a := s.actors[0]
		a.leaves = true
		require.False(t, a.thief.Find(), row.Name)
		require.Equal(t, 1, s.notified, row.Name)
	}
}

// TestWishesEndWithTheRun: between runs a thief does not stay awake for wishes that are left.
func TestWishesEndWithTheRun(t *testing.T) {
	s, p := newScene(MBWSRole, 2, Options{SleepThreshold: 10})
	m := p.(*mbws)
	m.peers[0].wishes.Store(1000)
	s.running = false
	a := s.actors[0]
	a.thief.(*mbwsThief).attempts()
	require.LessOrEqual(t, a.tries, 11)
	require.Zero(t, m.peers[0].wishes.Load())
}

// TestOptions: an option that the policy does not have, and a value that there is not, are refused with what to do.
func TestOptions(t *testing.T) {
	set := []Options{{SleepThreshold: 10}, {Yields: YieldNever}, {BusyWakes: true}, {CheckPeers: true}}
	require.Len(t, set, len(Knobs))
	for i, row := range Table {
		require.Empty(t, Options{}.Check(i))
		for k, o := range set {
			require.True(t, Knobs[k].IsSet(o))
			errs := o.Check(i)
			has := false
			for _, knob := range row.Knobs {
				has = has || knob == k
			}
			require.Equal(t, !has, len(errs) == 1, "%s, %+v: %v", row.Name, o, errs)
			if !has {
				require.ErrorContains(t, errs[0], Knobs[k].Name)
				require.ErrorContains(t, errs[0], "or use policy ")
			}
		}
	}
	for _, o := range []Options{{SleepThreshold: -1}, {SleepThreshold: mostSleepThreshold + 1}} {
		require.Len(t, o.Check(MBWSRole), 1)
	}
	require.Len(t, Options{Yields: yieldModes}.Check(ABP), 1)
	require.Len(t, Options{Yields: yieldModes, SleepThreshold: -1}.Check(Adaptive), 4)
}

// TestOneWatchdog: at most one worker is the watchdog, whatever happens, and while a run is in progress and some worker
// sleeps, one is, or will be.
func TestOneWatchdog(t *testing.T) {
	first := testkit.Seed(t)
	for i := range uint64(testkit.Scale(100)) {
		w := newWorld(t, first+i, newMBWS, Options{SleepThreshold: 1 + int(i%5)}, 4)
		w.room = 40
		for _, s := range w.workers[1:] {
			s.waits = true
		}
		p := w.policy.(*mbws)
		w.watch = func() {
			id := int(p.watchdog.Load()) - 1
			w.check(id < 0 || p.thieves.Load() > 0, "worker %d is the watchdog, and there is no thief", id)
		}
		w.submit(5)
		w.rest()
		require.Zero(t, p.watchdog.Load(), "between runs there is no watchdog")
		w.watch = nil
		w.close()
	}
}

// TestLastThief: under mbws a thief that fails sleeps while another counts, and stays awake during a run if none does.
// The last one that gets an item wakes a worker; one that is not the last wakes none.
func TestLastThief(t *testing.T) {
	for others := range int32(2) {
		s, p := newScene(MBWS, 3, Options{SleepThreshold: 10})
		m := p.(*mbws)
		a := s.actors[0]
		m.thieves.Add(others)
		a.outcome, s.waiting = after(100), 2
		if others > 0 {
			require.False(t, a.thief.Find())
			require.Equal(t, 11, a.tries)
			require.Equal(t, 1, a.slept)
			s.running, s.stopping = true, false
			a.outcome = after(0)
		}
		require.True(t, a.thief.Find())
		require.EqualValues(t, 1-others, s.notified)
		require.Equal(t, int(others), a.slept)
		require.EqualValues(t, wishes, m.peers[0].wishes.Load())
		require.Equal(t, others, p.Thieves().Load())
	}
}

// TestLastThiefBetweenRuns: between runs the last thief sleeps too, unless an item is left.
func TestLastThiefBetweenRuns(t *testing.T) {
	for _, work := range []bool{false, true} {
		s, _ := newScene(MBWS, 2, Options{SleepThreshold: 10})
		s.running, s.work = false, work
		a := s.actors[0]
		a.outcome = after(100)
		require.Equal(t, work, a.thief.Find())
		require.Equal(t, !work, a.slept == 1)
	}
}
