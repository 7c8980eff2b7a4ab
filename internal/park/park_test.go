package park_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/internal/park"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/stretchr/testify/require"
)

// onThread runs f on an OS thread of its own; the returned function waits for its end.
func onThread(f func()) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		f()
	}()
	return func() { <-done }
}

func untilParked(p *park.Parker) {
	for !p.Parked() {
		runtime.Gosched()
	}
}

func TestUnparkBeforePark(t *testing.T) {
	testkit.Within(t, testkit.Patience, func() {
		var p park.Parker
		for range 3 {
			p.Unpark()
			require.True(t, p.Notified())
			p.Park()
			require.False(t, p.Notified(), "Park takes the permission")
			require.False(t, p.Parked())
		}
	})
}

func TestParkBeforeUnpark(t *testing.T) {
	testkit.Within(t, testkit.Patience, func() {
		var p park.Parker
		message := 0
		for round := 1; round <= 10; round++ {
			wait := onThread(p.Park)
			untilParked(&p)
			message = round // plain: what is before Unpark happens before the return of Park
			p.Unpark()
			wait()
			require.False(t, p.Notified())
			require.Equal(t, round, message)
		}
	})
}

// Many permissions are one: the second Park must sleep.
func TestPermissionsDoNotAddUp(t *testing.T) {
	testkit.Within(t, testkit.Patience, func() {
		var p park.Parker
		for range 5 {
			p.Unpark()
		}
		p.Park()
		var released xatomic.Bool
		wait := onThread(func() {
			p.Park()
			if !released.Load() {
				t.Error("the second Park returned without a permission of its own")
			}
		})
		untilParked(&p)
		released.Store(true)
		p.Unpark()
		wait()
	})
}

// A wake that brings no permission comes from a delayed wake of an earlier Unpark, or from the system.
func TestWakesForNothing(t *testing.T) {
	testkit.Within(t, testkit.Patience, func() {
		var p park.Parker
		for range testkit.Scale(200) {
			var released xatomic.Bool
			wait := onThread(func() {
				p.Park()
				if !released.Load() {
					t.Error("Park returned without a permission")
				}
			})
			untilParked(&p)
			for range 20 {
				p.WakeForNothing()
				require.True(t, p.Parked())
			}
			released.Store(true)
			p.Unpark()
			wait()
		}
		p.WakeForNothing() // no owner sleeps
		p.Unpark()
		p.Park()
	})
}

// Two threads pass one plain word to and fro. A lost permission hangs, and a permission too many is a race.
func TestPingPong(t *testing.T) {
	rounds := testkit.Scale(20000)
	if park.Kind != "futex" {
		rounds /= 10
	}
	var ping, pong park.Parker
	ball := 0
	testkit.Within(t, testkit.Patience, func() {
		wait := onThread(func() {
			for range rounds {
				ping.Park()
				ball++
				pong.Unpark()
			}
		})
		wait2 := onThread(func() {
			for range rounds {
				ball++
				ping.Unpark()
				pong.Park()
			}
		})
		wait()
		wait2()
	})
	require.Equal(t, 2*rounds, ball)
}

// Several threads unpark one. The parked thread looks at a count before it parks. A lost permission would leave it
// asleep after the last change of the count: a hang.
func TestManyUnparkOne(t *testing.T) {
	const unparkers = 3
	each := testkit.Scale(20000)
	var (
		p     park.Parker
		count xatomic.Int64
		parks int
		wg    sync.WaitGroup
	)
	testkit.Within(t, testkit.Patience, func() {
		wait := onThread(func() {
			for count.Load() != int64(unparkers*each) {
				p.Park()
				parks++
			}
		})
		for range unparkers {
			wg.Go(func() {
				for range each {
					count.Add(1)
					p.Unpark()
				}
			})
		}
		wg.Wait()
		wait()
	})
	require.LessOrEqual(t, parks, unparkers*each, "more parks returned than permissions were given")
}

func BenchmarkPingPong(b *testing.B) {
	var ping, pong park.Parker
	var over xatomic.Bool
	wait := onThread(func() {
		for {
			ping.Park()
			if over.Load() {
				return
			}
			pong.Unpark()
		}
	})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b.ReportAllocs()
	for b.Loop() {
		ping.Unpark()
		pong.Park()
	}
	over.Store(true)
	ping.Unpark()
	wait()
}

func BenchmarkUnparkPark(b *testing.B) {
	var p park.Parker
	b.ReportAllocs()
	for b.Loop() {
		p.Unpark()
		p.Park()
	}
}
