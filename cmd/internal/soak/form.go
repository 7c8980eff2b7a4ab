package main

import "math/rand/v2"

// A form is the structure of a graph: the direct predecessors of each task, which have smaller numbers.
type form struct {
	name  string
	n     int
	first []uint32 // where each task's part of preds begins; one entry more than tasks
	preds []uint32
}

func (f *form) before(i uint32) []uint32 { return f.preds[f.first[i]:f.first[i+1]] }

// A shape makes forms of about n tasks.
type shape struct {
	name string
	make func(b *formBuilder, n int, rng *rand.Rand)
}

type formBuilder struct{ form }

// add adds a task that comes after the given ones.
func (b *formBuilder) add(preds ...uint32) {
	b.preds = append(b.preds, preds...)
	b.first = append(b.first, uint32(len(b.preds)))
	b.n++
}

func (s shape) form(n int, rng *rand.Rand) *form {
	b := formBuilder{form{name: s.name, first: make([]uint32, 1, n+1)}}
	s.make(&b, n, rng)
	return &b.form
}

var shapes = []shape{
	{"loose", func(b *formBuilder, n int, _ *rand.Rand) {
		for range n {
			b.add()
		}
	}},
	{"chain", func(b *formBuilder, n int, _ *rand.Rand) {
		for i := range n {
			if i == 0 {
				b.add()
			} else {
				b.add(uint32(i - 1))
			}
		}
	}},
	{"fan", func(b *formBuilder, n int, _ *rand.Rand) {
		b.add()
		for range n {
			b.add(0)
		}
		all := make([]uint32, n)
		for i := range all {
			all[i] = uint32(i + 1)
		}
		b.add(all...)
	}},
	{"btree", func(b *formBuilder, n int, _ *rand.Rand) {
		for i := range n {
			if i == 0 {
				b.add()
			} else {
				b.add(uint32(i-1) / 2)
			}
		}
	}},
	// Up to four predecessors among the hundred before.
	{"dag", func(b *formBuilder, n int, rng *rand.Rand) {
		var preds [4]uint32
		for i := range n {
			p := preds[:0]
			for range rng.IntN(5) {
				if i > 0 {
					p = append(p, uint32(i-1-rng.IntN(min(i, 100))))
				}
			}
			b.add(p...) // a predecessor may occur twice: the edge is then added twice
		}
	}},
	// Layers of random width, each task after some of the layer before.
	{"layers", func(b *formBuilder, n int, rng *rand.Rand) {
		var preds [3]uint32
		widest := 1 + rng.IntN(1+min(n, 2000))
		low, high := 0, 0 // the layer before
		for b.n < n {
			width := 1 + rng.IntN(widest)
			for range width {
				p := preds[:0]
				if low < high {
					for range 1 + rng.IntN(3) {
						p = append(p, uint32(low+rng.IntN(high-low)))
					}
				}
				b.add(p...)
			}
			low, high = high, b.n
		}
	}},
}
