package workloads

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestClip clips polygons whose common area with the tile is known, from every first vertex.
func TestClip(t *testing.T) {
	square := tile{{0, 0}, {1, 0}, {1, 1}, {0, 1}}
	diamond := tile{{0.5, 0}, {1, 0.5}, {0.5, 1}, {0, 0.5}}
	for _, tt := range []struct {
		name     string
		tile     tile
		vertices []vertex
		want     float64
	}{
		{"the same", square, square[:], 1},
		{"inside", square, diamond[:], 0.5},
		{"around", diamond, square[:], 0.5},
		{"a corner", square, []vertex{{0.5, 0.5}, {3, 0.5}, {3, 3}, {0.5, 3}}, 0.25},
		{"one side in common", square, []vertex{{1, 0}, {2, 0}, {2, 1}, {1, 1}}, 0},
		{"half", square, []vertex{{-1, 0}, {0.5, 0}, {0.5, 1}, {-1, 1}}, 0.5},
		{"a corner in common", square, []vertex{{1, 1}, {2, 1}, {2, 2}}, 0},
		{"apart", square, []vertex{{5, 0}, {6, 0}, {6, 1}}, 0},
		{"apart, but the boxes meet", diamond, []vertex{{0.9, 0.9}, {1, 0.9}, {1, 1}}, 0},
		{"two prongs", square,
			[]vertex{{-2, 0}, {3, 0}, {3, 0.25}, {-1, 0.25}, {-1, 0.75}, {3, 0.75}, {3, 1}, {-2, 1}}, 0.5},
		{"a dent", square, []vertex{{0, 0}, {1, 0}, {0.5, 0.5}, {1, 1}, {0, 1}}, 0.75},
		{"a dent from outside", square, []vertex{{0, 0}, {2, 0}, {0.5, 0.5}, {2, 1}, {0, 1}}, 1 - 0.5*0.5*(1.0/3)},
	} {
		for first := range tt.vertices {
			turned := append(append([]vertex(nil), tt.vertices[first:]...), tt.vertices[:first]...)
			require.InDelta(t, tt.want, tt.tile.clip(turned), 1e-15, "%s, vertex %d first", tt.name, first)
		}
	}
}

// TestTiles: tiles are convex and leave no gap.
func TestTiles(t *testing.T) {
	rng := splitmix64(1)
	all := newTiles(30, 3, &rng)
	sum := 0.0
	for y := range all.side - 1 {
		for x := range all.side - 1 {
			tile := all.tile(x, y)
			for k := range tile {
				along := tile[(k+1)%4].minus(tile[k])
				require.Positive(t, along.cross(tile[(k+2)%4].minus(tile[k])))
				require.Positive(t, along.cross(tile[(k+3)%4].minus(tile[k])))
			}
			require.InDelta(t, float64(x-3), tile[0].x, clipJitter)
			require.InDelta(t, float64(y-3), tile[0].y, clipJitter)
			sum += area(tile[:])
		}
	}
	inner := []vertex{{-2, -2}, {32, -2}, {32, 32}, {-2, 32}}
	require.Greater(t, sum, area(inner))
	covered := 0.0
	for y := range all.side - 1 {
		for x := range all.side - 1 {
			tile := all.tile(x, y)
			covered += tile.clip(inner)
		}
	}
	require.InDelta(t, area(inner), covered, 1e-9)
}

// TestClipSizes: polygons of every size are as large as their pieces, and as clip's Shape says. The largest is a share
// of the work that keeps 32 workers from being 16 times as fast as one.
func TestClipSizes(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 1000, 10000} {
		for seed := range uint64(3) {
			p, err := clip.Program(n, seed, Values{})
			require.NoError(t, err)
			require.NoError(t, p.Verify())
			c := p.(*clipProgram)
			data := float64(16 * len(c.tiles.corners))
			work, most := 0.0, 0.0
			for i := range c.polygons {
				p := &c.polygons[i]
				require.Positive(t, p.area)
				require.Greater(t, c.got[i].unions, c.got[i].intersections)
				left, right := c.tiles.span(p.low.x, p.high.x)
				bottom, top := c.tiles.span(p.low.y, p.high.y)
				visits := float64((right - left + 1) * (top - bottom + 1) * len(p.vertices))
				work += visits
				most = max(most, visits)
				data += float64(16 * len(p.vertices))
			}
			require.LessOrEqual(t, data, clip.Shape(n).Data)
			if n >= 1000 {
				require.Less(t, work/most, 16.0)
				require.Greater(t, work/most, 8.0)
			}
		}
	}
}

// TestClipGap: pieces that are less or more than the polygon are an error, even if a serial loop finds the same.
func TestClipGap(t *testing.T) {
	p, err := clip.Program(50, 1, Values{})
	require.NoError(t, err)
	c := p.(*clipProgram)
	for i := range c.polygons {
		right := c.polygons[i].area
		for _, sign := range []float64{1, -1} {
			c.polygons[i].area = right * (1 + 2*sign*clipTolerance)
			require.ErrorContains(t, c.Verify(), "the pieces of polygon")
		}
		c.polygons[i].area = right
		require.NoError(t, c.Verify())
	}
}
