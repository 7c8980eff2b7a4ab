package history

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A Scene is a deque or queue and the calls that each thread will make on it, once.
type Scene interface {
	// Play makes a thread's calls. All threads play at the same time.
	Play(thread int)
	// Judge returns, when all threads have played, the history and an error that says what is wrong with it.
	Judge() (*History, error)
}

// A Step is one call of a thread, with the dice for the Pause before it.
type Step struct {
	Kind Kind
	Dice uint32
}

// Steps draws n calls. The weights of the kinds are percentages.
func Steps(rng *rand.Rand, n int, weights map[Kind]int) []Step {
	steps := make([]Step, n)
	for i := range steps {
		kind := Push
		for r := rng.IntN(100) - weights[Push]; r >= 0; r -= weights[kind] {
			kind++
		}
		steps[i] = Step{kind, rng.Uint32()}
	}
	return steps
}

// Linearizable plays scenes: testkit.Count(t, quick) of them, an equal share with each number of threads in crews. It
// fails the test if a scene is judged to be wrong. It logs with testkit.Proved how many it has played, with what as the
// unit.
//
// The seed repeats the scenes, not the schedules of the threads: a failure prints its history.
func Linearizable(t *testing.T, quick int, what string, crews []int, draw func(rng *rand.Rand, threads int) Scene) {
	t.Helper()
	seed := testkit.Seed(t)
	n := testkit.Count(t, quick)
	proved := 0
	for i, threads := range crews {
		t.Run(fmt.Sprintf("threads=%d", threads), func(t *testing.T) {
			share := n / len(crews)
			if i < n%len(crews) {
				share++
			}
			tally := playAll(t, seed, threads, share, draw)
			t.Log(tally)
			// On a single core a thread is hardly ever suspended in the middle of a call: there the tally alone tells.
			if share >= 1000 && runtime.NumCPU() > 1 {
				require.Positive(t, tally.overlapping, "no two calls overlapped, which shows nothing")
			}
			proved += share
		})
	}
	testkit.Proved(t, proved, what)
}

// playAll plays and judges n scenes.
func playAll(t testing.TB, seed uint64, threads, n int, draw func(rng *rand.Rand, threads int) Scene) *Tally {
	t.Helper()
	crew := NewCrew(t, threads)
	const batch = 100
	tally := &Tally{}
	for first := 0; first < n; first += batch {
		rng := rand.New(rand.NewPCG(seed, uint64(first)))
		scenes := make([]Scene, min(batch, n-first))
		for i := range scenes {
			scenes[i] = draw(rng, threads)
		}
		crew.Play(len(scenes), func(thread, i int) { scenes[i].Play(thread) })
		for i, s := range scenes {
			h, err := s.Judge()
			if err != nil {
				t.Fatalf("history %d: %v", first+i, err)
			}
			tally.Add(h)
		}
	}
	return tally
}
