package workloads

import (
	"math"

	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/plan"
)

// A Workload is a kind of task graph, of program, or of list of tasks, that can be made in many sizes.
type Workload struct {
	Name    string
	About   string // one line
	Size    string // the unit of n
	Default int    // n of a full measurement
	Tour    int    // n in the tour; 0: it is not in the tour
	Most    int    // the largest n; 0: bounded by memory and patience only
	Sizes   []int  // the only n that a session takes; nil: any
	Small   int    // n of an instance that runs within milliseconds; 0: 1 to 12, with few tasks
	Params  []*Param

	// Profiles says that the programs implement [Teamwork], so that their work and span can be measured.
	Profiles bool

	// Shape returns the extent of the instance of size n.
	Shape func(n int) Shape
	// ShapeOf is Shape for values of Params other than the defaults; nil: the values do not matter.
	ShapeOf func(n int, v Values) Shape
	// Make returns the instance of size n if it is a graph. The seed is that of its random choices.
	Make func(n int, seed uint64) Work
	// Program returns the instance of size n, with the values of Params, if it is a program.
	Program func(n int, seed uint64, v Values) (Program, error)
	// Division returns an instance, without its inputs, if it is a list of tasks. Exactly one of Make, Program and
	// Division is not nil.
	Division func() Division
	Parts    int // of a division: the number of its tasks; 0: n
}

// A Shape is the extent of a graph or program, known before it is made. The counts are floats, which do not wrap around
// for an impossible size.
type Shape struct {
	Tasks float64 // for a program: the number by which its time is divided
	Edges float64 // or an upper bound
	Width float64 // the maximum of tasks ready at once; for a program: of goroutines, with one for each task
	Data  float64 // bytes that the tasks work on
}

// A Work is one instance of a workload that is a graph: the way to build the graph, and the data that its tasks share.
// The tasks of a Work run once between a Reset and a Verify.
type Work interface {
	// Build adds the tasks and the edges to g. Task i, in the order of adding, gets the body body(i), which is Body(i)
	// or that of an order check.
	Build(g *graph.Graph, body func(i int) plan.Func)
	// Body returns the body of task i in a timed run.
	Body(i int) plan.Func
	// Reset restores the data from before the first run.
	Reset()
	// Verify returns an error if a run has left wrong data.
	Verify() error
}

// The memory per task and edge while a workload is built and run. A task of the order check takes: its function (8
// bytes) with a closure (24) and a stamp (4), the plan (8), the run state (32), the counters of the engines serial and
// goroutines (8). An edge takes 8 bytes in the builder and 4 in the plan.
const (
	bytesPerTask = 84
	bytesPerEdge = 12
)

// Bytes estimates the peak memory of building and running such a graph, without what engines need besides.
func (s Shape) Bytes() float64 { return s.Tasks*bytesPerTask + s.Edges*bytesPerEdge + s.Data }

// IsProgram reports whether the instances are programs.
func (w *Workload) IsProgram() bool { return w.Program != nil }

// IsDivision reports whether the instances are lists of tasks.
func (w *Workload) IsDivision() bool { return w.Division != nil }

// ShapeWith returns the extent of the instance of size n with the values v.
func (w *Workload) ShapeWith(n int, v Values) Shape {
	if w.ShapeOf != nil {
		return w.ShapeOf(n, v)
	}
	return w.Shape(n)
}

// GraphShape returns the shape of a graph whose tasks have no data.
func GraphShape(tasks, edges, width float64) Shape {
	return Shape{Tasks: tasks, Edges: math.Max(edges, 0), Width: width}
}
