package workloads

import (
	"context"
	"fmt"
	"sync"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
)

// mandelbrot is a loop whose iterations differ: rows through the middle of the set take many times as long as rows at
// its edge.
var mandelbrot = &Workload{
	Name:    "mandelbrot",
	About:   "n×n picture of the Mandelbrot set by parallel.For over its rows, which differ; figures are per row",
	Size:    "rows and columns",
	Default: 2048,
	Shape: func(n int) Shape {
		return Shape{Tasks: float64(n), Width: float64(n), Data: 2 * float64(n) * float64(n)}
	},
	Program: func(n int, _ uint64, _ Values) (Program, error) {
		m := &mandelbrotProgram{n: n, steps: make([]uint16, n*n)}
		m.Serial()
		m.want = m.checksum()
		return m, nil
	},
}

type mandelbrotProgram struct {
	n     int
	steps []uint16 // by pixel: the steps until it is known to lie outside
	want  uint64   // checksum of the picture
}

// mandelbrotSteps is the number of steps after which a pixel counts as part of the set.
const mandelbrotSteps = 256

// row computes a row of the square of side 2.5 around the set.
func (m *mandelbrotProgram) row(y int) {
	scale := 2.5 / float64(m.n)
	mandelbrotRow(m.steps[y*m.n:(y+1)*m.n], -2, float64(y)*scale-1.25, scale)
}

// mandelbrotRow computes pixels at the distance scale from each other, from left on, all with the imaginary part ci.
func mandelbrotRow(pixels []uint16, left, ci, scale float64) {
	for x := range pixels {
		cr := float64(x)*scale + left
		zr, zi := 0.0, 0.0
		step := uint16(0)
		for ; step < mandelbrotSteps; step++ {
			rr, ii := zr*zr, zi*zi
			if rr+ii > 4 {
				break
			}
			zr, zi = rr-ii+cr, 2*zr*zi+ci
		}
		pixels[x] = step
	}
}

// The constants of the checksum FNV-1a.
const (
	fnvPrime  = 1099511628211
	fnvOffset = 14695981039346656037
)

// checksum depends on each pixel and its place.
func (m *mandelbrotProgram) checksum() uint64 {
	sum := uint64(fnvOffset)
	for _, s := range m.steps {
		sum = (sum ^ uint64(s)) * fnvPrime
	}
	return sum
}

// Reset gives the pixels a value that no row has.
func (m *mandelbrotProgram) Reset() {
	for i := range m.steps {
		m.steps[i] = mandelbrotSteps + 1
	}
}

func (m *mandelbrotProgram) Verify() error {
	if got := m.checksum(); got != m.want {
		return fmt.Errorf("the picture's checksum is %#x, that of a serial loop %#x", got, m.want)
	}
	return nil
}

func (m *mandelbrotProgram) Serial() {
	for y := range m.n {
		m.row(y)
	}
}

func (m *mandelbrotProgram) Magpie(ex *executor.Executor) error {
	return parallel.For(context.Background(), parallel.Options{Executor: ex}, 0, m.n, m.row)
}

func (m *mandelbrotProgram) Goroutines(int) {
	var wg sync.WaitGroup
	for y := range m.n {
		wg.Go(func() { m.row(y) })
	}
	wg.Wait()
}
