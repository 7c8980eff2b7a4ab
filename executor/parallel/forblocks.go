package parallel

import (
	"context"
	"math"
	"math/bits"
	"time"
)

// longBlock is the time that ForBlocks lets a call of body take: the worker looks for demand after each. Measuring the
// time costs 70 ns (Xeon, November 2026), little against longBlock. A woken thief waits for about as long as its
// wake-up took.
const longBlock = 20 * time.Microsecond

// epoch is a time: to measure the time since is half the work of time.Now, which reads a second clock.
var epoch = time.Now()

// ForBlocks calls body for blocks that together are lo, …, hi-1, each of at least one index and at most MaxInt. It is
// for a body that does little for one index, and contains the loop itself. A call is not cut short when ctx ends, nor
// when another worker has nothing to do. If Grain is 0, the blocks become longer while calls take less than 10 µs. If
// fast indices come before slow ones, a Grain bounds the length of a call.
func ForBlocks(ctx context.Context, o Options, lo, hi int, body func(lo, hi int)) error {
	o = o.check(ctx, "ForBlocks", body == nil)
	return forBlocks(ctx, o, "ForBlocks", lo, hi, func(_ context.Context, lo, hi int) error {
		body(lo, hi)
		return nil
	})
}

// ForBlocksErr is [ForBlocks] with a body that may fail.
func ForBlocksErr(ctx context.Context, o Options, lo, hi int, body func(ctx context.Context, lo, hi int) error) error {
	o = o.check(ctx, "ForBlocksErr", body == nil)
	return forBlocks(ctx, o, "ForBlocksErr", lo, hi, body)
}

func forBlocks(
	ctx context.Context, o Options, name string, lo, hi int, body func(ctx context.Context, lo, hi int) error,
) error {
	_, err := walkAll(ctx, o, name, lo, hi, walkEach(func(p strides) int {
		ctx := p.scope.Context()
		if p.chosen {
			if err := body(ctx, p.lo, p.end); err != nil {
				return p.fail(err)
			}
			return p.end
		}
		for size, start := 1, time.Since(epoch); ; {
			lo := p.lo
			p.lo += min(size, p.end-lo)
			if err := body(ctx, lo, p.lo); err != nil {
				return p.fail(err)
			}
			if p.lo == p.end || p.ends() {
				return p.lo
			}
			now := time.Since(epoch)
			switch took := now - start; {
			case took < longBlock/2:
				size *= 2 // at most one more than the number of indices done so far
			case took > longBlock && size > 1:
				size /= 2
			}
			start = now
		}
	}))
	return err
}

// A Tile is a part of a grid, such as a matrix or a picture: the cells in rows RowLo, …, RowHi-1 and columns ColLo, …,
// ColHi-1.
type Tile struct{ RowLo, RowHi, ColLo, ColHi int }

// ForTiles divides grid into tiles of the given height and width, and calls body for each. Tiles at the end of a row or
// a column may be smaller. Grain is a number of tiles, in an order by rows. ForTiles panics if height or width is not
// positive, or if there are more than MaxInt tiles.
//
// There is no loop in three dimensions. Fold two of them into one: with planes of n rows, row r of the grid is row r%n
// of plane r/n, and no tile has rows of two planes if height divides n. Or call ForTiles for each plane, in a [For].
func ForTiles(ctx context.Context, o Options, grid Tile, height, width int, body func(t Tile)) error {
	o = o.check(ctx, "ForTiles", body == nil)
	return forTiles(ctx, o, "ForTiles", grid, height, width, func(_ context.Context, t Tile) error {
		body(t)
		return nil
	})
}

// ForTilesErr is [ForTiles] with a body that may fail.
func ForTilesErr(
	ctx context.Context, o Options, grid Tile, height, width int, body func(ctx context.Context, t Tile) error,
) error {
	o = o.check(ctx, "ForTilesErr", body == nil)
	return forTiles(ctx, o, "ForTilesErr", grid, height, width, body)
}

func forTiles(
	ctx context.Context, o Options, name string, grid Tile, height, width int,
	body func(ctx context.Context, t Tile) error,
) error {
	if height <= 0 || width <= 0 {
		panic("parallel: " + name + " with tiles of no size")
	}
	down, across := cuts(grid.RowLo, grid.RowHi, height), cuts(grid.ColLo, grid.ColHi, width)
	over, tiles := bits.Mul(down, across)
	if over > 0 || tiles > math.MaxInt {
		panic("parallel: " + name + " with more than MaxInt tiles")
	}
	_, err := walkAll(ctx, o, name, 0, int(tiles), walkEach(func(p strides) int {
		ctx := p.scope.Context()
		for {
			var t Tile
			t.RowLo, t.RowHi = cut(grid.RowLo, grid.RowHi, height, uint(p.lo)/across)
			t.ColLo, t.ColHi = cut(grid.ColLo, grid.ColHi, width, uint(p.lo)%across)
			if err := body(ctx, t); err != nil {
				return p.fail(err)
			}
			if p.lo++; p.lo == p.end || p.ends() {
				return p.lo
			}
		}
	}))
	return err
}

// cuts returns into how many parts of a size lo, …, hi-1 is cut.
func cuts(lo, hi, size int) uint {
	if lo >= hi {
		return 0
	}
	return 1 + (uint(hi)-uint(lo)-1)/uint(size)
}

// cut returns part i of those.
func cut(lo, hi, size int, i uint) (from, to int) {
	from = lo + int(i)*size
	return from, from + int(min(uint(size), uint(hi)-uint(from)))
}
