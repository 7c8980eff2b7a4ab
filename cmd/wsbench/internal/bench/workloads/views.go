package workloads

// mandelbrotViews is document 001's Mandelbrot set: rows differ, and the larger the number of the view, the more.
var mandelbrotViews = &Workload{
	Name:    "mandelbrot-views",
	About:   "n×n picture of the Mandelbrot set in ranges of rows, 256 steps at most; -view 0 to 6, ever more uneven",
	Size:    "rows and columns",
	Default: 1024,
	Parts:   64,
	Params:  []*Param{viewParam},
	Shape: func(n int) Shape {
		return Shape{Tasks: float64(n), Data: 2 * float64(n) * float64(n)}
	},
	Division: func() Division { return new(viewsDivision) },
}

var viewParam = IntParam("view", "V", 1, 0, len(views)-1, "the view of mandelbrot-views: the larger, the more uneven")

// views are the squares that the pictures show: the document names views and does not describe them. View 0 is the one
// of the workload mandelbrot. Each following one shows the set smaller, and lower: fewer rows have most of the steps.
var views = [7]struct{ left, top, side float64 }{
	{-2, -1.25, 2.5},
	{-2.5, -1.5, 3.5},
	{-3, -1.75, 4.5},
	{-3.5, -2, 6},
	{-4.5, -2.5, 8},
	{-6, -3, 11},
	{-8, -3.5, 16},
}

type viewsDivision struct {
	mandelbrotProgram
	view int
}

// Inputs implements Division.
func (v *viewsDivision) Inputs(n int, _ uint64, p Values) {
	v.mandelbrotProgram = mandelbrotProgram{n: n, steps: make([]uint16, n*n)}
	v.view = value[int](p, viewParam)
	v.Work(Part{From: 0, To: n})
	v.want = v.checksum()
}

// Tasks implements Division.
func (v *viewsDivision) Tasks(count int) []Part { return cut(v.n, count) }

// Work implements Division.
func (v *viewsDivision) Work(p Part) bool {
	view := views[v.view]
	scale := view.side / float64(v.n)
	for y := p.From; y < p.To; y++ {
		mandelbrotRow(v.steps[y*v.n:(y+1)*v.n], view.left, view.top+float64(y)*scale, scale)
	}
	return false
}
