package bench

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/testkit"
)

// possibleDeques returns the kinds that can be made.
func possibleDeques() (all []*DequeKind) {
	for i, k := range DequeKinds() {
		if testkit.Race && i%4 != 0 {
			continue // the tests of package deque cover that
		}
		if k.Check(2, 64, 0) == nil {
			all = append(all, k)
		}
	}
	return all
}

// tinyDeques returns a session that takes next to no time, of all experiments with these kinds.
func tinyDeques(kinds ...*DequeKind) (*DequeSession, *[]DequeResult) {
	results := new([]DequeResult)
	return &DequeSession{
		Experiments: DequeExperiments(), Kinds: kinds,
		Capacity: 64, Blocks: []int{1, 8}, Stolen: []int{0, 20}, Thieves: []int{1, 3}, Workers: 3,
		Trees: []Tree{{"fat", 9, 3, 1}, {"thin", 2, 1, 100}}, N: 200, Reps: 2, Seed: 1,
		Emit: func(r []DequeResult) error {
			*results = append(*results, r...)
			return nil
		},
	}, results
}

// TestDequeExperiments runs every experiment on every kind, or on three of them if quick. A figure is 0 if the cost of
// the clock, which is taken off, was measured in a bad moment.
func TestDequeExperiments(t *testing.T) {
	require.GreaterOrEqual(t, len(possibleDeques()), 3)
	kinds := possibleDeques()
	if testkit.Quick() {
		kinds = testkit.Draw(t, kinds, 1, 2)
	}
	for _, k := range kinds {
		testkit.Fits(t, func() string { return experimentsOn(t, k) })
	}
}

// experimentsOn runs every experiment on a kind, and says which figure is 0 that should not be.
func experimentsOn(t *testing.T, k *DequeKind) (wrong string) {
	s, results := tinyDeques(k)
	require.NoError(t, s.Run(context.Background()), k.Name)
	blocks := 1
	if k.Blocks {
		blocks = 2
	}
	points := 2 + 1 + 2 + 1 + 2 // of owner, latency, thieves, retries, tree
	require.Len(t, *results, points*blocks*s.Reps, k.Name)
	for _, r := range *results {
		require.True(t, r.Verified)
		require.Equal(t, k.Name, r.Deque)
		require.Equal(t, k.Blocks, r.Block > 0)
		for _, m := range r.Metrics {
			require.GreaterOrEqual(t, m.Value, 0.0, "%v: %s", r.DequePoint, m.Name)
		}
		// The first figure is the subject of the experiment.
		if r.Experiment != "retries" && r.Metrics[0].Value == 0 {
			wrong = fmt.Sprintf("%v: %s is 0", r.DequePoint, r.Metrics[0].Name)
		}
	}
	return wrong
}

// TestShareIsReached: the share to steal is reached and not exceeded, as the owner waits for the thief. Some items are
// stolen in any case. The whole share need not be reached in three cases: a run that was ended for lack of time, where
// the last round is a large part of few pushes; a run under the race detector; and pdqs, whose owner, not the thief,
// decides how often it deals. It deals once in about 16 operations, which is too seldom for half of the pushes. Where
// owner and thief have no cores of their own, one of several runs has to reach it.
func TestShareIsReached(t *testing.T) {
	for _, k := range possibleDeques() {
		testkit.Fits(t, func() (wrong string) {
			s, results := tinyDeques(k)
			s.Experiments, s.Stolen, s.Blocks, s.N = []*DequeExperiment{ownerExperiment}, []int{0, 5, 50}, []int{4}, 5000
			require.NoError(t, s.Run(context.Background()), k.Name)
			for _, r := range *results {
				require.Equal(t, "stolen-percent", r.Metrics[1].Name)
				reached := r.Metrics[1].Value
				require.LessOrEqual(t, reached, float64(r.Stolen), "%v", r.DequePoint)
				cut := r.WallNS >= runLimit.Nanoseconds()
				seldom := k.Name == deque.KindPDQS.String() && r.Stolen == 50
				whole := !cut && !seldom && !testkit.Race
				if r.Stolen > 0 && reached == 0 || whole && float64(r.Stolen)-reached > 2 {
					wrong = fmt.Sprintf("%v: stolen are %v%%", r.DequePoint, reached)
				}
			}
			return wrong
		})
	}
}

// brokenDeque is a deque that loses every hundredth item, or has it twice.
type brokenDeque struct {
	deque.Queue[Item]
	loses  bool
	pushes int
}

func (b *brokenDeque) Push(p *Item) deque.Effect {
	if b.pushes++; b.pushes%100 == 0 {
		if b.loses {
			return deque.Shown
		}
		b.Queue.Push(p)
	}
	return b.Queue.Push(p)
}

func brokenKind(loses bool) *DequeKind {
	return &DequeKind{
		Name: "broken",
		Open: func(n, capacity, _ int) (queues []deque.Queue[Item], err error) {
			g, err := deque.NewGroup[Item](deque.KindLocked, n, deque.Options{Capacity: capacity})
			for i := range n {
				queues = append(queues, &brokenDeque{Queue: g.Queue(i), loses: loses})
			}
			return queues, err
		},
		Check: func(int, int, int) error { return nil },
	}
}

// TestBrokenDeque: every experiment detects a deque that loses or doubles items, and reports no figure of it.
func TestBrokenDeque(t *testing.T) {
	defer func(d time.Duration) { stallLimit = d }(stallLimit)
	stallLimit = 100 * time.Millisecond // until then the threads look for work
	for _, loses := range []bool{true, false} {
		if !loses && testkit.Race {
			continue // two threads that have the same item are a data race
		}
		for _, e := range DequeExperiments() {
			s, results := tinyDeques(brokenKind(loses))
			s.Experiments = []*DequeExperiment{e}
			err := s.Run(context.Background())
			var wrong *WrongAnswer
			require.ErrorAs(t, err, &wrong, e.Name)
			require.Equal(t, e.Name, wrong.Workload)
			require.Regexp(t, `^wrong answer: \w+ on broken, .*: (item \d+ of \d+ came out (0|[2-9]|[0-9]{2,}) times|`+
				`nothing has happened for 100ms)$`, err.Error())
			require.Empty(t, *results)
		}
	}
}

func TestLedger(t *testing.T) {
	marked := func(taken ...uint32) ledger {
		l := newLedger(len(taken))
		for i := range l {
			l[i].taken = taken[i]
		}
		return l
	}
	require.NoError(t, marked(1, 1, 1, 0).check(3, 3))
	require.EqualError(t, marked(1, 0, 1, 0).check(3, 3), "item 2 of 3 came out 0 times")
	require.EqualError(t, marked(1, 2, 1, 0).check(3, 4), "item 2 of 3 came out 2 times")
	require.EqualError(t, marked(1, 1, 1, 1).check(3, 4), "item 4 of 3 came out 1 times")
	require.EqualError(t, marked(1, 1, 1, 0).check(3, 4), "4 items came out, 3 went in")
}

// TestDequeInterrupted interrupts runs that would take for ever.
func TestDequeInterrupted(t *testing.T) {
	defer func(d time.Duration) { runLimit = d }(runLimit)
	runLimit = testkit.Patience
	for _, e := range DequeExperiments() {
		s, results := tinyDeques(possibleDeques()[0])
		s.Experiments, s.N, s.Work, s.Trees = []*DequeExperiment{e}, 1<<22, []int{1 << 10}, []Tree{{"long", 1, 0, 1 << 20}}
		if e == ownerExperiment {
			s.N = 1 << 29 // the run does no work
			s.Stolen = []int{0}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 40*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, s.Run(ctx), context.DeadlineExceeded, e.Name)
		require.Empty(t, *results)
	}
}

// TestRunLimit: a run that takes too long ends early, with all figures. For a figure of 0 see TestDequeExperiments.
func TestRunLimit(t *testing.T) {
	defer func(d time.Duration) { runLimit = d }(runLimit)
	runLimit = 20 * time.Millisecond
	testkit.Fits(t, func() (wrong string) {
		s, results := tinyDeques(possibleDeques()[0])
		s.Experiments, s.N, s.Thieves, s.Reps = DequeExperiments()[:4], 1<<21, []int{1}, 1
		require.NoError(t, s.Run(context.Background()))
		require.Len(t, *results, 2+1+1+1)
		for _, r := range *results {
			require.Equal(t, 1<<21, r.N)
			require.Less(t, r.WallNS, testkit.Patience.Nanoseconds(), "%v", r.DequePoint)
			if r.Experiment != "retries" && !(r.Metrics[0].Value > 0) {
				wrong = fmt.Sprintf("%v: %s is %v", r.DequePoint, r.Metrics[0].Name, r.Metrics[0].Value)
			}
		}
		return wrong
	})
}

func TestParseTree(t *testing.T) {
	for s, size := range map[string]float64{
		"fat": 262657, "thin": 245760, "64:3": 266305, "2:3:1000": 15000, "1:4": 5, "7:0:3": 3, "3:1:1": 4,
	} {
		tree, err := ParseTree(s)
		require.NoError(t, err)
		require.Equal(t, size, tree.size(), s)
	}
	for s, want := range map[string]string{
		"":           `no tree "": there are fat, thin, and FANOUT:DEPTH`,
		"oak":        `no tree "oak"`,
		"2":          `no tree "2"`,
		"2:3:4:5":    `no tree "2:3:4:5"`,
		"2:x":        `no tree "2:x"`,
		"0:3":        "fanout and spine must be at least 1",
		"2:-1":       "the depth not negative",
		"2:3:0":      "fanout and spine must be at least 1",
		"2:28":       "tree 2:28 has more than 268435456 nodes: choose a smaller one",
		"9999:99999": "has more than",
	} {
		_, err := ParseTree(s)
		var bad *input.Error
		require.ErrorAs(t, err, &bad)
		require.ErrorContains(t, err, want)
	}
}

// TestTreeDefaults: nodes of trees have work, and blocks go up to a quarter of the capacity, whatever that is.
func TestTreeDefaults(t *testing.T) {
	blocks := func(s *DequeSession) (blocks []int) {
		require.NoError(t, s.validate())
		for _, r := range s.runs(treeExperiment) {
			require.Equal(t, TreeWork, r.Work)
			if r.Tree == "fat" {
				blocks = append(blocks, r.Block)
			}
		}
		return blocks
	}
	padws := slices.IndexFunc(DequeKinds(), func(k *DequeKind) bool { return k.Name == "padws" })
	s := &DequeSession{
		Experiments: []*DequeExperiment{treeExperiment}, Kinds: DequeKinds()[padws : padws+1],
		Capacity: 8192, Workers: 8, Reps: 1,
	}
	require.Equal(t, []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048}, blocks(s))
	s.Short = true
	require.Equal(t, []int{1, 8, 64, 512, 2048}, blocks(s))
	s.Capacity = 64
	require.Equal(t, []int{1, 8, 16}, blocks(s))
	s.Capacity = 3
	require.Equal(t, []int{1}, blocks(s))
	s.Capacity = 1 << 20
	require.Equal(t, []int{1, 8, 64, 512, 4096, 32768}, blocks(s))
	s.Work = []int{0, 7}
	s.Experiments = []*DequeExperiment{ownerExperiment, retriesExperiment}
	require.Len(t, s.runs(ownerExperiment), 3)
	require.Len(t, s.runs(retriesExperiment), 2*2)
}

// TestTreeShapes visits trees of all kinds. The run checks that each node is visited once.
func TestTreeShapes(t *testing.T) {
	for shape, refused := range map[string]bool{
		"1:0": false, "1:50": false, "2:0:70": false, "5:4": true, "3:2:20": true, "100:1:3": true,
	} {
		tree, err := ParseTree(shape)
		require.NoError(t, err)
		s, results := tinyDeques(DequeKinds()[1])
		s.Experiments, s.Trees, s.Capacity = []*DequeExperiment{treeExperiment}, []Tree{tree}, 3
		require.NoError(t, s.Run(context.Background()), shape)
		require.Len(t, *results, 2)
		require.Equal(t, "refused", (*results)[0].Metrics[2].Name)
		require.Equal(t, refused, (*results)[0].Metrics[2].Value > 0, shape)
	}
}
