//go:build !modelcheck

package peer

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestEnterLeave(t *testing.T) {
	needOwn(t)
	a := newActor(t)
	area, id := a.area.Load(), a.ID()
	require.NotNil(t, area)
	require.NotEqual(t, noCPU, area.cpu.Load(), "the kernel has written the CPU")
	a.do(func() { _ = a.Enter() })
	require.Same(t, area, a.area.Load(), "a second Enter does nothing")
	require.Equal(t, id, a.ID())
	require.NoError(t, Has(SameCPU))
	a.do(func() {
		if err := Has(SameCPU); err != nil { // on a thread that is registered
			t.Error(err)
		}
	})

	replace(t, &system.isRegistered, func(addr, size uintptr) bool {
		t.Error("an area of the C library is looked for where this package has registered one")
		return false
	})
	a.do(func() {
		var second Thread
		if second.Enter() == nil {
			t.Error("a thread has two areas")
		}
		second.Leave()
	})

	a.do(a.Leave)
	require.Zero(t, a.ID())
	require.Nil(t, a.area.Load())
	require.Equal(t, noCPU, area.cpu.Load(), "the kernel writes the area no longer")
	a.do(a.Leave) // does nothing
	_, ok := a.Clock()
	require.False(t, ok)

	// Another thread enters the same Thread, and has the area.
	b := newActor(t)
	b.do(b.Leave)
	b.do(func() {
		if err := a.Enter(); err != nil {
			t.Error(err)
		}
	})
	require.Equal(t, b.last(), a.ID())
	require.True(t, area.cpu.Load() != noCPU || slices.Contains(areas.free, area), "the area is lost")
	b.do(a.Leave)
}

// last returns the id of the actor's thread, entered or not.
func (a *actor) last() (id int64) {
	a.do(func() { id = osthread.ID() })
	return id
}

// TestAreasAreReused has many threads, one at a time: they need no more memory than one.
func TestAreasAreReused(t *testing.T) {
	needOwn(t)
	free := func() int {
		areas.mu.Lock()
		defer areas.mu.Unlock()
		return len(areas.free)
	}
	before := free()
	require.Positive(t, before)
	for range 100 {
		var th Thread
		onThread(func() {
			if err := th.Enter(); err != nil {
				t.Error(err)
			}
			th.Leave()
		})
	}
	require.Equal(t, before, free())
}

func TestMisuse(t *testing.T) {
	need(t, SameCPU)
	a, b := newActor(t), newActor(t)
	b.do(func() {
		panics(t, "enters a Thread that thread", func() { _ = a.Enter() })
		panics(t, "leaves a Thread that thread", a.Leave)
	})
}

func panics(t *testing.T, want string, f func()) {
	defer func() {
		if p, ok := recover().(string); !ok || !strings.Contains(p, want) {
			t.Errorf("want a panic that says %q, have %q", want, p)
		}
	}()
	f()
}

func TestSharesCPU(t *testing.T) {
	need(t, SameCPU, Pull)
	all := cpus(t, 2)
	manyPs(t, 3)
	me, same, other := newActor(t), newActor(t), newActor(t)
	me.pin(t, all[0])
	same.pin(t, all[0])
	other.pin(t, all[1])
	same.do(func() {}) // both have been in user mode since pin, when the kernel writes the number
	other.do(func() {})
	for _, running := range []bool{false, true} {
		if running {
			defer same.spin()()
			defer other.spin()()
		}
		asked := 0
		me.do(func() {
			for range 100 {
				for range 1000 {
					asked++
					if !me.SharesCPU(&same.Thread) || me.SharesCPU(&other.Thread) {
						t.Errorf("wrong the %dth time: %v %v %v", asked, me.lastCPU(), same.lastCPU(), other.lastCPU())
						return
					}
				}
				osthread.Yield()
			}
		})
		require.Equal(t, 100_000, asked)
	}
	me.do(func() {
		var nobody Thread
		if me.SharesCPU(&me.Thread) || me.SharesCPU(&nobody) || nobody.SharesCPU(&me.Thread) {
			t.Error("SharesCPU of oneself, or of no thread")
		}
	})
}

func TestClock(t *testing.T) {
	need(t, Clock)
	var nobody Thread
	_, ok := nobody.Clock()
	require.False(t, ok)

	manyPs(t, 1)
	a := &actor{tasks: make(chan func())}
	var done sync.WaitGroup
	done.Go(func() { onNewThread(a.serve) })
	a.do(func() { _ = a.Enter() }) // the clock is there without a registration
	clock := func() int64 {
		ns, ok := a.Clock()
		require.True(t, ok)
		return ns
	}
	end := a.spin()
	begin := clock()
	testkit.Until(t, "the clock of a thread that spins advances",
		func() bool { return clock() > begin+int64(time.Millisecond) })
	end()
	testkit.Until(t, "the clock of a thread that sleeps stands", func() bool {
		before := clock()
		time.Sleep(5 * time.Millisecond)
		return clock() == before
	})
	close(a.tasks)
	done.Wait()
	_, ok = a.Clock()
	require.False(t, ok)
}

// TestClockOfTheDead asks for a thread that ended without Leave.
func TestClockOfTheDead(t *testing.T) {
	need(t, Clock)
	var a Thread
	onThread(func() { _ = a.Enter() })
	id := a.ID()
	testkit.Until(t, "the thread has ended", func() bool { return osthread.Gone(id) })
	_, ok := a.Clock()
	require.False(t, ok)
}

// TestPull pulls a running thread: the caller need not wait for it to be preempted.
func TestPull(t *testing.T) {
	need(t, SameCPU, Pull)
	all := cpus(t, 2)
	manyPs(t, 2)
	me, v := newActor(t), newActor(t)
	me.pin(t, all[0])
	tries := 0
	testkit.Until(t, "a pulled thread gets to the CPU of the caller", func() bool {
		tries++
		v.pin(t, all[1])
		v.do(func() {}) // it has been in user mode since
		require.EqualValues(t, all[1], v.lastCPU())
		v.unpin(t)
		came := false
		end := v.begin(func() { came = came || int(v.lastCPU()) == all[0] })
		v.again.Store(0)
		var err error
		me.do(func() { err = me.Pull(&v.Thread) })
		require.NoError(t, err)
		end()
		require.Equal(t, startSet, v.set(t))
		return came
	})
	t.Logf("at try %d", tries)

	v.do(v.Leave)
	v.again.Store(0)
	var left error
	me.do(func() { left = me.Pull(&v.Thread) })
	require.ErrorIs(t, left, errNobody)
}

func TestPullRefused(t *testing.T) {
	need(t, SameCPU, Pull)
	all := cpus(t, 2)
	me, v := newActor(t), newActor(t)
	me.pin(t, all[0])
	pull := func() (err error) {
		v.again.Store(0)
		me.do(func() { err = me.Pull(&v.Thread) })
		require.ErrorIs(t, err, ErrRefused)
		return err
	}
	v.pin(t, all[1])
	pinned := v.set(t)
	require.ErrorIs(t, pull(), errPinned)
	require.Equal(t, pinned, v.set(t))
	v.pin(t, all[0])
	pinned = v.set(t)
	require.ErrorIs(t, pull(), errPinned)
	require.Equal(t, pinned, v.set(t))
	v.unpin(t)

	v.pull.Store(held)
	require.ErrorIs(t, pull(), errHeld)
	v.pull.Store(idle)

	var self, nobody error
	me.do(func() {
		self = me.Pull(&me.Thread)
		nobody = new(Thread).Pull(&v.Thread)
	})
	require.ErrorIs(t, self, errNobody)
	require.ErrorIs(t, nobody, errNobody)
	require.Equal(t, startSet, v.set(t))
	require.Equal(t, idle, v.pull.Load())
}

// Leave waits for a pull: afterwards nobody uses the thread's id.
func TestLeaveWaitsForPull(t *testing.T) {
	need(t, SameCPU, Pull)
	manyPs(t, 2)
	me, v := newActor(t), newActor(t)
	replace(t, &afterPull, func() {})
	calls, leaves, left := 0, make(chan struct{}), make(chan struct{})
	id := v.ID()
	replace(t, &system.setAffinity, func(got int64, set *unix.CPUSet) syscall.Errno {
		calls++
		switch {
		case got != id:
			t.Error("another thread than the peer")
		case calls == 1:
			close(leaves)
			time.Sleep(10 * time.Millisecond)
		}
		select {
		case <-left:
			t.Error("the thread has left before it had its set of CPUs back")
		default:
		}
		return 0
	})
	var err error
	var both sync.WaitGroup
	both.Go(func() { me.do(func() { err = me.Pull(&v.Thread) }) })
	<-leaves
	v.do(v.Leave)
	close(left)
	both.Wait()
	require.NoError(t, err)
	require.Equal(t, 2, calls)
}

// TestHostile has threads that enter and leave while others ask about them and pull them.
func TestHostile(t *testing.T) {
	need(t, SameCPU, Clock, Pull)
	const n = 4
	manyPs(t, n)
	actors := make([]*actor, n)
	for i := range actors {
		actors[i] = newActor(t)
	}
	recorder, err := Record(actors[0].ID())
	records := err == nil
	if records {
		actors[0].do(func() {}) // the record begins with the next switch, which may be the last for long
		testkit.Until(t, "a thread that sleeps is found blocked", func() bool { return recorder.State() == Blocked })
	} else {
		t.Log("without records: ", err)
	}
	var counts [n]Counts
	var pulls, refused atomic.Int64
	rounds := testkit.Scale(5000)
	var begun [n]atomic.Int64 // rounds
	var closed atomic.Bool    // the record
	var all sync.WaitGroup
	for i, me := range actors {
		all.Go(func() {
			me.do(func() {
				for round := range rounds {
					begun[i].Store(int64(round))
					other := (i + 1 + round%(n-1)) % n
					v, c := &actors[other].Thread, &counts[i]
					ask := func() bool { return me.SharesCPU(v) }
					if other == 0 && records {
						recorder.Check(c, ask)
					} else {
						c.Count(ask())
					}
					if round%16 == 0 {
						v.Clock()
						v.again.Store(0)
						if me.Pull(v) == nil {
							pulls.Add(1)
						} else {
							refused.Add(1)
						}
					}
					if round%100 == 0 {
						me.Leave()
						if err := me.Enter(); err != nil {
							t.Error(err)
						}
					}
					if records && i == 0 && round == rounds*3/4 {
						for other := range begun {
							for begun[other].Load() < int64(rounds/2) { // the record is open for half of their questions
								runtime.Gosched()
							}
						}
						if err := recorder.Close(); err != nil {
							t.Error(err)
						}
						closed.Store(true)
					}
					for records && i != 0 && round == rounds*7/8 && !closed.Load() { // the others ask afterwards, too
						runtime.Gosched()
					}
				}
			})
		})
	}
	all.Wait()
	var sum Counts
	for i := range counts {
		sum.Asked += counts[i].Asked
		sum.Checked += counts[i].Checked
		sum.Unknown += counts[i].Unknown
		require.Equal(t, startSet, actors[i].set(t))
	}
	t.Logf("%+v, %d pulls, %d refused", sum, pulls.Load(), refused.Load())
	require.Positive(t, pulls.Load())
	require.EqualValues(t, n*rounds, sum.Asked)
	if records {
		require.Positive(t, sum.Checked)
		require.Positive(t, sum.Unknown, "the record is closed before the end")
	}
}

// The set of the start is that of the main thread, which the Go runtime counts too.
func TestMasks(t *testing.T) {
	require.Zero(t, startErrno)
	require.Positive(t, startSet.Count())
	require.LessOrEqual(t, runtime.NumCPU(), startSet.Count())
}
