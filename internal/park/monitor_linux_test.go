//go:build linux && !magpie_portable_park && !modelcheck

package park_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/magpie-go/magpie/internal/park"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/stretchr/testify/require"
)

// TestMonitorTimer: after a sleep the timer is due within the first interval and again after another. Without a further
// sleep, two longer intervals are the last.
func TestMonitorTimer(t *testing.T) {
	const first, second, last = 10 * time.Millisecond, 100 * time.Millisecond, time.Second
	var sets []time.Duration
	during := func() {}
	m := park.NewMonitorTimer(func(d time.Duration) {
		sets = append(sets, d)
		during()
	})
	for _, step := range []struct {
		name string
		do   func()
		sets []time.Duration
	}{
		{"sleep", m.Note, []time.Duration{first}},
		{"another sleep", m.Note, nil},
		{"news", m.Expired, []time.Duration{first}},
		{"sleep", m.Note, []time.Duration{first}},
		{"news", m.Expired, []time.Duration{first}},
		{"no news", m.Expired, []time.Duration{second}},
		{"no news", m.Expired, []time.Duration{last}},
		{"sleep in the last interval", m.Note, []time.Duration{first}},
		{"news", m.Expired, []time.Duration{first}},
		{"no news", m.Expired, []time.Duration{second}},
		{"no news", m.Expired, []time.Duration{last}},
		{"no news", m.Expired, nil},
		{"sleep", m.Note, []time.Duration{first}},
		{"news", m.Expired, []time.Duration{first}},
		{"sleep while the timer expires without news", func() {
			during = func() {
				during = func() {}
				m.Note()
			}
			m.Expired()
		}, []time.Duration{second, first, first}},
		{"news", m.Expired, []time.Duration{first}},
		{"sleep while another thread is about to set the timer", func() {
			during = func() {
				during = func() {}
				m.Note()
			}
			m.Note()
		}, []time.Duration{first, first}},
		{"another sleep", m.Note, nil},
		{"news", m.Expired, []time.Duration{first}},
		{"sleep in a bubble", func() { synctest.Test(t, func(*testing.T) { m.Note() }) }, nil},
		{"sleep", m.Note, []time.Duration{first}},
	} {
		sets = nil
		step.do()
		require.Equal(t, step.sets, sets, step.name)
	}
}

// TestParkSetsTheMonitorTimer: a thread that goes to sleep sets the timer of the process, also when the timer has been
// left alone.
func TestParkSetsTheMonitorTimer(t *testing.T) {
	for range 2 {
		for park.Quiet() < park.LeftAlone {
			park.Expire()
		}
		var p park.Parker
		wait := onThread(p.Park)
		testkit.Until(t, "the timer is set, and expires", func() bool { return park.Quiet() < park.LeftAlone })
		p.Unpark()
		wait()
	}
}

// TestStopTheWorldBesideSleepers: the world stops in time while threads go to sleep. Without the timer it fails once in
// some twenty runs; TestMonitorTimer fails each time.
func TestStopTheWorldBesideSleepers(t *testing.T) {
	var parkers [3]park.Parker
	var over xatomic.Bool
	var waits []func()
	for i := range parkers {
		waits = append(waits, onThread(func() {
			for !over.Load() {
				parkers[i].Park()
			}
		}))
	}
	var stats runtime.MemStats
	begin := time.Now()
	for round := 0; time.Since(begin) < time.Duration(testkit.Scale(3000))*time.Millisecond; round++ {
		for i := range parkers {
			parkers[i].Unpark()
		}
		for range round % 4000 {
			_ = over.Load()
		}
		stop := time.Now()
		runtime.ReadMemStats(&stats)
		require.Less(t, time.Since(stop), testkit.Patience/2, "a stall lasts for a minute")
	}
	over.Store(true)
	for i := range parkers {
		parkers[i].Unpark()
		waits[i]()
	}
}
