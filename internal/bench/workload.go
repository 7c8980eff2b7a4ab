package bench

import (
	"math"

	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/plan"
)

// A Workload is a kind of task graph, or of program, that can be made in many sizes.
type Workload struct {
	Name    string
	About   string // one line
	Size    string // what n counts
	Default int    // n of a full measurement
	Tour    int    // n in the tour; 0: it is not part of it
	Most    int    // the largest n; 0: what memory and patience allow

	// Shape says how large the instance of size n is.
	Shape func(n int) Shape
	// Make returns the instance of size n if it is a graph. The seed is for what is random in it.
	Make func(n int, seed uint64) Work
	// Program returns the instance of size n if it is a program. Make is nil then, and Program otherwise.
	Program func(n int, seed uint64) Program
}

// A Shape is the extent of a graph or program, known before it is made. The counts are floats: a size that nobody could
// make must not wrap around.
type Shape struct {
	Tasks float64 // of a program: what its time is divided by
	Edges float64 // or an upper bound
	Width float64 // how many tasks can be ready at once, at most; of a program: goroutines if each task is one
	Data  float64 // bytes that the tasks work on
}

// A Work is one instance of a workload: how its graph is described, and the data that its tasks share. The tasks of a
// Work are run once between a Reset and a Verify.
type Work interface {
	// Build adds the tasks and the edges to g. Task number i, in the order they are added, gets the body body(i), which
	// is Body(i) or that of an order check.
	Build(g *graph.Graph, body func(i int) plan.Func)
	// Body is what task i does in a timed run.
	Body(i int) plan.Func
	// Reset makes the data what it was before the first run.
	Reset()
	// Verify says what a run has left wrong in the data.
	Verify() error
}

// Memory per task and edge while a workload is built and run. A task of the order check takes: its function (8 bytes)
// with a closure (24) and a stamp (4), the plan (8), the run state (32), the counters of the engines serial and
// goroutines (8). An edge takes 8 bytes in the builder and 4 in the plan.
const (
	bytesPerTask = 84
	bytesPerEdge = 12
)

// Bytes estimates the memory that building and running such a graph takes at its peak, besides what [Engine.Bytes] says.
func (s Shape) Bytes() float64 { return s.Tasks*bytesPerTask + s.Edges*bytesPerEdge + s.Data }

// Workloads lists the workloads: graphs, in the order of the tour, and then programs.
func Workloads() []*Workload { return append(graphs(), programs()...) }

// graphs lists the workloads that are graphs.
func graphs() []*Workload { return []*Workload{chain, btree, dag, fan, matmul} }

// IsProgram reports whether the instances are programs.
func (w *Workload) IsProgram() bool { return w.Program != nil }

// axes are those of asked in which runs of w differ.
func (w *Workload) axes(asked Axes) Axes {
	if w.IsProgram() {
		return asked
	}
	return asked.withoutForks()
}

// shapeOf is the shape of a graph whose tasks have no data.
func shapeOf(tasks, edges, width float64) Shape {
	return Shape{Tasks: tasks, Edges: math.Max(edges, 0), Width: width}
}
