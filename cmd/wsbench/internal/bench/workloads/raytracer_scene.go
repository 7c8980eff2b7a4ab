package workloads

import "math"

// A vec is a point, a direction, or a colour with red, green and blue from 0 to 1.
type vec struct{ x, y, z float64 }

func (a vec) plus(b vec) vec          { return vec{a.x + b.x, a.y + b.y, a.z + b.z} }
func (a vec) minus(b vec) vec         { return vec{a.x - b.x, a.y - b.y, a.z - b.z} }
func (a vec) times(f float64) vec     { return vec{a.x * f, a.y * f, a.z * f} }
func (a vec) filter(b vec) vec        { return vec{a.x * b.x, a.y * b.y, a.z * b.z} }
func (a vec) dot(b vec) float64       { return a.x*b.x + a.y*b.y + a.z*b.z }
func (a vec) cross(b vec) vec         { return vec{a.y*b.z - a.z*b.y, a.z*b.x - a.x*b.z, a.x*b.y - a.y*b.x} }
func (a vec) unit() vec               { return a.times(1 / math.Sqrt(a.dot(a))) }
func (a vec) to(b vec, f float64) vec { return a.times(1 - f).plus(b.times(f)) }

// A surface is how a body looks.
type surface struct {
	colour vec
	mirror float64 // the share of light that it reflects at a right angle
	gloss  float64 // the brightness of the sun's spot
}

// A sphere is a body of the scene.
type sphere struct {
	surface
	centre vec
	radius float64
}

// A scene is a plane at height 0 with a pattern of squares, and spheres above it, under a sky with a sun.
type scene struct {
	spheres []sphere
	sun     vec // its direction, of length 1
	eye     vec
	// Directions: from the eye to the middle of the picture, from there to its right and to its upper edge.
	ahead, right, up vec
}

// newScene returns the scene of the picture: a mirror among two rings of spheres, the outer ones smaller.
func newScene() *scene {
	s := &scene{sun: vec{-0.55, 0.62, -0.56}.unit(), eye: vec{0.6, 2.5, -8.2}}
	s.ahead = vec{0.1, 0.75, 0}.minus(s.eye).unit()
	s.right = vec{0, 1, 0}.cross(s.ahead).unit()
	s.up = s.ahead.cross(s.right).times(0.75 * viewWidth)
	s.right = s.right.times(viewWidth)

	s.spheres = append(s.spheres, sphere{surface{vec{0.95, 0.93, 0.90}, 0.82, 1}, vec{0, 1.5, 0.4}, 1.5})
	ring := func(count int, distance, radius, mirror, turn float64) {
		for i := range count {
			part := float64(i) / float64(count)
			sin, cos := math.Sincos(2*math.Pi*part + turn)
			s.spheres = append(s.spheres, sphere{
				surface: surface{rainbow(part), mirror, 0.8},
				centre:  vec{distance * sin, radius, 0.4 - distance*cos},
				radius:  radius,
			})
		}
	}
	ring(11, 2.75, 0.52, 0.16, 0.28)
	ring(23, 4.1, 0.26, 0.06, 0.1)
	return s
}

// viewWidth is half of the picture's width at the distance 1.
const viewWidth = 0.62

// rainbow returns the colour at that part of the circle of colours.
func rainbow(part float64) vec {
	channel := func(at float64) float64 { return 0.42 + 0.40*math.Cos(2*math.Pi*(part-at)) }
	return vec{channel(0), channel(1.0 / 3), channel(2.0 / 3)}
}

// look returns the colour at x, from -1 at the left to 1 at the right, and y, from -1 at the bottom to 1 at the top.
func (s *scene) look(x, y float64) vec {
	return s.trace(s.eye, s.ahead.plus(s.right.times(x)).plus(s.up.times(y)).unit())
}

const (
	// mostBounces is how often a ray is reflected at most.
	mostBounces = 6
	// leastShare is the share of a pixel from which on a reflection is worth a ray.
	leastShare = 1.0 / 256
	// farAway is more than any distance in the scene.
	farAway = 1e9
	// clearance is the distance from a body at which rays that leave it begin. Nearer, rounding would let them hit it.
	clearance = 1e-6
)

// trace returns the colour that is seen from a point in a direction. A share of the colour of a body, which depends on
// the angle, is the colour that is seen in the direction of the reflected ray.
func (s *scene) trace(from, dir vec) (colour vec) {
	share := 1.0
	for range mostBounces {
		at, normal, body, ok := s.hit(from, dir)
		if !ok {
			return colour.plus(s.sky(dir).times(share))
		}
		facing := -dir.dot(normal)
		// Schlick's approximation: at a flat angle everything is a mirror.
		flat := 1 - facing
		reflected := body.mirror + (1-body.mirror)*flat*flat*flat*flat*flat
		distance := at.minus(from)
		here := s.lit(at, normal, dir, body).to(s.haze(dir), haziness(distance.dot(distance)))
		colour = colour.plus(here.times(share * (1 - reflected)))
		if share *= reflected; share < leastShare {
			return colour
		}
		from, dir = at.plus(normal.times(clearance)), dir.plus(normal.times(2*facing))
	}
	return colour
}

// haziness returns how much a body at that distance, which is squared, disappears in the haze.
func haziness(squared float64) float64 { return 1 - 1/(1+squared/2000) }

// hit returns the nearest body that a ray meets, where it does, and the direction away from the body there.
func (s *scene) hit(from, dir vec) (at, normal vec, body surface, ok bool) {
	nearest, found := s.nearest(from, dir, farAway)
	if dir.y < 0 {
		if t := -from.y / dir.y; t < nearest {
			at = from.plus(dir.times(t))
			return at, vec{0, 1, 0}, pattern(at), true
		}
	}
	if found < 0 {
		return at, normal, body, false
	}
	b := &s.spheres[found]
	at = from.plus(dir.times(nearest))
	return at, at.minus(b.centre).times(1 / b.radius), b.surface, true
}

// nearest returns the distance and the number of the nearest sphere that a ray meets before the distance most, or most
// and -1.
func (s *scene) nearest(from, dir vec, most float64) (distance float64, found int) {
	distance, found = most, -1
	for i := range s.spheres {
		b := &s.spheres[i]
		to := b.centre.minus(from)
		along := to.dot(dir)
		inside := b.radius*b.radius - to.dot(to) + along*along
		if inside <= 0 || along <= 0 {
			continue
		}
		if t := along - math.Sqrt(inside); t > 0 && t < distance {
			distance, found = t, i
		}
	}
	return distance, found
}

// pattern returns the surface of the plane at a point.
func pattern(at vec) surface {
	odd := (int64(math.Floor(at.x/1.1))+int64(math.Floor(at.z/1.1)))&1 == 1
	if odd {
		return surface{vec{0.07, 0.09, 0.14}, 0.14, 0}
	}
	return surface{vec{0.78, 0.74, 0.66}, 0.05, 0}
}

// lit returns the colour of a body in the light of sky and sun, without what it reflects.
func (s *scene) lit(at, normal, dir vec, body surface) vec {
	// The light of the sky comes from above, some comes back from the plane.
	light := vec{0.22, 0.27, 0.36}.times(0.62 + 0.38*normal.y)
	facing := normal.dot(s.sun)
	if facing <= 0 {
		return body.colour.filter(light)
	}
	if _, shade := s.nearest(at.plus(normal.times(clearance)), s.sun, farAway); shade >= 0 {
		return body.colour.filter(light)
	}
	light = light.plus(sunlight.times(facing))
	colour := body.colour.filter(light)
	// Phong's spot: the 64th power of the cosine between the reflected ray and the sun.
	if spot := dir.minus(normal.times(2 * dir.dot(normal))).dot(s.sun); spot > 0 {
		colour = colour.plus(sunlight.times(body.gloss * power64(spot)))
	}
	return colour
}

var sunlight = vec{0.98, 0.88, 0.72}

func power64(x float64) float64 {
	for range 6 {
		x *= x
	}
	return x
}

// haze returns the colour of the sky at the horizon below or above that direction.
func (s *scene) haze(dir vec) vec {
	dir.y = 0
	return s.sky(dir.plus(vec{0, 1e-3, 0}).unit())
}

// sky returns the colour of the sky in that direction.
func (s *scene) sky(dir vec) vec {
	low := 1 - max(0, dir.y)
	low *= low
	colour := vec{0.06, 0.19, 0.50}.to(vec{0.80, 0.72, 0.62}, low*low)
	glow := max(0, dir.dot(s.sun))
	glow *= glow
	glow *= glow
	return colour.plus(sunlight.times(0.25*glow + 2*power64(glow)))
}
