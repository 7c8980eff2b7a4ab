package workloads

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"image"
	"image/png"
	"math"
	"sync"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/atomicfile"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
)

// raytracer is RayTracer of document 004, with a scene of our own. Rows of sky are done soon, rows through the spheres
// take many times as long.
var raytracer = &Workload{
	Name:    "raytracer",
	About:   "n×3n/4 picture of spheres that mirror each other, 4 rays a pixel, by parallel.For; figures are per row",
	Size:    "columns (the paper: 800)",
	Default: 480,
	Small:   24,
	Params:  []*Param{pictureParam},
	Shape: func(n int) Shape {
		rows := math.Ceil(0.75 * float64(n))
		return Shape{Tasks: rows, Width: rows, Data: 4 * rows * float64(n)}
	},
	Program: func(n int, _ uint64, v Values) (Program, error) {
		r := &raytracerProgram{
			scene: newScene(), picture: image.NewRGBA(image.Rect(0, 0, n, n-n/4)), file: outputFile(v, pictureParam),
		}
		r.Serial()
		r.want = r.checksum()
		return r, nil
	},
}

var pictureParam = outputParam("picture", "write the picture of raytracer to FILE as PNG, after a verified run")

type raytracerProgram struct {
	*scene
	picture *image.RGBA
	want    uint64 // checksum of the picture
	file    string // for the picture; may be empty
}

// rays are the places in a pixel through which rays go. No two are in one row or column.
var rays = [4][2]float64{{0.375, 0.125}, {0.875, 0.375}, {0.125, 0.625}, {0.625, 0.875}}

// row computes a row of the picture.
func (r *raytracerProgram) row(y int) {
	size := r.picture.Rect.Size()
	wide, high := 2/float64(size.X), 2/float64(size.Y)
	pixels := r.picture.Pix[y*r.picture.Stride:][:4*size.X]
	for x := range size.X {
		var sum vec
		for _, at := range rays {
			sum = sum.plus(r.look((float64(x)+at[0])*wide-1, 1-(float64(y)+at[1])*high))
		}
		p := pixels[4*x : 4*x+4]
		p[0], p[1], p[2], p[3] = shade(sum.x/4), shade(sum.y/4), shade(sum.z/4), math.MaxUint8
	}
}

// shade returns the value of a pixel of that brightness. Eyes, and values of pixels, tell dark shades better than
// bright ones, about as square roots do.
func shade(brightness float64) uint8 { return uint8(math.Round(255 * math.Sqrt(min(1, brightness)))) }

// checksum depends on each pixel and its place.
func (r *raytracerProgram) checksum() uint64 {
	sum := fnv.New64a()
	sum.Write(r.picture.Pix)
	return sum.Sum64()
}

// Reset makes all pixels transparent, which no row does.
func (r *raytracerProgram) Reset() { clear(r.picture.Pix) }

func (r *raytracerProgram) Verify() error {
	if got := r.checksum(); got != r.want {
		return fmt.Errorf("the picture's checksum is %#x, that of a serial loop %#x", got, r.want)
	}
	return nil
}

// Keep writes the picture, if there is a file for it.
func (r *raytracerProgram) Keep() error {
	if r.file == "" {
		return nil
	}
	f, err := atomicfile.Create(r.file)
	if err != nil {
		return err
	}
	if err := png.Encode(f, r.picture); err != nil {
		return errors.Join(err, f.Abandon())
	}
	return f.Commit()
}

func (r *raytracerProgram) rows() int { return r.picture.Rect.Dy() }

func (r *raytracerProgram) Serial() {
	for y := range r.rows() {
		r.row(y)
	}
}

func (r *raytracerProgram) Magpie(ex *executor.Executor) error {
	return parallel.For(context.Background(), parallel.Options{Executor: ex}, 0, r.rows(), r.row)
}

func (r *raytracerProgram) Goroutines(int) {
	var wg sync.WaitGroup
	for y := range r.rows() {
		wg.Go(func() { r.row(y) })
	}
	wg.Wait()
}
