package workloads

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
)

// clip is CLIP of document 004, with generated polygons: the document's are not available. It computes the areas of the
// intersection and the union of pairs of polygons, one of each layer.
var clip = &Workload{
	Name:    "clip",
	About:   "areas in which n polygons, few large and many small, meet the tiles of a plane; figures are per polygon",
	Size:    "polygons",
	Default: 100000,
	Most:    1 << 26,
	Small:   40,
	Shape: func(n int) Shape {
		corners := math.Sqrt(float64(n)) + 2 + 2*(clipLargest(n)+2)
		vertices := 2 * clipVertices * float64(n) // the sum of √(n/i) for i from 1 to n is less than 2n
		return Shape{
			Tasks: float64(n), Width: float64(n),
			Data: 16*vertices + 16*corners*corners + (64+2*16+8)*float64(n),
		}
	},
	Program: newClipping,
}

const (
	// clipVertices and clipRadius are those of the smallest polygon. The vertices grow with the root of n/i, and the
	// radius with a power of n/i, where i is the rank by size. Whatever n, the largest polygon is a thirteenth of the
	// whole work, so no number of workers makes it 16 times as fast.
	clipVertices = 8
	clipRadius   = 0.3
	clipGrowth   = 0.3
	// clipJitter is how far a corner of the tiles is from its place in a square grid, in either direction. Below a
	// quarter all tiles are convex.
	clipJitter = 0.2
)

// clipLargest returns the radius of the largest of n polygons.
func clipLargest(n int) float64 { return clipRadius * math.Pow(float64(n), clipGrowth) }

type clipProgram struct {
	polygons []polygon
	tiles    tiles
	got      []overlay // by polygon
	want     []overlay // as Serial leaves it
}

// An overlay is the result of a polygon: the sums of the areas of its intersections, and of its unions, with the tiles
// that it meets.
type overlay struct{ intersections, unions float64 }

// clipTolerance is how much the sum of a polygon's intersections may differ from its area, as a share of the area. The
// tiles leave no gap and do not overlap, so only rounding makes a difference.
const clipTolerance = 1e-9

func newClipping(n int, seed uint64, _ Values) (Program, error) {
	rng := splitmix64(seed)
	side := int(math.Ceil(math.Sqrt(float64(n))))
	c := &clipProgram{
		polygons: make([]polygon, n), tiles: newTiles(side, int(clipLargest(n))+2, &rng),
		got: make([]overlay, n), want: make([]overlay, n),
	}
	ranks := make([]int, n)
	for i := range ranks {
		j := int(rng.next() % uint64(i+1))
		ranks[i], ranks[j] = ranks[j], i+1
	}
	for i, rank := range ranks {
		times := float64(n) / float64(rank)
		centre := vertex{float64(i%side) + rng.float(), float64(i/side) + rng.float()}
		radius := clipRadius * math.Pow(times, clipGrowth)
		c.polygons[i] = newStar(centre, radius, int(clipVertices*math.Sqrt(times)), &rng)
	}
	c.Serial()
	copy(c.want, c.got)
	return c, nil
}

// float returns a number of at least 0 and less than 1.
func (s *splitmix64) float() float64 { return float64(s.next()>>11) / (1 << 53) }

// overlay clips polygon i against the tiles around it.
func (c *clipProgram) overlay(i int) {
	p := &c.polygons[i]
	var sum overlay
	left, right := c.tiles.span(p.low.x, p.high.x)
	bottom, top := c.tiles.span(p.low.y, p.high.y)
	for y := bottom; y <= top; y++ {
		for x := left; x <= right; x++ {
			tile := c.tiles.tile(x, y)
			if common := tile.clip(p.vertices); common > 0 {
				sum.intersections += common
				sum.unions += p.area + area(tile[:]) - common
			}
		}
	}
	c.got[i] = sum
}

// Reset removes all results.
func (c *clipProgram) Reset() {
	for i := range c.got {
		c.got[i] = overlay{math.NaN(), math.NaN()}
	}
}

func (c *clipProgram) Verify() error {
	for i, got := range c.got {
		if got != c.want[i] {
			return fmt.Errorf("the areas of polygon %d are %v, those of a serial loop %v", i, got, c.want[i])
		}
		if whole := c.polygons[i].area; !(math.Abs(got.intersections-whole) <= clipTolerance*whole) {
			return fmt.Errorf("the pieces of polygon %d have the area %g together, the polygon has %g",
				i, got.intersections, whole)
		}
	}
	return nil
}

func (c *clipProgram) Serial() {
	for i := range c.polygons {
		c.overlay(i)
	}
}

func (c *clipProgram) Magpie(ex *executor.Executor) error {
	return parallel.For(context.Background(), parallel.Options{Executor: ex}, 0, len(c.polygons), c.overlay)
}

func (c *clipProgram) Goroutines(int) {
	g := &spawner{most: CallsAlive}
	var wg sync.WaitGroup
	for i := range c.polygons {
		g.start(&wg, func() { c.overlay(i) })
	}
	wg.Wait()
}
