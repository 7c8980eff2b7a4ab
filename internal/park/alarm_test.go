package park_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/park"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// onAlarms runs a test with each kind of Alarm.
func onAlarms(t *testing.T, test func(t *testing.T)) {
	t.Run("default", test)
	t.Run("without clocks", func(t *testing.T) { park.WithoutClocks(func() { test(t) }) })
}

// TestAlarm: a sleep lasts for its time from its own begin.
func TestAlarm(t *testing.T) {
	onAlarms(t, func(t *testing.T) {
		for _, d := range []time.Duration{0, time.Millisecond, 30 * time.Millisecond} {
			a := park.NewAlarm(d)
			for range 3 {
				begun := time.Now()
				testkit.Within(t, testkit.Patience, func() { require.True(t, a.Sleep()) })
				require.GreaterOrEqual(t, time.Since(begun), d)
				time.Sleep(d)
			}
			a.Cancel()
			require.False(t, a.Sleep())
			require.False(t, a.Sleep())
		}
	})
}

// TestAlarmCancelled: sleeps end when the Alarm is cancelled, before them, meanwhile, or around the end of one.
func TestAlarmCancelled(t *testing.T) {
	onAlarms(t, func(t *testing.T) {
		for _, d := range []time.Duration{time.Millisecond, time.Hour} {
			for range testkit.Scale(50) {
				a := park.NewAlarm(d)
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					for a.Sleep() {
					}
				}()
				time.Sleep(rand.N(3 * time.Millisecond))
				a.Cancel()
				testkit.Within(t, testkit.Patience, func() { <-ended })
			}
		}
	})
}

// TestAlarmAllocates: nothing, for it is part of what sharing the machine costs.
func TestAlarmAllocates(t *testing.T) {
	a := park.NewAlarm(time.Microsecond)
	defer a.Cancel()
	require.Zero(t, testing.AllocsPerRun(100, func() { a.Sleep() }))
}
