package sta

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/circuit"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/plan"
	"github.com/magpie-go/magpie/internal/testkit"
)

func read(t testing.TB, text string) *circuit.Circuit {
	c, err := circuit.ReadBench("x.bench", strings.NewReader(text))
	require.NoError(t, err)
	return c
}

// TestByHand compares times with those computed by hand.
func TestByHand(t *testing.T) {
	c := read(t, "INPUT(a)\nINPUT(b)\nOUTPUT(y)\nn = NAND(a, b)\ny = NOT(n)\nz = NOR(n, y, b)")
	timer := New(c, 30, 1)
	n, y, z := circuit.Net(2), circuit.Net(3), circuit.Net(4)
	check := func(net circuit.Net, slew, delay, arrival, required float64) {
		t.Helper()
		got := timer.of(net)[0]
		require.InDelta(t, slew, got.slew, 1e-9)
		require.InDelta(t, delay, got.delay, 1e-9)
		require.InDelta(t, arrival, got.arrival, 1e-9)
		if math.IsInf(required, 1) {
			require.Equal(t, required, got.required)
		} else {
			require.InDelta(t, required, got.required, 1e-9)
		}
	}
	// n drives a NOT, 1.0 + 0.4, and a NOR of three inputs, 1.2×1.5 + 0.4. y drives that, and is an output.
	check(n, 1.4*3.8*3.6+0.1*10, 7+3.8*3.6+0.2*10, 22.68, 30-26.6304)
	check(y, 1.4*3*6.2+0.1*20.152, 4+3*6.2+0.2*20.152, 22.68+26.6304, 30)
	check(z, 0.1*28.0552, 9*1.5+0.2*28.0552, 22.68+26.6304+19.11104, math.Inf(1))
	check(0, 10, 0, 0, 30-26.6304-22.68)
	worst, total := timer.Slack()
	require.InDelta(t, -19.3104, worst, 1e-9)
	require.InDelta(t, -19.3104, total, 1e-9)
	require.InDelta(t, 49.3104, timer.Latest(), 1e-9)

	timer.Resize(y, 2)
	timer.Update().Serial()
	check(n, 1.4*3.8*4.6+0.1*10, 7+3.8*4.6+0.2*10, 26.48, 30-18.3944)
	check(y, 1.4*9.3+0.1*25.472, 4+9.3+0.2*25.472, 26.48+18.3944, 30)
}

// circuits returns circuits of all forms: c6288, random ones, and one with a cone that ends without an output.
func circuits(t testing.TB) []*circuit.Circuit {
	all := []*circuit.Circuit{
		circuit.C6288(),
		circuit.C6288Mapped(),
		circuit.TV80(1),
		read(t, "INPUT(a)\nOUTPUT(y)\ny = NOT(a)"),
		read(t, "INPUT(a)\nOUTPUT(y)\ny = XOR(a, a)\nz = AND(y, y, a)\nq = DFF(z)\nw = OR(q, y, q)\nv = BUF(w)"),
	}
	for seed := range uint64(10) {
		all = append(all, circuit.Generate("random", circuit.Size{
			Inputs: 3, Outputs: 12, Gates: 60, Depth: 5 + int(seed), Reach: 1 + int(seed%3)*5,
		}, seed))
	}
	return all
}

// A tried is a circuit whose timing is tried, with a spare gate for each net or without.
type tried struct {
	*circuit.Circuit
	spread *circuit.Spread
}

// bothForms returns each circuit without and with spare gates.
func bothForms(all []*circuit.Circuit) (both []tried) {
	for _, c := range all {
		s := circuit.SpreadOf(c)
		both = append(both, tried{c, nil}, tried{s.Circuit, s})
	}
	return both
}

// change makes random changes, mostly one.
func change(rng *rand.Rand, t *Timer, c tried) {
	changer := NewChanger(t, c.spread, rng.Uint64)
	for range 1 + max(0, rng.IntN(6)-3) {
		changer.Next()
	}
}

// TestUpdates: after every update the timing is that of a full analysis, however the update was run.
func TestUpdates(t *testing.T) {
	ctx := context.Background()
	run := map[string]func(u *Update) error{
		"serial": func(u *Update) error { u.Serial(); return nil },
		"plan": func(u *Update) error {
			p, err := plan.Of(u.Graph())
			if err != nil {
				return err
			}
			_, err = plan.NewSerial(p).Run(ctx)
			return err
		},
	}
	for _, workers := range testkit.Part(t, []int{1, 2, 4}) {
		ex, err := executor.New(executor.Config{Workers: workers})
		require.NoError(t, err)
		defer func() { require.NoError(t, ex.Close()) }()
		run[fmt.Sprintf("%d workers", workers)] = func(u *Update) error { return ex.Run(ctx, u.Graph()) }
	}
	for i, c := range bothForms(circuits(t)) {
		full := New(c.Circuit, 300, 1+i%3)
		ops := min(200, 10000/c.Gates())
		for name, run := range run {
			rng := rand.New(rand.NewPCG(uint64(i), 5))
			timer := New(c.Circuit, 300, 1+i%3)
			for op := range ops {
				change(rng, timer, c)
				require.NoError(t, run(timer.Update()))
				full.Resemble(timer)
				n, differs := timer.FirstDifference(full)
				require.False(t, differs, "%s, operation %d on %s: net %s", c.Name, op, name, c.NameOf(n))
			}
		}
	}
}

// TestCones compares the cones with definitions by reachability, and the graph with what its tasks read and write.
func TestCones(t *testing.T) {
	for i, c := range bothForms(circuits(t)[3:]) {
		timer := New(c.Circuit, 300, 1+i%3)
		rng := rand.New(rand.NewPCG(uint64(i), 7))
		for range 30 {
			var before [][]circuit.Net
			for n := range circuit.Net(c.Len()) {
				before = append(before, timer.Fanin(n))
			}
			change(rng, timer, c)
			// The times of a gate whose size or inputs have changed, of what it reads, and of what it read.
			seeds := slices.Clone(timer.scratch.changed)
			reaches := reachability(timer)
			for n := range circuit.Net(c.Len()) {
				if !slices.Equal(before[n], timer.Fanin(n)) {
					for _, seed := range slices.Concat([]circuit.Net{n}, before[n], timer.Fanin(n)) {
						require.Contains(t, seeds, seed)
					}
				}
			}
			u := timer.Update()
			var forward, backward []circuit.Net
			for n := range circuit.Net(c.Len()) {
				if c.Kind(n) != circuit.Input && slices.ContainsFunc(seeds, func(s circuit.Net) bool {
					return c.Kind(s) != circuit.Input && reaches[s][n]
				}) {
					forward = append(forward, n)
				}
			}
			for n := c.Len() - 1; n >= 0; n-- {
				if slices.ContainsFunc(append(forward, seeds...), func(f circuit.Net) bool { return reaches[n][f] }) {
					backward = append(backward, circuit.Net(n))
				}
			}
			require.Equal(t, forward, u.forward)
			require.Equal(t, backward, u.backward)
			checkOrder(t, u)
			u.Serial()
		}
	}
}

// reachability returns for nets a and b whether there is a path from a to b.
func reachability(t *Timer) [][]bool {
	reaches := make([][]bool, t.circuit.Len())
	for n := len(reaches) - 1; n >= 0; n-- {
		reaches[n] = make([]bool, len(reaches))
		reaches[n][n] = true
		for _, to := range t.Fanout(circuit.Net(n)) {
			for m, r := range reaches[to] {
				reaches[n][m] = reaches[n][m] || r
			}
		}
	}
	return reaches
}

// checkOrder fails if a task of the graph does not come after those that write what it reads.
func checkOrder(t *testing.T, u *Update) {
	p, err := plan.Of(u.Graph())
	require.NoError(t, err)
	require.Equal(t, u.Tasks(), p.Len())
	require.LessOrEqual(t, p.Edges(), u.edges)
	after := make([][]bool, p.Len()) // after[a][b]: task b comes after task a
	for a := p.Len() - 1; a >= 0; a-- {
		after[a] = make([]bool, p.Len())
		for _, s := range p.Successors(uint32(a)) {
			require.Greater(t, int(s), a)
			after[a][s] = true
			for b, r := range after[s] {
				after[a][b] = after[a][b] || r
			}
		}
	}
	forward, backward := make(map[circuit.Net]int), make(map[circuit.Net]int)
	for i, n := range u.forward {
		forward[n] = i
	}
	for i, n := range u.backward {
		backward[n] = len(u.forward) + i
	}
	before := func(writers map[circuit.Net]int, written circuit.Net, reader int) {
		if w, ok := writers[written]; ok {
			require.True(t, after[w][reader], "task %d of %d, which it reads", reader, w)
		}
	}
	for gate, task := range forward {
		for _, from := range u.timer.Fanin(gate) {
			before(forward, from, task)
		}
	}
	for net, task := range backward {
		for _, to := range u.timer.Fanout(net) {
			before(forward, to, task)
			before(backward, to, task)
		}
	}
}

// TestSlackIsThatOfTheCriticalPath: the worst slack of any net is that of an output, and a path of nets with that slack
// leads from an input to it.
func TestSlackIsThatOfTheCriticalPath(t *testing.T) {
	for i, c := range bothForms(circuits(t)) {
		timer := New(c.Circuit, 300, 1+i%3)
		rng := rand.New(rand.NewPCG(uint64(i), 9))
		for range 50 {
			change(rng, timer, c)
		}
		timer.Update().Serial()
		worst, total := timer.Slack()
		slacks := func(corner int) func(n circuit.Net) float64 {
			return func(n circuit.Net) float64 { return timer.of(n)[corner].required - timer.of(n)[corner].arrival }
		}
		found, sum := 0, 0.0
		for corner := range timer.corners {
			slack := slacks(corner)
			critical := func(n circuit.Net) bool { return math.Abs(slack(n)-worst) < 1e-6 }
			for n := range circuit.Net(c.Len()) {
				require.GreaterOrEqual(t, slack(n), worst-1e-6)
				if !critical(n) {
					continue
				}
				found++
				require.True(t, c.Kind(n) == circuit.Input || slices.ContainsFunc(timer.Fanin(n), critical))
				require.True(t, c.IsOutput(n) || slices.ContainsFunc(timer.Fanout(n), critical))
			}
			for _, n := range c.Outputs() {
				sum += min(0, 300-timer.of(n)[corner].arrival)
			}
		}
		require.GreaterOrEqual(t, found, 2)
		require.InDelta(t, sum, total, 1e-6)
		require.InDelta(t, 300-timer.Latest(), worst, 1e-9)
	}
}

func TestCopy(t *testing.T) {
	timer := New(circuit.TV80(3), 500, 2)
	clone := timer.Copy()
	equal := func() bool {
		_, differs := timer.FirstDifference(clone)
		return !differs
	}
	require.True(t, equal())
	clone.Resize(1000, 3)
	clone.Update().Serial()
	require.EqualValues(t, 3, clone.Size(1000))
	require.EqualValues(t, 1, timer.Size(1000))
	require.False(t, equal())
	timer.Resemble(clone)
	require.True(t, equal())
	timer.Reset()
	require.EqualValues(t, 1, timer.Size(1000))

	clone.Resize(1000, 2)
	clone.Resemble(timer)
	require.Zero(t, clone.Update().Tasks(), "no update is pending")
	for _, spoil := range []func(n *timing){
		func(n *timing) { n.slew++ }, func(n *timing) { n.delay++ },
		func(n *timing) { n.arrival = math.Nextafter(n.arrival, 0) }, func(n *timing) { n.required-- },
	} {
		clone.Resemble(timer)
		spoil(&clone.of(2000)[1])
		n, differs := timer.FirstDifference(clone)
		require.True(t, differs)
		require.EqualValues(t, 2000, n)
	}
}

// TestCorners: the first is nominal, all are different and in their ranges.
func TestCorners(t *testing.T) {
	all := newCorners(64)
	require.Equal(t, corner{1, 1}, all[0])
	for i, c := range all {
		require.InDelta(t, 1, c.gate, 0.3)
		require.InDelta(t, 1, c.wire, 0.2)
		require.Equal(t, i, slices.Index(all, c))
	}
	// A corner's times do not depend on the other corners.
	one, more := New(circuit.TV80(1), 500, 1), New(circuit.TV80(1), 500, 5)
	for n := range circuit.Net(5000) {
		require.Equal(t, one.of(n)[0], more.of(n)[0])
		require.NotEqual(t, more.of(n + 400)[0], more.of(n + 400)[1])
	}
}

// BenchmarkUpdate shows what the parts of an update cost, per task of the graph.
func BenchmarkUpdate(b *testing.B) {
	for _, c := range []*circuit.Circuit{circuit.C6288(), circuit.TV80(42), circuit.B19(42)} {
		timer := New(c, 300, 16)
		for _, part := range []struct {
			name string
			do   func(u *Update)
		}{
			{"cones", func(*Update) {}},
			{"serial", (*Update).Serial},
			{"graph", func(u *Update) { _ = u.Graph() }},
		} {
			b.Run(c.Name+"/"+part.name, func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 2))
				tasks := 0
				b.ReportAllocs()
				for b.Loop() {
					timer.Resize(circuit.Net(c.Inputs()+rng.IntN(c.Gates())), 2)
					u := timer.Update()
					part.do(u)
					tasks += u.Tasks()
				}
				b.ReportMetric(float64(tasks)/float64(b.N), "tasks/op")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(tasks), "ns/task")
			})
		}
	}
}

// TestChanges: a change and its reverse leave the timing as it was, and every operation is drawn.
func TestChanges(t *testing.T) {
	s := circuit.SpreadOf(circuit.TV80(1))
	timer, before := New(s.Circuit, 500, 2), New(s.Circuit, 500, 2)
	equal := func() bool {
		timer.Update().Serial()
		_, differs := timer.FirstDifference(before)
		return !differs
	}
	gate := s.Net(2000)
	from := timer.Fanin(gate)[0]
	n, _ := s.Origin(from)
	spare := s.Spare(n)
	timer.Insert(spare, from, gate)
	require.False(t, equal())
	require.NotContains(t, timer.Fanin(gate), from)
	timer.Remove(spare)
	require.True(t, equal())
	timer.Connect(gate, 0)
	require.False(t, equal())
	timer.Disconnect(gate, 0)
	require.True(t, equal())
	require.Panics(t, func() { timer.Disconnect(gate, 1) }, "the gate does not read that")
	require.Panics(t, func() { timer.Connect(gate, gate+1) })

	rng := rand.New(rand.NewPCG(1, 2))
	changer := NewChanger(timer, s, rng.Uint64)
	var drawn [operations]int
	for range 2000 {
		drawn[changer.Next().Operation]++
	}
	for o, n := range drawn {
		require.Greater(t, n, 50, "operation %d", o)
	}
	timer.Reset()
	require.True(t, equal(), "Reset undoes all changes")
}
