package main

import "math"

// rowPixels is the width of the images that are made. A pixel has four bytes.
const rowPixels = 1024

// An image has pixels of red, green, blue and alpha.
type image struct {
	width, height int
	pix           []byte
}

func newImage(width, height int) image { return image{width, height, make([]byte, 4*width*height)} }

func (m image) row(y int) []byte { return m.pix[4*m.width*y : 4*m.width*(y+1)] }

// photo returns an image with that many rows.
func photo(height int) image {
	m := newImage(rowPixels, height)
	noise := random(1<<12, func(x uint64) byte { return byte(x) })
	for i := range m.pix {
		m.pix[i] = byte(i>>5) + noise[i&(len(noise)-1)]>>2
	}
	return m
}

// drawing is the work of a function that makes a row of an image.
func drawing(width, height int, draw func(to image, y int)) func() loopWork {
	return func() loopWork {
		to := newImage(width, height)
		return loopWork{
			items: height,
			do: func(lo, hi int) {
				for y := lo; y < hi; y++ {
					draw(to, y)
				}
			},
			clear:  func() { clear(to.pix) },
			digest: func() uint64 { return digestBytes(to.pix) },
			renew:  func() { to = newImage(width, height) },
		}
	}
}

// blurs has rows as units.
func blurs(rows int) func() loopWork {
	from := photo(rows)
	return drawing(from.width, rows, func(to image, y int) {
		above, here, below := from.row(max(y-1, 0)), from.row(y), from.row(min(y+1, rows-1))
		out := to.row(y)
		copy(out[:4], here)
		copy(out[len(out)-4:], here[len(here)-4:])
		for i := 4; i < len(out)-4; i++ {
			sum := int(above[i-4]) + int(above[i]) + int(above[i+4]) +
				int(here[i-4]) + int(here[i]) + int(here[i+4]) +
				int(below[i-4]) + int(below[i]) + int(below[i+4])
			out[i] = byte(sum / 9)
		}
	})
}

// flips has rows as units.
func flips(rows int) func() loopWork {
	from := photo(rows)
	return drawing(from.width, rows, func(to image, y int) {
		in, out := from.row(y), to.row(y)
		for i, j := 0, len(out)-4; j >= 0; i, j = i+4, j-4 {
			copy(out[j:j+4], in[i:i+4])
		}
	})
}

// resizes has rows of the result as units.
func resizes(rows int) func() loopWork {
	from := photo(rows*3/2 + 2)
	const unit = 256 // a pixel's width in fixed point
	return drawing(rowPixels*2/3, rows, func(to image, y int) {
		at := y * unit * 3 / 2
		above, below, down := from.row(at/unit), from.row(at/unit+1), at%unit
		out := to.row(y)
		for x := range to.width {
			at := x * unit * 3 / 2
			left, right := at/unit*4, at%unit
			for c := range 4 {
				top := int(above[left+c])*(unit-right) + int(above[left+4+c])*right
				bottom := int(below[left+c])*(unit-right) + int(below[left+4+c])*right
				out[4*x+c] = byte((top*(unit-down) + bottom*down) / (unit * unit))
			}
		}
	})
}

// gammas has rows as units.
func gammas(rows int) func() loopWork {
	from := photo(rows)
	var table [256]byte
	for i := range table {
		table[i] = byte(math.Round(255 * math.Pow(float64(i)/255, 1/2.2)))
	}
	return drawing(from.width, rows, func(to image, y int) {
		in, out := from.row(y), to.row(y)
		for i, b := range in {
			out[i] = table[b]
		}
	})
}
