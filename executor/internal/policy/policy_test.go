package policy

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// onEach runs a test of worlds for each policy, with several seeds.
func onEach(t *testing.T, seeds int, test func(t *testing.T, make func(workers int) *world, rng *rand.Rand)) {
	first := testkit.Seed(t)
	for kind, row := range Table {
		t.Run(row.Name, func(t *testing.T) {
			for i := range uint64(testkit.Scale(seeds)) {
				rng := rand.New(rand.NewPCG(first+i, uint64(kind)))
				test(t, func(workers int) *world { return newWorld(t, rng.Uint64(), row.New, Options{}, workers) }, rng)
			}
		})
	}
}

// TestNoItemIsLeft: whatever is pushed and submitted, and in whatever order threads go on, no item stays while all
// workers sleep; at rest no thief is counted; and the workers end when they are told to.
func TestNoItemIsLeft(t *testing.T) {
	onEach(t, 150, func(t *testing.T, make func(int) *world, rng *rand.Rand) {
		w := make(1 + rng.IntN(4))
		w.room, w.lossy = rng.IntN(20), rng.IntN(2) == 0
		for range 1 + rng.IntN(2) {
			w.submit(1 + rng.IntN(4))
		}
		w.rest()
		w.room += 5
		w.submit(2)
		if rng.IntN(2) == 0 {
			w.rest()
		}
		w.close()
	})
}

// TestNoItemWaits: an item that is pushed is stolen by a worker that sleeps, although the one that has pushed it is
// busy until that is done.
func TestNoItemWaits(t *testing.T) {
	onEach(t, 300, func(t *testing.T, make func(int) *world, rng *rand.Rand) {
		w := make(2 + rng.IntN(3))
		w.room = 20
		for _, s := range w.workers[1:] {
			s.waits = true // one worker is always able
		}
		for range 1 + rng.IntN(2) {
			w.submit(1 + rng.IntN(4))
		}
		w.rest()
		w.close()
	})
}

// TestLeave: a worker that is to leave does, and neither what it was woken for is left nor what was pushed trusting
// in it.
func TestLeave(t *testing.T) {
	onEach(t, 150, func(t *testing.T, make func(int) *world, rng *rand.Rand) {
		w := make(2 + rng.IntN(3))
		w.room = 10
		leaving := 1 + rng.IntN(len(w.workers)-1)
		if rng.IntN(2) == 0 {
			w.submit(1)
			w.rest()
		}
		w.start("dismisser", func() {
			for _, s := range w.workers[:leaving] {
				s.leaves = true
				w.pause()
			}
			w.policy.WakeAll()
		})
		w.submit(1 + rng.IntN(4))
		w.rest()
		w.start("waker", w.policy.WakeAll) // again: some may have been on their way to sleep, and not asleep
		w.rest()
		for _, s := range w.workers[:leaving] {
			w.check(s.state == standsBy, "worker %d has not left", s.id)
		}
		w.submit(3)
		w.rest()
		w.close()
	})
}

// TestWakeAll: WakeAll wakes each worker that sleeps, and they go to sleep again.
func TestWakeAll(t *testing.T) {
	onEach(t, 30, func(t *testing.T, make func(int) *world, rng *rand.Rand) {
		w := make(1 + rng.IntN(4))
		w.rest()
		before := []int{}
		for _, s := range w.workers {
			before = append(before, s.wakeups)
		}
		w.start("waker", w.policy.WakeAll)
		w.rest()
		for i, s := range w.workers {
			w.check(s.wakeups > before[i], "worker %d was not woken", i)
		}
		w.start("waker", w.policy.WakeAll)
		w.submit(2)
		w.rest()
		w.close()
	})
}

// A lonely machine has workers of which only one does anything. It notes what that worker does.
type lonely struct {
	id       int
	outcome  deque.Outcome
	tries    int
	pauses   []int
	yields   int
	items    uint64
	now      int64
	stopping bool
}

const (
	lonelyWorkers = 4
	lonelyTries   = 100 // after so many attempts the run in progress is over
)

// attach gives the lonely machine a policy, and returns another thief, and the one that does something.
func (l *lonely) attach(row Row) (p Policy, other, thief Thief) {
	p = row.New(l, Options{})
	for i := range lonelyWorkers {
		if i != 1 {
			other = p.Attach(&lonely{id: i})
		}
	}
	l.id = 1
	return p, other, p.Attach(l)
}

func (l *lonely) Workers() int       { return lonelyWorkers }
func (l *lonely) Limit() int         { return lonelyWorkers }
func (l *lonely) Running() bool      { return l.tries < lonelyTries }
func (l *lonely) AnyWork() bool      { return false }
func (l *lonely) AnySubmitted() bool { return false }
func (l *lonely) Stopping() bool     { return l.stopping }
func (l *lonely) AnyWaiter() bool    { return false }
func (l *lonely) Notify(int) int     { return 0 }
func (l *lonely) NotifyAll()         {}
func (l *lonely) NotifyHelpers()     {}
func (l *lonely) ID() int            { return l.id }
func (l *lonely) Random(n int) int   { return l.tries % n }
func (l *lonely) Sees(int) bool      { return true }
func (l *lonely) Leave() bool        { return false }
func (l *lonely) Prepare()           { l.stopping = true } // and so Find returns
func (l *lonely) Cancel() bool       { return false }
func (l *lonely) Commit()            { panic("sleeps although the executor stops") }
func (l *lonely) Searching()         {}
func (l *lonely) Pause(n int)        { l.pauses = append(l.pauses, n) }
func (l *lonely) Yield()             { l.yields++ }
func (l *lonely) YieldTo(int)        {}
func (l *lonely) Pull(int) bool      { return false }
func (l *lonely) Items() uint64      { return l.items }
func (l *lonely) Nanotime() int64    { return l.now }
func (l *lonely) Preempted(int, Sign) bool {
	return false
}
func (l *lonely) Try(int) deque.Outcome {
	l.tries++
	return l.outcome
}

// TestSearchIsBounded: a thief that finds nothing gives up, having looked at each place, and does not try for ever.
func TestSearchIsBounded(t *testing.T) {
	for _, row := range Table {
		for _, outcome := range []deque.Outcome{deque.Empty, deque.NotReady} {
			t.Run(fmt.Sprintf("%s/%v", row.Name, outcome), func(t *testing.T) {
				l := &lonely{outcome: outcome}
				p, _, thief := l.attach(row)
				require.False(t, thief.Find())
				require.GreaterOrEqual(t, l.tries, lonelyWorkers)
				most := max(searchRounds*lonelyWorkers, stealBound*(lonelyWorkers+1)+max(yieldBound, taskflowYields)+1,
					lonelyTries+sleepThreshold)
				require.LessOrEqual(t, l.tries, most)
				require.Zero(t, p.Thieves().Load())
			})
		}
	}
}

// TestStopIsSeen: a thief that is told to stop while it searches does not finish that.
func TestStopIsSeen(t *testing.T) {
	for _, row := range Table {
		t.Run(row.Name, func(t *testing.T) {
			l := &lonely{outcome: deque.Empty, stopping: true}
			p, _, thief := l.attach(row)
			require.False(t, thief.Find())
			require.LessOrEqual(t, l.tries, lonelyWorkers)
			require.Zero(t, p.Thieves().Load())
		})
	}
}

// TestTrivialSteals: a thief whose steals bring one item each, which takes no time, waits before it steals again,
// longer from one to the next, until a steal is worth it.
func TestTrivialSteals(t *testing.T) {
	l := &lonely{outcome: deque.Stolen}
	_, _, thief := l.attach(Table[Adaptive])
	steal := func(stolen bool, items uint64, time int64) (waited int) {
		l.pauses = nil
		require.True(t, thief.Find())
		for _, n := range l.pauses {
			waited += n
		}
		thief.Busy(stolen)
		l.items += items
		l.now += time
		thief.Idle()
		return waited
	}
	few := func() {
		t.Helper()
		for range fewTrivial + 1 {
			require.Zero(t, steal(true, 1, 0))
		}
	}
	few()
	for i := range trivialPauses + 5 {
		require.Equal(t, trivialPause*min(i+1, trivialPauses), steal(true, 1, 0))
	}
	steal(false, 1, 0)
	require.Equal(t, trivialPause*trivialPauses, steal(true, 2, 0), "what was submitted is no steal")
	few() // the last brought another item
	require.NotZero(t, steal(true, 1, trivialTime))
	few() // the last took its time
	require.NotZero(t, steal(true, 1, 0))
}

// TestTable: each policy has a name of its own, and begins without thieves.
func TestTable(t *testing.T) {
	names := make(map[string]bool)
	for _, row := range Table {
		require.NotEmpty(t, row.Name)
		require.False(t, names[row.Name], "two policies are named %s", row.Name)
		names[row.Name] = true
		p := row.New(&lonely{}, Options{})
		require.Zero(t, p.Thieves().Load())
		require.Zero(t, p.Actives())
	}
}

// TestPatience: under the policy adaptive a worker that waits inside a task looks for a while. Then it offers its core
// before each further look, and at last it sleeps.
func TestPatience(t *testing.T) {
	l := &lonely{outcome: deque.Empty}
	_, _, thief := l.attach(Table[Adaptive])
	thief.Waits()
	n := 1
	for ; !thief.Vain(n); n++ {
		require.Equal(t, max(0, n-Looks), l.yields, "look %d", n)
	}
	require.Equal(t, patientLooks, n)
}

// TestWaitsInTasks: what a worker does that waits inside a task and has nothing to do, and what it leaves behind.
func TestWaitsInTasks(t *testing.T) {
	for kind, row := range Table {
		t.Run(row.Name, func(t *testing.T) {
			l := &lonely{outcome: deque.Empty}
			p, other, thief := l.attach(row)
			thief.Busy(false)
			thief.Waits()
			for n := 1; !thief.Vain(n); n++ {
				require.Less(t, n, 1000)
			}
			mbws, _ := p.(*mbws)
			post := func(n int32) { mbws.watchdog.Store(n) }
			if kind == MBWS {
				post = mbws.thieves.Store
			}
			require.Equal(t, kind != ABP && mbws == nil, thief.MaySleep())
			if mbws != nil {
				require.True(t, other.MaySleep(), "one stays awake already")
				post(3)
				require.True(t, thief.MaySleep(), "there is a watchdog")
				post(0)
				require.False(t, thief.MaySleep())
				require.Equal(t, uint32(mbwsThieving), mbws.peers[1].status.Load(), "for thieves that meet it")
			}
			thief.Resumes(true)
			if mbws != nil {
				require.Zero(t, mbws.deputy.Load())
				require.Equal(t, uint32(mbwsBusy), mbws.peers[1].status.Load())
				require.EqualValues(t, wishes, mbws.peers[1].wishes.Load(), "a theft is worth wake-ups")
			}
			thief.Idle()
			if w, ok := p.(*wsgi); ok {
				require.Zero(t, w.busy)
			}
			require.Zero(t, p.Thieves().Load())
			require.Zero(t, p.Actives())
		})
	}
}
