package procs

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeRuntime stands for the Go runtime. It counts how often the world was stopped.
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
	f.set(f.standard)
	f.automatic = true
}

func (f *fakeRuntime) fixed() bool { return f.env }

func TestLedger(t *testing.T) {
	type step struct {
		reserve int // > 0: reserve; < 0: release the reservation of that number, counting from -1
		user    int // > 0: somebody sets GOMAXPROCS
		procs   int // expected afterwards
		base    int // expected afterwards
	}
	for _, c := range []struct {
		name      string
		procs     int // at the start; the runtime's own choice is 4
		env       bool
		steps     []step
		automatic bool // expected at the end
	}{
		{"one, automatic", 4, false, []step{{reserve: 3, procs: 7, base: 4}, {reserve: -1, procs: 4, base: 4}}, true},
		{"one, set by the program before", 2, false, []step{{reserve: 3, procs: 5, base: 2}, {reserve: -1, procs: 2, base: 2}}, false},
		{"one, set in the environment", 4, true, []step{{reserve: 3, procs: 7, base: 4}, {reserve: -1, procs: 4, base: 4}}, false},
		{"two, last in first out", 4, false, []step{{reserve: 1, procs: 5, base: 4}, {reserve: 2, procs: 7, base: 4},
			{reserve: -2, procs: 5, base: 4}, {reserve: -1, procs: 4, base: 4}}, true},
		{"two, first in first out", 4, false, []step{{reserve: 1, procs: 5, base: 4}, {reserve: 2, procs: 7, base: 4},
			{reserve: -1, procs: 6, base: 4}, {reserve: -2, procs: 4, base: 4}}, true},
		{"set in between is left alone", 4, false, []step{{reserve: 2, procs: 6, base: 4}, {user: 3, procs: 3, base: 3},
			{reserve: -1, procs: 3, base: 3}}, false},
		{"set in between, then reserved again", 4, false, []step{{reserve: 2, procs: 6, base: 4}, {user: 3, procs: 3, base: 3},
			{reserve: 5, procs: 8, base: 3}, {reserve: -1, procs: 8, base: 3}, {reserve: -2, procs: 3, base: 3}}, false},
		{"set in between three", 4, false, []step{{reserve: 1, procs: 5, base: 4}, {reserve: 1, procs: 6, base: 4},
			{reserve: 1, procs: 7, base: 4}, {user: 5, procs: 5, base: 5}, {reserve: -1, procs: 5, base: 5},
			{reserve: -2, procs: 5, base: 5}, {reserve: -3, procs: 5, base: 5}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			rt := &fakeRuntime{procs: c.procs, standard: 4, env: c.env}
			l := &ledger{rt: rt}
			var sizes, epochs []int
			for i, s := range c.steps {
				switch {
				case s.reserve > 0:
					sizes = append(sizes, s.reserve)
					epochs = append(epochs, l.reserve(s.reserve))
				case s.reserve < 0:
					l.release(sizes[-s.reserve-1], epochs[-s.reserve-1])
				default:
					rt.set(s.user)
				}
				require.Equal(t, s.procs, rt.procs, "GOMAXPROCS after step %d", i)
				require.Equal(t, s.base, l.currentBase(), "base after step %d", i)
			}
			require.Equal(t, c.automatic, rt.automatic, "automatic updates")
		})
	}
}

func TestLedgerStopsTheWorldOnceAChange(t *testing.T) {
	rt := &fakeRuntime{procs: 4, standard: 4}
	l := &ledger{rt: rt}
	epoch := l.reserve(2)
	require.Equal(t, 1, rt.stops)
	l.release(2, epoch)
	require.Equal(t, 2, rt.stops)
}

func TestReserve(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	release := Reserve(3)
	require.Equal(t, before+3, runtime.GOMAXPROCS(0))
	require.Equal(t, before, Base())
	release()
	release()
	require.Equal(t, before, runtime.GOMAXPROCS(0))
	require.Equal(t, before, Base())
}
