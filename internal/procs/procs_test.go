package procs

import (
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeRuntime takes the place of the Go runtime. It counts how often the world was stopped, by the rules of Go 1.26:
// setting the value in force stops nothing but ends automatic updates; the default stops nothing if it is in force
// already.
type fakeRuntime struct {
	procs     int
	standard  int
	automatic bool
	env       bool
	stops     int
}

func (f *fakeRuntime) get() int { return f.procs }

func (f *fakeRuntime) set(n int) {
	f.automatic = false
	if n != f.procs {
		f.stops++
	}
	f.procs = n
}

func (f *fakeRuntime) setDefault() {
	if f.env {
		panic("the environment's value is overridden")
	}
	if !f.automatic || f.procs != f.standard {
		f.stops++
	}
	f.automatic = true
	f.procs = f.standard
}

func (f *fakeRuntime) fixed() bool { return f.env }

type step struct {
	reserve  int // > 0: reserve so many
	release  int // > 0: release the reservation of that number, counting from 1
	grow     int // > 0: add two to the reservation of that number
	user     int // > 0: the program sets GOMAXPROCS
	standard int // > 0: the quota changes; the runtime follows if updates are automatic

	procs int // expected afterwards
	base  int // expected afterwards
}

func TestLedger(t *testing.T) {
	const standard = 4
	for _, c := range []struct {
		name  string
		start int  // GOMAXPROCS at the start
		auto  bool // whether that is the runtime's doing
		env   bool
		steps []step

		wantAuto  bool
		wantStops int // times that the ledger stopped the world
	}{
		{name: "automatic", start: standard, auto: true, steps: []step{
			{reserve: 3, procs: 7, base: 4},
			{release: 1, procs: 4, base: 4},
		}, wantAuto: true, wantStops: 2},

		{name: "released twice", start: standard, auto: true, steps: []step{
			{reserve: 3, procs: 7, base: 4},
			{reserve: 3, procs: 10, base: 4},
			{release: 1, procs: 7, base: 4},
			{release: 1, procs: 7, base: 4},
			{release: 2, procs: 4, base: 4},
			{release: 1, procs: 4, base: 4},
		}, wantAuto: true, wantStops: 4},

		{name: "explicit", start: 2, steps: []step{
			{reserve: 3, procs: 5, base: 2},
			{release: 1, procs: 2, base: 2},
		}, wantStops: 3},

		{name: "explicit, above the default", start: 9, steps: []step{
			{reserve: 1, procs: 10, base: 9},
			{release: 1, procs: 9, base: 9},
		}, wantStops: 3},

		{name: "explicit, by chance what reserving makes of the default", start: 7, steps: []step{
			{reserve: 3, procs: 10, base: 7},
			{release: 1, procs: 7, base: 7},
		}, wantStops: 3},

		{name: "environment", start: standard, env: true, steps: []step{
			{reserve: 3, procs: 7, base: 4},
			{release: 1, procs: 4, base: 4},
		}, wantStops: 2},

		{name: "environment, other than the default", start: 3, env: true, steps: []step{
			{reserve: 3, procs: 6, base: 3},
			{reserve: 2, procs: 8, base: 3},
			{release: 2, procs: 6, base: 3},
			{release: 1, procs: 3, base: 3},
		}, wantStops: 4},

		{name: "two, last in first out", start: standard, auto: true, steps: []step{
			{reserve: 1, procs: 5, base: 4},
			{reserve: 2, procs: 7, base: 4},
			{release: 2, procs: 5, base: 4},
			{release: 1, procs: 4, base: 4},
		}, wantAuto: true, wantStops: 4},

		{name: "two, first in first out", start: standard, auto: true, steps: []step{
			{reserve: 1, procs: 5, base: 4},
			{reserve: 2, procs: 7, base: 4},
			{release: 1, procs: 6, base: 4},
			{release: 2, procs: 4, base: 4},
		}, wantAuto: true, wantStops: 4},

		{name: "grown", start: standard, auto: true, steps: []step{
			{reserve: 1, procs: 5, base: 4},
			{reserve: 2, procs: 7, base: 4},
			{grow: 1, procs: 9, base: 4},
			{release: 1, procs: 6, base: 4},
			{grow: 1, procs: 6, base: 4},
			{release: 2, procs: 4, base: 4},
			{grow: 2, procs: 4, base: 4},
		}, wantAuto: true, wantStops: 5},

		{name: "somebody sets it, and it is to grow", start: standard, auto: true, steps: []step{
			{reserve: 1, procs: 5, base: 4},
			{user: 3, procs: 3, base: 3},
			{grow: 1, procs: 3, base: 3},
			{reserve: 1, procs: 4, base: 3},
			{grow: 1, procs: 4, base: 3},
			{grow: 2, procs: 6, base: 3},
			{release: 1, procs: 6, base: 3},
			{release: 2, procs: 3, base: 3},
		}, wantStops: 4},

		{name: "one after another", start: standard, auto: true, steps: []step{
			{reserve: 1, procs: 5, base: 4},
			{release: 1, procs: 4, base: 4},
			{user: 3, procs: 3, base: 3},
			{reserve: 2, procs: 5, base: 3},
			{release: 2, procs: 3, base: 3},
		}, wantStops: 5},

		{name: "the quota changes meanwhile", start: standard, auto: true, steps: []step{
			{reserve: 2, procs: 6, base: 4},
			{standard: 8, procs: 6, base: 4},
			{release: 1, procs: 8, base: 8},
		}, wantAuto: true, wantStops: 2},

		{name: "the quota changes meanwhile, explicit", start: 2, steps: []step{
			{reserve: 3, procs: 5, base: 2},
			{standard: 8, procs: 5, base: 2},
			{release: 1, procs: 2, base: 2},
		}, wantStops: 3},

		{name: "somebody sets it: left alone", start: standard, auto: true, steps: []step{
			{reserve: 2, procs: 6, base: 4},
			{user: 3, procs: 3, base: 3},
			{release: 1, procs: 3, base: 3},
		}, wantStops: 1},

		{name: "somebody sets it, and it is reserved again", start: standard, auto: true, steps: []step{
			{reserve: 2, procs: 6, base: 4},
			{user: 3, procs: 3, base: 3},
			{reserve: 5, procs: 8, base: 3},
			{release: 1, procs: 8, base: 3},
			{release: 2, procs: 3, base: 3},
		}, wantStops: 4},

		{name: "somebody sets it while three have reserved", start: standard, auto: true, steps: []step{
			{reserve: 1, procs: 5, base: 4},
			{reserve: 1, procs: 6, base: 4},
			{reserve: 1, procs: 7, base: 4},
			{user: 5, procs: 5, base: 5},
			{release: 1, procs: 5, base: 5},
			{release: 2, procs: 5, base: 5},
			{release: 3, procs: 5, base: 5},
		}, wantStops: 3},

		{name: "somebody sets it twice", start: standard, auto: true, steps: []step{
			{reserve: 1, procs: 5, base: 4},
			{user: 3, procs: 3, base: 3},
			{reserve: 1, procs: 4, base: 3},
			{user: 6, procs: 6, base: 6},
			{reserve: 1, procs: 7, base: 6},
			{release: 1, procs: 7, base: 6},
			{release: 2, procs: 7, base: 6},
			{release: 3, procs: 6, base: 6},
		}, wantStops: 5}, // the default asked for at the second reservation is the value that it needs

		{name: "somebody sets it, environment", start: standard, env: true, steps: []step{
			{reserve: 2, procs: 6, base: 4},
			{user: 3, procs: 3, base: 3},
			{reserve: 1, procs: 4, base: 3},
			{release: 1, procs: 4, base: 3},
			{release: 2, procs: 3, base: 3},
		}, wantStops: 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			// A call of currentBase makes the ledger look. Without it, the ledger must notice the changes by itself.
			for _, ask := range []bool{true, false} {
				rt := &fakeRuntime{procs: c.start, standard: standard, automatic: c.auto, env: c.env}
				l := &ledger{rt: rt}
				var made []*Reservation
				users := 0
				for i, s := range c.steps {
					switch {
					case s.reserve > 0:
						made = append(made, l.reserve(s.reserve))
					case s.release > 0:
						made[s.release-1].Release()
					case s.grow > 0:
						made[s.grow-1].Grow(2)
					case s.user > 0:
						rt.set(s.user)
						users++
					case s.standard > 0:
						rt.standard = s.standard
						if rt.automatic {
							rt.procs = s.standard
						}
					}
					require.Equal(t, s.procs, rt.procs, "GOMAXPROCS after step %d", i)
					if ask || i == len(c.steps)-1 {
						require.Equal(t, s.base, l.currentBase(), "base after step %d", i)
					}
				}
				require.Equal(t, c.wantAuto, rt.automatic, "automatic updates")
				require.Equal(t, c.wantStops, rt.stops-users, "stops of the world by the ledger")
			}
		})
	}
}

func TestReserveNone(t *testing.T) {
	rt := &fakeRuntime{procs: 4, standard: 4, automatic: true}
	l := &ledger{rt: rt}
	none := l.reserve(0)
	require.True(t, rt.automatic)
	rt.set(3)
	none.Grow(2)
	none.Release()
	require.Equal(t, 3, rt.procs)
	require.PanicsWithValue(t, "procs: Reserve of a negative number", func() { l.reserve(-1) })
}

// TestManyReservers reserves and releases at random on several goroutines. The race detector watches the fake, which
// has no lock of its own: the ledger's lock must cover every call.
func TestManyReservers(t *testing.T) {
	const reservers, rounds = 8, 200
	rt := &fakeRuntime{procs: 4, standard: 4, automatic: true}
	l := &ledger{rt: rt}
	bases := make([]int, reservers) // the first wrong base that each goroutine has seen; 0: none
	var all sync.WaitGroup
	for i := range reservers {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			for range rounds {
				r := l.reserve(1 + rng.IntN(5))
				if b := l.currentBase(); b != 4 && bases[i] == 0 {
					bases[i] = b
				}
				if rng.IntN(2) == 0 {
					runtime.Gosched() // other goroutines come in between
					r.Grow(rng.IntN(3))
				}
				r.Release()
			}
		})
	}
	all.Wait()
	require.Equal(t, make([]int, reservers), bases, "wrong bases")
	require.Equal(t, 4, rt.procs)
	require.True(t, rt.automatic)
	require.GreaterOrEqual(t, rt.stops, 2)
}

func TestIsFixed(t *testing.T) {
	for env, want := range map[string]bool{
		"": false, "0": false, "-2": false, "two": false, "4x": false, "99999999999": false,
		"1": true, "16": true,
	} {
		require.Equal(t, want, isFixed(env), "GOMAXPROCS=%q", env)
	}
	require.Equal(t, isFixed(os.Getenv("GOMAXPROCS")), goRuntime{}.fixed())
}

func TestReserve(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	first := Reserve(3)
	second := Reserve(1)
	require.Equal(t, before+4, runtime.GOMAXPROCS(0))
	require.Equal(t, before, Base())
	first.Release()
	first.Release()
	require.Equal(t, before+1, runtime.GOMAXPROCS(0))
	second.Grow(2)
	require.Equal(t, before+3, runtime.GOMAXPROCS(0))
	require.Equal(t, before, Base())
	second.Release()
	require.Equal(t, before, runtime.GOMAXPROCS(0))
	require.Equal(t, before, Base())
}

// TestReserveExplicit sets GOMAXPROCS itself: before, which is restored, and in between, which stands.
func TestReserveExplicit(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)

	own := before + 5
	runtime.GOMAXPROCS(own)
	r := Reserve(2)
	require.Equal(t, own+2, runtime.GOMAXPROCS(0))
	r.Release()
	require.Equal(t, own, runtime.GOMAXPROCS(0))

	r = Reserve(2)
	runtime.GOMAXPROCS(own - 1)
	require.Equal(t, own-1, Base())
	r.Grow(1)
	require.Equal(t, own-1, runtime.GOMAXPROCS(0))
	r.Release()
	require.Equal(t, own-1, runtime.GOMAXPROCS(0))
}
