package workloads

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/plan"
)

// planOf returns the plan of the graph of w.
func planOf(w Work) (*plan.Plan, error) {
	g := graph.New("test")
	w.Build(g, w.Body)
	return plan.Of(g)
}

func TestShapes(t *testing.T) {
	tests := []struct {
		w     *Workload
		n     int
		tasks int
		edges [][2]uint32
	}{
		{chain, 1, 1, nil},
		{chain, 4, 4, [][2]uint32{{0, 1}, {1, 2}, {2, 3}}},
		{btree, 1, 1, nil},
		{btree, 6, 6, [][2]uint32{{0, 1}, {0, 2}, {1, 3}, {1, 4}, {2, 5}}},
		{btree, 7, 7, [][2]uint32{{0, 1}, {0, 2}, {1, 3}, {1, 4}, {2, 5}, {2, 6}}},
		{fan, 1, 3, [][2]uint32{{0, 1}, {1, 2}}},
		{fan, 3, 5, [][2]uint32{{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}, {3, 4}}},
		{matmul, 1, 4, [][2]uint32{{0, 2}, {1, 2}, {2, 3}}},
		{matmul, 2, 7, [][2]uint32{{0, 4}, {1, 4}, {2, 4}, {3, 4}, {4, 5}, {4, 6}}},
		{dag, 1, 1, nil},
		{dag, 3, 3, nil}, // the first draws all lead beyond the last task
	}
	for _, tt := range tests {
		tasks, err := planOf(tt.w.Make(tt.n, 42))
		require.NoError(t, err)
		require.Equal(t, tt.tasks, tasks.Len(), "%s, n=%d", tt.w.Name, tt.n)
		var edges [][2]uint32
		for _, e := range tasks.EdgeList() {
			edges = append(edges, [2]uint32{e.From, e.To})
		}
		require.Equal(t, tt.edges, edges, "%s, n=%d", tt.w.Name, tt.n)
	}
}

// TestShapePrediction compares Shape with the result of Build: the estimate of memory depends on it.
func TestShapePrediction(t *testing.T) {
	for _, w := range Graphs() {
		for _, n := range []int{1, 2, 3, 10, 100, 3000} {
			tasks, err := planOf(w.Make(n, 7))
			require.NoError(t, err)
			shape := w.Shape(n)
			require.EqualValues(t, shape.Tasks, tasks.Len(), "%s, n=%d", w.Name, n)
			if w == dag { // Shape is a bound, close for large n only
				require.LessOrEqual(t, float64(tasks.Edges()), shape.Edges, "n=%d", n)
			} else {
				require.EqualValues(t, shape.Edges, tasks.Edges(), "%s, n=%d", w.Name, n)
			}
		}
	}
}

// TestDagFigures pins the two graphs whose figures can be compared: the published default, and one small enough to
// check against an independent program.
func TestDagFigures(t *testing.T) {
	tests := []struct {
		n, edges, sources int
	}{
		{4000000, 12868665, 73245},
		{10000, 30763, 424},
	}
	for _, tt := range tests {
		in := make([]int, tt.n)
		out := make([]int, tt.n)
		edges := 0
		(&dagWork{n: tt.n, seed: 42}).edges(func(from, to int) {
			if from >= to || to-from > dagReach {
				t.Fatalf("edge %d→%d", from, to)
			}
			edges++
			in[to]++
			out[from]++
		})
		sources := 0
		for i := range in {
			if in[i] > 4 || out[i] > 4 {
				t.Fatalf("task %d has %d predecessors and %d successors", i, in[i], out[i])
			}
			if in[i] == 0 {
				sources++
			}
		}
		require.Equal(t, tt.edges, edges, "n=%d", tt.n)
		require.Equal(t, tt.sources, sources, "n=%d", tt.n)
		require.InEpsilon(t, dag.Shape(tt.n).Edges, float64(edges), 0.1, "n=%d", tt.n)
	}
}

// TestDagBuild: the ring of handles follows the edges, so the built graph has the edges that were drawn.
func TestDagBuild(t *testing.T) {
	for _, n := range []int{2, 1000, 1025, 5000} {
		w := dag.Make(n, 3).(*dagWork)
		var drawn []plan.Edge
		w.edges(func(from, to int) { drawn = append(drawn, plan.Edge{From: uint32(from), To: uint32(to)}) })
		tasks, err := planOf(w)
		require.NoError(t, err)
		require.Len(t, drawn, tasks.Edges())
		for i, e := range tasks.EdgeList() { // ascending by task, as drawn
			if e != drawn[i] {
				t.Fatalf("n=%d: edge %d is %v, drawn was %v", n, i, e, drawn[i])
			}
		}
	}
}

func TestSplitmix64(t *testing.T) {
	// From the reference implementation.
	rng := splitmix64(1234567)
	for _, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431} {
		require.Equal(t, want, rng.next())
	}
}

// TestVerify runs each workload correctly, and then with one task left out.
func TestVerify(t *testing.T) {
	for _, w := range Graphs() {
		work := w.Make(50, 42)
		tasks, err := planOf(work)
		require.NoError(t, err)
		funcs := tasks.Funcs
		walk := func(leaveOut int) error {
			work.Reset()
			p := *tasks
			p.Funcs = append([]plan.Func(nil), funcs...)
			if leaveOut >= 0 {
				p.Funcs[leaveOut] = empty
			}
			ran, err := plan.NewSerial(&p).Run(context.Background())
			require.NoError(t, err)
			require.Equal(t, p.Len(), ran)
			return work.Verify()
		}
		require.NoError(t, walk(-1), w.Name)
		require.NoError(t, walk(-1), "%s, once more", w.Name)
		for task := range funcs {
			if sameAsEmpty(w, task) {
				continue
			}
			require.Error(t, walk(task), "%s without task %d", w.Name, task)
		}
	}
}

// sameAsEmpty reports whether a task does nothing even when it runs.
func sameAsEmpty(w *Workload, task int) bool {
	return w == btree || w == fan || w == matmul && task == 2*50
}

func TestShapeBytes(t *testing.T) {
	require.Equal(t, 1e6*bytesPerTask+2e6*bytesPerEdge+5.0, Shape{Tasks: 1e6, Edges: 2e6, Data: 5}.Bytes())
}
