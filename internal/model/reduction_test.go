package model

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// isCutOff reports whether an execution of ends was cut off, by a race or at the limit of steps. It then does not show
// what would have been in a race with the rest of it, and the search does not look for more: it ends there.
func isCutOff(ends []end) bool {
	return slices.ContainsFunc(ends, func(e end) bool {
		return strings.HasPrefix(e.failure, "data race") || strings.HasPrefix(e.failure, "livelock")
	})
}

// bothWays explores s with and without equivalent interleavings, under each bound, and requires the same ends both
// ways, or executions that are cut off both ways. If all states are visited, the ends must be the same in any case. It
// returns the ends under no bound, and the numbers of executions with equivalent ones and without.
func (s script) bothWays(t *testing.T, steps int) (ends []end, all, taken int) {
	t.Helper()
	for _, bound := range []int{0, 1, 2, 3, -1} {
		want, full := s.ends(Config{Preemptions: bound, Steps: steps, Full: true})
		got, some := s.ends(Config{Preemptions: bound, Steps: steps})
		states, _ := s.ends(Config{Preemptions: bound, Steps: steps, States: true})
		require.Equal(t, want, states, "script %v, bound %d, %d steps", s, bound, steps)
		if isCutOff(want) {
			require.True(t, isCutOff(got), "script %v, bound %d, %d steps", s, bound, steps)
		} else {
			require.Equal(t, want, got, "script %v, bound %d, %d steps", s, bound, steps)
		}
		ends, all, taken = want, all+full, taken+some
	}
	return ends, all, taken
}

// TestReductionLosesNothing: without equivalent interleavings threads observe the same values and executions fail in
// the same ways, under any bound. Together the scripts have all instructions.
func TestReductionLosesNothing(t *testing.T) {
	left := make(map[string]bool)
	for _, i := range instructions {
		left[i.name] = true
	}
	var all, taken int
	for _, c := range []struct {
		script string
		steps  int
		fails  []string // the beginnings of the failures with which executions end, besides those that end well
	}{
		{"add0 add0 add0 add0 | add1 add1 add1 | add2 add2 add2", 100, nil},
		{"load0 set1 | cas0 load1 | add0", 100, nil},
		{"load0 set0 cas1 | load1 add1 load0 | load1 load1", 100, nil},
		{"add1 set1 cas1 clear1 load0 | clear1 add0 spin0 add1", 100, nil},
		{"cas0 clear0 | cas0 load1 | cas0", 100, nil},
		{"choose0 set0 | choose0 load0 choose0", 100, nil},
		{"pick0 load1 | set1 giveway0", 100, nil},
		{"giveway0 load0 giveway0 load0 | giveway0 set0 giveway0 | add0", 100, nil},
		{"look0 look1 | set0 look0 | set1", 100, nil},
		{"spin0 add1 | spin1 | set0 spin1", 100, nil},
		{"yield0 yield0 add1 | add0 add0 load1 load1 | load1", 100, []string{
			"deadlock: thread 0 waits, thread 1 waits"}},
		{"await0 cas1 | await1 clear0 | set0 cas1", 100, []string{"deadlock: thread 0 waits, thread 1 waits"}},
		{"calm0 load0 | add0 load1 | calm1", 100, nil},
		{"calmly0 load1 | add1 load1 | set0 load1", 100, nil},
		// The pick comes in the other thread's calm, or before it.
		{"add0 calmly1 set2 add0 | load1 pick0 set1 | await2 load0", 100, nil},
		{"start0 load1 | start1 load0", 100, nil},
		// What follows the choice is noticed, although no operation comes in between.
		{"load0 | load1 maycalm0", 100, nil},
		{"load2 mayawait0 | set0 clear0", 100, []string{"deadlock: thread 0 waits, thread 1 waits"}},
		{"load0 mayend0 set1 | load1 load0", 100, nil},
		{"add2 either0 load2 | load2 set2 | set1 load2", 100, nil},
		{"lock0 load0 | lock0 | set0 lock0", 100, nil},
		{"hold0 load1 | hold0 | set0 set1", 100, nil},
		{"wait0 load1 | doze0 load1 | set0 wake0 wake0", 100, nil},
		{"wait0 load1 | wake0 set0 | wait0", 100, []string{
			"deadlock: thread 0 sleeps",
			"deadlock: thread 0 sleeps, thread 1 sleeps",
			"deadlock: thread 0 waits, thread 1 sleeps",
		}},
		{"doze0 doze0 | set0 wake0 doze0", 100, nil},
		{"doze1 doze0 set0 set1 | add1 write0 clear0", 100, []string{"deadlock: thread 0 waits, thread 1 sleeps"}},
		{"write0 set1 | read0 load1 | read0", 100, nil},
		{"write0 write1 | read0 read1", 100, []string{
			"data race: thread 0 comes to word w3, which thread 1 has written",
			"data race: thread 1 comes to word w3, which thread 0 has read",
		}},
		{"load0 look0 | add1 look1 | set0", 6, []string{"livelock: no end after 6 operations"}},
	} {
		s := parse(c.script)
		ends, full, some := s.bothWays(t, c.steps)
		failed := make(map[string]bool)
		for _, e := range ends {
			what, _, _ := strings.Cut(e.failure, ", plainly")
			failed[what] = true
		}
		require.ElementsMatch(t, append(c.fails, ""), slices.Collect(maps.Keys(failed)), "script %v", s)
		for _, name := range slices.Concat(s...) {
			i, _ := find(name)
			delete(left, i.name)
		}
		all, taken = all+full, taken+some
	}
	require.Empty(t, left, "no script has these instructions")
	t.Logf("%d of %d executions", taken, all)
	require.Less(t, 2*taken, all)
}

// TestReductionOfRandomPrograms is TestReductionLosesNothing for random scripts, some of which are cut off in the
// middle.
func TestReductionOfRandomPrograms(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	n := testkit.Count(t, 300)
	var all, taken int
	for range n {
		s, steps := draw(rng), 100
		if rng.IntN(4) == 0 {
			steps = 3 + rng.IntN(8)
		}
		_, full, some := s.bothWays(t, steps)
		all, taken = all+full, taken+some
	}
	t.Logf("%d scripts, %d of %d executions", n, taken, all)
}

// sleepers is a program in which threads spin, sleep and wake each other.
func sleepers(woken *[]string) func() {
	return func() {
		var order string
		flag, word := new(cell), new(cell)
		sleeper := func(name string) func() {
			return func() {
				FutexWait(word.p(), func() bool { return word.v == 0 }, true)
				flag.add(1)
				order += name // no step comes in between
			}
		}
		a, b := Go(sleeper("a")), Go(sleeper("b"))
		FutexWake(word.p())
		word.store(1)
		FutexWake(word.p())
		FutexWake(word.p())
		for flag.load() != 2 {
			Spin()
		}
		a()
		b()
		*woken = append(*woken, order)
	}
}

// TestReductionOfSleep is TestReductionLosesNothing for a program that spins, sleeps and wakes, and for the order in
// which its threads wake.
func TestReductionOfSleep(t *testing.T) {
	for _, bound := range []int{0, 1, 2, 3, -1} {
		var want, got []string
		full := Explore(Config{Preemptions: bound, Full: true}, sleepers(&want))
		reduced := Explore(Config{Preemptions: bound}, sleepers(&got))
		require.Nil(t, full.Failure)
		require.Nil(t, reduced.Failure)
		slices.Sort(want)
		slices.Sort(got)
		require.Equal(t, slices.Compact(want), slices.Compact(got), "bound %d", bound)
		t.Logf("bound %d: %d of %d executions", bound, reduced.Executions, full.Executions)
	}
}
