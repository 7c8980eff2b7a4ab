package workloads

import "math"

// A vertex is a place in the plane, or a difference of places.
type vertex struct{ x, y float64 }

func (a vertex) minus(b vertex) vertex { return vertex{a.x - b.x, a.y - b.y} }

// cross returns twice the area of the triangle with the sides a and b, positive if b is to the left of a.
func (a vertex) cross(b vertex) float64 { return a.x*b.y - a.y*b.x }

// A polygon has its vertices counterclockwise.
type polygon struct {
	vertices  []vertex
	low, high vertex // corners of the box around it
	area      float64
}

// newStar returns a polygon that is seen as a whole from its centre, and may have dents. It is within the radius.
func newStar(centre vertex, radius float64, vertices int, rng *splitmix64) polygon {
	p := polygon{
		vertices: make([]vertex, vertices),
		low:      vertex{math.Inf(1), math.Inf(1)}, high: vertex{math.Inf(-1), math.Inf(-1)},
	}
	for k := range p.vertices {
		angle := 2 * math.Pi * (float64(k) + 0.9*rng.float()) / float64(vertices)
		sin, cos := math.Sincos(angle)
		r := radius * (0.6 + 0.4*rng.float())
		v := vertex{centre.x + r*cos, centre.y + r*sin}
		p.vertices[k] = v
		p.low = vertex{min(p.low.x, v.x), min(p.low.y, v.y)}
		p.high = vertex{max(p.high.x, v.x), max(p.high.y, v.y)}
	}
	p.area = area(p.vertices)
	return p
}

// area returns the area of the polygon with these vertices.
func area(vertices []vertex) float64 {
	var s surveyor
	for _, v := range vertices {
		s.add(v)
	}
	return s.area()
}

// A surveyor adds up the area of a polygon whose vertices come one after the other. Triangles from the first vertex
// keep the numbers small.
type surveyor struct {
	first, last vertex // last as seen from first
	begun       bool
	twice       float64
}

func (s *surveyor) add(p vertex) {
	if !s.begun {
		s.begun, s.first = true, p
		return
	}
	next := p.minus(s.first)
	s.twice += s.last.cross(next)
	s.last = next
}

func (s *surveyor) area() float64 { return s.twice / 2 }

// tiles cover the plane around the polygons without gaps: a square grid whose corners have been moved.
type tiles struct {
	corners []vertex
	side    int // corners in a row
	margin  int // tiles between the edge and those that have the centres of polygons
}

func newTiles(side, margin int, rng *splitmix64) tiles {
	t := tiles{side: side + 2*margin + 1, margin: margin}
	t.corners = make([]vertex, t.side*t.side)
	jitter := func() float64 { return clipJitter * (2*rng.float() - 1) }
	for i := range t.corners {
		t.corners[i] = vertex{float64(i%t.side-margin) + jitter(), float64(i/t.side-margin) + jitter()}
	}
	return t
}

// A tile is a convex polygon, counterclockwise.
type tile [4]vertex

func (t *tiles) tile(x, y int) tile {
	i := y*t.side + x
	return tile{t.corners[i], t.corners[i+1], t.corners[i+t.side+1], t.corners[i+t.side]}
}

// span returns the first and the last column, or row, of the tiles that reach into low to high: a tile reaches over
// its square by clipJitter.
func (t *tiles) span(low, high float64) (first, last int) {
	return int(math.Floor(low-clipJitter)) + t.margin, int(math.Floor(high+clipJitter)) + t.margin
}

// clip returns the area that t has in common with a polygon. It is the algorithm of Sutherland and Hodgman (1974) in
// the form without intermediate polygons: each vertex passes through the four sides to the surveyor.
func (t *tile) clip(vertices []vertex) float64 {
	var c clipper
	for k := range c.sides {
		c.sides[k].from = t[k]
		c.sides[k].along = t[(k+1)%4].minus(t[k])
	}
	for _, v := range vertices {
		c.add(0, v)
	}
	for k := range c.sides {
		c.close(k)
	}
	return c.out.area()
}

// A clipper lets what is to the left of all its sides pass to out.
type clipper struct {
	sides [4]clipSide
	out   surveyor
}

// A clipSide is a side, and what it remembers of the polygon that passes.
type clipSide struct {
	from, along vertex
	begun       bool
	first, last vertex
	// How far the points are to the left of the side, times the side's length.
	firstLeft, lastLeft float64
}

// add gives p to side k, or to the surveyor behind the last side.
func (c *clipper) add(k int, p vertex) {
	if k == len(c.sides) {
		c.out.add(p)
		return
	}
	s := &c.sides[k]
	left := s.along.cross(p.minus(s.from))
	if s.begun {
		c.crossing(k, p, left)
	} else {
		s.begun, s.first, s.firstLeft = true, p, left
	}
	s.last, s.lastLeft = p, left
	if left >= 0 {
		c.add(k+1, p)
	}
}

// crossing gives the vertex where the way from the last vertex to p crosses side k, if it does, to the next side.
func (c *clipper) crossing(k int, p vertex, left float64) {
	s := &c.sides[k]
	if (left >= 0) == (s.lastLeft >= 0) {
		return
	}
	f := s.lastLeft / (s.lastLeft - left)
	c.add(k+1, vertex{s.last.x + f*(p.x-s.last.x), s.last.y + f*(p.y-s.last.y)})
}

// close ends the polygon that has passed to side k.
func (c *clipper) close(k int) {
	if s := &c.sides[k]; s.begun {
		c.crossing(k, s.first, s.firstLeft)
	}
}
