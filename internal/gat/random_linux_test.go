package gat

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/allot"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// fakeTime makes the clock of jobs that join from now on a variable.
func fakeTime(t testing.TB) *uint64 {
	before, time := now, now()
	now = func() uint64 { return time }
	t.Cleanup(func() { now = before })
	return &time
}

// A crowd is a table's jobs, with what is known of them.
type crowd struct {
	t          testing.TB
	rng        *rand.Rand
	path       string
	processors int
	time       *uint64
	jobs       []*fellow
}

type fellow struct {
	*Job
	terms     Terms
	desired   int
	isStopped bool
}

// update has a job update, unless it is stopped. The clock may have gone back meanwhile.
func (c *crowd) update(f *fellow) {
	if !f.isStopped {
		require.LessOrEqual(c.t, update(c.t, f.Job, f.desired), f.desired)
	}
}

func (c *crowd) updateAll() {
	for _, f := range c.jobs {
		c.update(f)
	}
}

// act does one thing at random.
func (c *crowd) act() {
	if len(c.jobs) == 0 || len(c.jobs) < c.processors && c.rng.IntN(6) == 0 {
		f := &fellow{terms: Terms{Weight: 1 + c.rng.IntN(3), Minimum: c.rng.IntN(3), Limit: c.rng.IntN(c.processors + 1)}}
		j, err := Join(c.path, c.processors, testCycle, f.terms)
		require.NoError(c.t, err)
		f.Job = j
		c.jobs = append(c.jobs, f)
		return
	}
	i := c.rng.IntN(len(c.jobs))
	f := c.jobs[i]
	switch c.rng.IntN(20) {
	case 0:
		c.remove(i)
		require.NoError(c.t, f.Leave())
	case 1, 2:
		c.remove(i)
		kill(f.Job)
	case 3, 7:
		f.isStopped = false
	case 8:
		f.isStopped = !f.isStopped
	case 4:
		*c.time += 3e9
		c.updateAll()
	case 5:
		*c.time -= uint64(c.rng.IntN(1e9))
	case 6:
		c.settle()
	default:
		*c.time += uint64(testCycle)
		f.desired = c.rng.IntN(c.processors + 3)
		c.update(f)
	}
}

func (c *crowd) remove(i int) { c.jobs = append(c.jobs[:i:i], c.jobs[i+1:]...) }

// check checks what holds at any time.
func (c *crowd) check() {
	s := look(c.t, c.path)
	sum := 0
	for _, j := range s.Jobs {
		sum += j.Allotment
		if j.Allotment > j.Desire || j.Limit > 0 && j.Allotment > j.Limit {
			require.Fail(c.t, "an allotment above the desire or the limit", "%+v", s)
		}
	}
	if sum > c.processors {
		require.Fail(c.t, "too many processors are allotted", "%+v", s)
	}
}

// settle checks the allotments after two updates of all that are not stopped.
func (c *crowd) settle() {
	running := 0
	for range 2 {
		c.updateAll()
	}
	var jobs []allot.Job
	for _, f := range c.jobs {
		s := f.at.Load()
		j := allot.Job{Key: uint64(s.member.slot), Desire: f.desired, Weight: f.terms.Weight, Minimum: f.terms.Minimum,
			Limit: f.terms.Limit}
		if f.isStopped {
			told := &s.table.jobs[s.member.slot]
			j.Desire = int(told.desire.Load())
			if beat := told.heartbeat.Load(); *c.time > beat && *c.time-beat > 2e9 {
				j.Desire = min(j.Desire, j.Minimum)
			}
		} else {
			running++
		}
		jobs = append(jobs, j)
	}
	switch running {
	case 0:
		return // nobody rebalances
	case len(c.jobs):
	default: // a job that has just stopped is found out at a tenth update
		for range updatesPerRebalance {
			c.updateAll()
		}
	}
	for i, a := range allot.WaterFill(c.processors, jobs) {
		if got := c.jobs[i].at.Load().table.allotment(int(jobs[i].Key)); got != a {
			require.Fail(c.t, "a wrong allotment", "slot %d has %d, want %d: %+v", jobs[i].Key, got, a, jobs)
		}
	}
}

// TestRandom: jobs join, leave, die, stop, go on and change their desires, and the clock jumps. No more jobs than
// processors. At any time the sum of the allotments is no more than the processors, and none is above its desire.
func TestRandom(t *testing.T) {
	c := &crowd{t: t, rng: rand.New(rand.NewPCG(testkit.Seed(t), 3)), path: filepath.Join(t.TempDir(), "table"),
		processors: 6, time: fakeTime(t)}
	n := testkit.Count(t, 100000)
	for range n {
		c.act()
		c.check()
	}
	for _, f := range c.jobs {
		kill(f.Job)
	}
	a := join(t, c.path, c.processors, Terms{})
	require.Equal(t, c.processors, update(t, a, 9))
	require.Len(t, look(t, c.path).Jobs, 1, "a slot was lost")
	testkit.Proved(t, n, "joins, leaves, deaths, stops and updates")
}

// TestClock: the clock of a job may be ahead of that of others, and may jump.
func TestClock(t *testing.T) {
	path, time0 := filepath.Join(t.TempDir(), "table"), fakeTime(t)
	a, b := join(t, path, 8, Terms{}), join(t, path, 8, Terms{})
	*time0 += 1e15
	require.Equal(t, 8, update(t, b, 8))
	*time0 -= 1e15 // b's heartbeat is from the future
	require.Equal(t, 4, update(t, a, 8))
	s := look(t, path)
	require.False(t, s.Jobs[1].Stopped)
	require.Zero(t, s.Jobs[1].Heartbeat)
	tenth := func(j *Job) (allotment int) {
		for range updatesPerRebalance {
			allotment = update(t, j, 8)
		}
		return allotment
	}
	*time0 += uint64(3 * time.Second)
	require.Equal(t, 4, tenth(a), "b's heartbeat is from the future still")
	require.Equal(t, 4, update(t, b, 8))
	*time0 += uint64(3 * time.Second)
	require.Equal(t, 8, tenth(a), "b has stopped")
	require.Equal(t, 4, update(t, b, 8), "b goes on")
	require.Equal(t, 4, update(t, a, 8))
	*time0 += uint64(3 * time.Second)
	require.Equal(t, 8, tenth(a), "b has stopped again")
	*time0 -= uint64(2 * time.Second)
	require.Equal(t, 4, update(t, b, 8), "b was counted as stopped, though by its own clock it was not")
	*time0 = 0
	require.Equal(t, 4, tenth(a))
	*time0 = 1<<64 - 1
	require.Equal(t, 8, tenth(a))
	require.Equal(t, 4, update(t, b, 8))
}
