package model

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// outcomes explores a random program of three threads and returns what its threads saw, over all executions.
func outcomes(cfg Config, seed uint64) (seen []string, res Result) {
	distinct := make(map[string]bool)
	res = Explore(cfg, func() {
		rng := rand.New(rand.NewPCG(seed, 0)) // the same program in every execution
		words := []*cell{new(cell), new(cell)}
		lock := new(cell)
		var joins []func()
		var logs [3][]int
		for id := range logs {
			var script []int
			for range 2 + rng.IntN(2) {
				script = append(script, rng.IntN(6))
			}
			at := rng.IntN(2)
			run := func() {
				note := func(v int) { logs[id] = append(logs[id], v) }
				for i, op := range script {
					w := words[(at+i)%2]
					switch op {
					case 0, 1:
						note(w.load())
					case 2:
						w.store(10*id + i)
					case 3:
						w.add(100)
					case 4:
						Block(Lock, lock.p(), func() bool { return lock.v == 0 })
						lock.v = 1
						Done(Lock, lock.p())
						note(w.load())
						w.store(-id)
						lock.store(0)
					case 5:
						note(Choose(2))
					}
				}
			}
			if id == 2 {
				run()
				break
			}
			joins = append(joins, Go(run))
		}
		for _, join := range joins {
			join()
		}
		distinct[fmt.Sprint(logs, words[0].v, words[1].v)] = true
	})
	for s := range distinct {
		seen = append(seen, s)
	}
	slices.Sort(seen)
	return seen, res
}

// TestReductionLosesNothing: whatever threads of a random program can see, under any bound, they are seen to see when
// equivalent interleavings are left out. Most interleavings are.
func TestReductionLosesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	var all, taken int
	for range 60 {
		seed := rng.Uint64()
		for _, bound := range []int{0, 1, 2, 3, -1} {
			want, full := outcomes(Config{Preemptions: bound, Full: true}, seed)
			got, reduced := outcomes(Config{Preemptions: bound}, seed)
			require.Nil(t, full.Failure)
			require.Nil(t, reduced.Failure)
			require.Equal(t, want, got, "program %d, bound %d", seed, bound)
			all += full.Executions
			taken += reduced.Executions
		}
	}
	t.Logf("%d of %d executions", taken, all)
	require.Less(t, 2*taken, all)
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
				order += name // no step comes between
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

// The same for a program that spins, sleeps and wakes.
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
