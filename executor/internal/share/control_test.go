package share

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A recorder is a host that records.
type recorder struct {
	Control
	woken   []int
	signals int
	anyWork bool
	anyNew  bool
}

func (r *recorder) AnyWork() bool      { return r.anyWork }
func (r *recorder) AnySubmitted() bool { return r.anyNew }
func (r *recorder) Signal()            { r.signals++ }
func (r *recorder) Wake(worker int)    { r.woken = append(r.woken, worker) }

// taken returns the workers woken since the last call.
func (r *recorder) taken() []int {
	woken := r.woken
	r.woken = nil
	return woken
}

// newRecorder returns a host with so many workers, all awake, and as many processors.
func newRecorder(workers int) *recorder {
	r := &recorder{}
	r.Init(r, workers)
	for range workers {
		r.CountAwake()
	}
	return r
}

// TestZones: who rests is woken in the document's order, those with work first.
func TestZones(t *testing.T) {
	r := newRecorder(5)
	require.False(t, r.Wanted())
	require.False(t, r.Rest(0, true), "nobody has to rest")
	r.SetAllotment(1)
	require.True(t, r.Wanted())
	require.Equal(t, 1, r.signals)
	require.True(t, r.Rest(3, false))
	require.True(t, r.Rest(1, true))
	require.True(t, r.Rest(4, false))
	require.True(t, r.Wanted())
	require.True(t, r.Rest(2, true))
	require.False(t, r.Wanted())
	require.False(t, r.Rest(0, true), "one stays awake")
	require.Equal(t, 1, r.Awake())
	require.Equal(t, 4, r.Resting())
	require.Empty(t, r.taken())

	r.SetAllotment(4)
	require.Equal(t, []int{1, 2, 4}, r.taken())
	r.SetAllotment(0)
	require.True(t, r.Wanted())
	require.True(t, r.Rest(0, true), "the last one too")
	require.Equal(t, 3, r.Awake())
}

// TestSleepers: a worker that sleeps lets another take its processor.
func TestSleepers(t *testing.T) {
	r := newRecorder(4)
	r.SetAllotment(2)
	require.True(t, r.Rest(0, false))
	require.True(t, r.Rest(1, true))
	require.Equal(t, 1, r.CountAsleep(true))
	require.Equal(t, []int{1}, r.taken(), "the one with work")
	require.Equal(t, 1, r.CountAsleep(true))
	require.Empty(t, r.taken(), "the sleeper can be woken for any item as well as worker 0")
	require.Equal(t, 0, r.CountAsleep(false))
	require.Equal(t, []int{0}, r.taken(), "the sleeper cannot")
	require.Equal(t, 2, r.CountAwake())
	require.Equal(t, 3, r.CountAwake())
	require.True(t, r.Wanted())
}

func TestSwap(t *testing.T) {
	r := newRecorder(3)
	r.SetAllotment(1)
	require.True(t, r.Rest(0, true))
	require.True(t, r.Rest(1, false))
	require.False(t, r.Swap(2, 1), "it has no work")
	require.True(t, r.Swap(2, 0))
	require.Equal(t, []int{0}, r.taken())
	require.Equal(t, 1, r.Awake())
	require.False(t, r.Wanted())
	require.False(t, r.Swap(0, 2))
	r.SetAllotment(3)
	require.Equal(t, []int{2, 1}, r.taken())
}

// TestTurns: a worker with work changes places with another after some cycles.
func TestTurns(t *testing.T) {
	r := newRecorder(2)
	r.SetAllotment(1)
	require.True(t, r.Rest(0, true))
	for range swapAfter - 1 {
		r.BeginCycle()
		require.True(t, r.Wanted(), "is any worker at a boundary?")
		require.False(t, r.Rest(1, true))
		require.False(t, r.Wanted())
	}
	r.BeginCycle()
	require.Empty(t, r.taken())
	require.True(t, r.Rest(1, true))
	require.Equal(t, []int{0}, r.taken())
	require.False(t, r.Wanted())
	require.False(t, r.Rest(0, true), "it has just begun")
	for range swapAfter {
		r.BeginCycle()
	}
	require.True(t, r.Rest(0, false))
	require.Equal(t, []int{1}, r.taken())
	for range 2 * swapAfter {
		r.BeginCycle()
	}
	require.False(t, r.Rest(1, true), "worker 0 has no work")
}

// TestNewcomers: a worker that rests without work takes the place of a busy one if there is a submitted item.
func TestNewcomers(t *testing.T) {
	r := newRecorder(3)
	r.SetAllotment(1)
	require.True(t, r.Rest(0, false))
	require.True(t, r.Rest(1, false))
	r.BeginCycle()
	require.False(t, r.Rest(2, true))
	r.anyNew = true
	r.BeginCycle()
	require.True(t, r.Rest(2, true))
	require.Equal(t, []int{1}, r.taken())
	require.False(t, r.Wanted(), "once a cycle")
	require.False(t, r.Rest(1, true))
	r.BeginCycle()
	require.False(t, r.Rest(1, false), "a thief finds the item itself")
	require.True(t, r.Rest(1, true))
	require.Equal(t, []int{0}, r.taken())
	require.Equal(t, 1, r.Awake())
}

// TestNoBoundary: if the workers that are awake come to no boundary, others are woken one by one, first those with
// work. They may go on for a while. When the first is at a boundary after that, as many rest as before.
func TestNoBoundary(t *testing.T) {
	r := newRecorder(4)
	r.SetAllotment(1)
	require.True(t, r.Rest(1, false))
	require.True(t, r.Rest(2, false))
	require.True(t, r.Rest(3, true))
	wait := func() []int {
		for range patience - 1 {
			r.BeginCycle()
			require.Empty(t, r.taken())
		}
		r.BeginCycle()
		return r.taken()
	}
	require.Equal(t, []int{3}, wait())
	require.False(t, r.Rest(3, false), "it may go on")
	for range 2 * patience {
		r.BeginCycle()
	}
	require.Empty(t, r.taken(), "there is no work for the others")
	r.anyWork = true
	r.BeginCycle()
	require.Equal(t, []int{2}, r.taken())
	require.Equal(t, []int{1}, wait())
	require.Equal(t, 4, r.Awake())
	for range patience {
		require.False(t, r.Rest(0, true))
		r.BeginCycle()
	}
	require.True(t, r.Rest(0, true))
	require.True(t, r.Rest(1, true))
	require.True(t, r.Rest(2, true))
	require.False(t, r.Wanted())
	require.Equal(t, 1, r.Awake())
}

// TestNobodyAwake: with an allotment of 0 nobody can come to a boundary, and nobody is woken for that.
func TestNobodyAwake(t *testing.T) {
	r := newRecorder(2)
	r.anyWork = true
	r.SetAllotment(0)
	require.True(t, r.Rest(0, true))
	require.True(t, r.Rest(1, false))
	for range 2 * patience {
		r.BeginCycle()
	}
	require.Empty(t, r.taken())
	r.SetAllotment(1)
	require.Equal(t, []int{0}, r.taken())
	for range patience - 1 {
		r.BeginCycle()
	}
	require.Empty(t, r.taken(), "it is given time")
}

// TestLook: that the allotment is set again does not end the look for a boundary. Else a worker that comes to
// boundaries all the time would be taken for one that comes to none.
func TestLook(t *testing.T) {
	r := newRecorder(3)
	r.anyWork = true
	r.SetAllotment(1)
	require.True(t, r.Rest(1, false))
	require.True(t, r.Rest(2, false))
	for range patience - 1 {
		r.BeginCycle()
		r.SetAllotment(1)
		require.True(t, r.Wanted())
		require.False(t, r.Rest(0, true))
		require.Equal(t, 1, r.Awake())
	}
	r.BeginCycle()
	require.True(t, r.Rest(0, true), "there has been an item for so long")
	require.Equal(t, []int{2}, r.taken())
	require.Equal(t, 1, r.Awake())
}

// TestRecall: workers that rest without work are woken, and rest again unless they leave.
func TestRecall(t *testing.T) {
	r := newRecorder(3)
	r.SetAllotment(1)
	require.True(t, r.Rest(0, true))
	require.True(t, r.Rest(1, false))
	r.Recall()
	require.Equal(t, []int{1}, r.taken())
	require.True(t, r.Wanted())
	require.True(t, r.Rest(1, false))
}

func TestClose(t *testing.T) {
	r := newRecorder(3)
	r.SetAllotment(1)
	require.True(t, r.Rest(0, true))
	require.True(t, r.Rest(1, false))
	r.Close()
	require.ElementsMatch(t, []int{0, 1}, r.taken())
	require.False(t, r.Wanted())
	r.SetAllotment(1)
	require.False(t, r.Rest(0, true))
}

// TestRandom does random operations, and checks S1, S2 and all counts after each.
func TestRandom(t *testing.T) {
	const (
		awake = iota
		parked
		blocked
		rests
		restsLaden
	)
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 1 + rng.IntN(6)
		r := newRecorder(n)
		state := make([]int, n)
		count := func(of int) (sum int) {
			for _, s := range state {
				if s == of {
					sum++
				}
			}
			return sum
		}
		any := func(of int) int {
			from := rng.IntN(n)
			for i := range n {
				if w := (from + i) % n; state[w] == of {
					return w
				}
			}
			return -1
		}
		allotment := n
		for range 500 {
			switch w := rng.IntN(n); rng.IntN(8) {
			case 0:
				allotment = 1 + rng.IntN(n)
				r.SetAllotment(allotment)
			case 1:
				r.BeginCycle()
			case 2:
				if thief, victim := any(awake), any(restsLaden); thief >= 0 && victim >= 0 {
					require.True(t, r.Swap(thief, victim))
					state[thief] = rests
				}
			default:
				switch laden := rng.IntN(2) == 0; {
				case state[w] == awake && rng.IntN(2) == 0:
					able := rng.IntN(2) == 0
					state[w] = blocked
					if able {
						state[w] = parked
					}
					r.CountAsleep(able)
				case state[w] == awake:
					before := count(awake)
					rested := r.Rest(w, laden)
					switch {
					case rested && laden:
						state[w] = restsLaden
					case rested:
						state[w] = rests
					}
					require.True(t, !rested || before > allotment || len(r.woken) == 1, "nobody has to rest")
					require.True(t, rested || before <= allotment+r.extra)
				case state[w] == parked || state[w] == blocked:
					state[w] = awake
					r.CountAwake()
				}
			}
			for _, w := range r.taken() {
				require.Contains(t, []int{rests, restsLaden}, state[w])
				state[w] = awake
			}
			require.Equal(t, count(awake), r.Awake())
			require.True(t, r.Wanted() || count(awake) <= allotment+r.extra)
			require.Equal(t, count(rests)+count(restsLaden), r.Resting())
			if r.Resting() > 0 {
				require.GreaterOrEqual(t, count(awake)+count(parked), allotment, "S1: %v", state)
			}
			if count(restsLaden) > 0 {
				require.GreaterOrEqual(t, count(awake), allotment, "S2: %v", state)
				require.True(t, slices.IsSortedFunc(r.withWork, func(a, b rest) int {
					return int(a.since) - int(b.since)
				}))
			}
		}
	}
}
