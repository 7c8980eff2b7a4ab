package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// competitor is the name of the disturbance by threads that compute.
const competitor = "competitor"

// disturbances lists all disturbances, with those that do not exist on this system or in this build.
func disturbances() []disturbance {
	return []disturbance{
		{name: "gc", begin: collect},
		{name: "gogc=1", begin: collectAlways},
		{name: "profile", begin: profile},
		{name: competitor, begin: compete},
		{name: "gomaxprocs", begin: changeGOMAXPROCS},
		signals,
		affinity,
		dawdling,
	}
}

// choose returns the disturbances in list: all, none, or names separated by commas.
func choose(all []disturbance, list string) ([]disturbance, error) {
	switch list {
	case "all":
		return all, nil
	case "none":
		return nil, nil
	}
	var chosen []disturbance
	var names []string
	for _, d := range all {
		names = append(names, d.name)
	}
next:
	for name := range strings.SplitSeq(list, ",") {
		for _, d := range all {
			if d.name != name {
				continue
			}
			if d.missing != "" {
				return nil, fmt.Errorf("%s: %s", name, d.missing)
			}
			chosen = append(chosen, d)
			continue next
		}
		return nil, fmt.Errorf("there is no chaos %q: one of %s; all or none", name, strings.Join(names, ", "))
	}
	return chosen, nil
}

// repeat calls f over and over on goroutines of their own until end is called.
func repeat(goroutines int, f func()) (end func()) {
	var stop atomic.Bool
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for !stop.Load() {
				f()
			}
		})
	}
	return func() {
		stop.Store(true)
		all.Wait()
	}
}

func collect(*soak, *rand.Rand) (end func(), err error) { return repeat(1, runtime.GC), nil }

// collectAlways makes the next collection due as soon as one is over, and makes garbage for it.
func collectAlways(_ *soak, rng *rand.Rand) (end func(), err error) {
	before := debug.SetGCPercent(1)
	stop := repeat(1, func() {
		litter(1 + rng.IntN(10_000))
		runtime.Gosched()
	})
	return func() {
		stop()
		debug.SetGCPercent(before)
	}, nil
}

// profile interrupts every thread that computes a hundred times a second.
func profile(*soak, *rand.Rand) (end func(), err error) {
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		return nil, fmt.Errorf("profile: %w; run without it", err)
	}
	return pprof.StopCPUProfile, nil
}

// compete runs threads that compute at the usual priority.
func compete(_ *soak, rng *rand.Rand) (end func(), err error) {
	var sum atomic.Uint64
	return repeat(1+rng.IntN(3), func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		x := uint64(1)
		for range 10_000 {
			x = x*6364136223846793005 + 1442695040888963407
		}
		sum.Store(x)
	}), nil
}

// changeGOMAXPROCS sets GOMAXPROCS, which executors have raised, lower and higher, as a program may that knows nothing
// of them. In the end it is the value from the beginning, or has room for workers.
func changeGOMAXPROCS(s *soak, rng *rand.Rand) (end func(), err error) {
	stop := repeat(1, func() {
		runtime.GOMAXPROCS(1 + rng.IntN(8))
		time.Sleep(time.Duration(1+rng.IntN(10)) * time.Millisecond)
	})
	return func() {
		stop()
		runtime.GOMAXPROCS(s.procs + 8*rng.IntN(2))
	}, nil
}

// saveGOMAXPROCS returns GOMAXPROCS. restore sets it again, and turns the runtime's automatic updates on again if they
// seem to have been on.
func saveGOMAXPROCS() (procs int, restore func()) {
	procs = runtime.GOMAXPROCS(0)
	return procs, func() {
		if os.Getenv("GOMAXPROCS") == "" {
			runtime.SetDefaultGOMAXPROCS()
		}
		if runtime.GOMAXPROCS(0) != procs {
			runtime.GOMAXPROCS(procs)
		}
	}
}
