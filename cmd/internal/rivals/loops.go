package main

import "hash/crc32"

// A loop is what a real program does for each of many items, none of which needs another.
type loop struct {
	name, doc string
	// perMS is how many units a millisecond of serial time has, so that sizes of different loops are alike: the
	// best of many calls on an AMD EPYC, 2026-11-27. Another machine takes another time for the same work.
	perMS int
	most  float64 // the largest size in ms, bounded by memory; 0: none
	// make returns the input of so many units, made from a seed, as a function that makes the work of one caller on it.
	make func(units int) func() loopWork
}

// A loopWork is a loop over items with the memory for its results, of one caller.
type loopWork struct {
	items  int
	do     func(lo, hi int) // of these items
	clear  func()           // removes the results
	digest func() uint64    // of all results
	renew  func()           // allocates the memory for the results anew; nil where it cannot be
	begin  func()           // begins each call, whose time includes it; nil for nothing
}

// anew is the loop each call of which allocates the memory for its results.
func anew(makes func(units int) func() loopWork) func(units int) func() loopWork {
	return func(units int) func() loopWork {
		newWork := makes(units)
		return func() loopWork {
			w := newWork()
			w.begin = w.renew
			return w
		}
	}
}

var loops = []loop{
	{name: "blur", doc: "each pixel of an image is the mean of nine", perMS: 100, make: blurs},
	{name: "blur-alloc", doc: "the same, each time into a new image", perMS: 100, make: anew(blurs)},
	{name: "flip", doc: "the rows of an image are mirrored", perMS: 1500, most: 5, make: flips},
	{name: "flip-alloc", doc: "the same, each time into a new image", perMS: 1500, most: 5, make: anew(flips)},
	{name: "resize", doc: "an image becomes two thirds as large, bilinearly", perMS: 100, make: resizes},
	{name: "gamma", doc: "each byte of an image is looked up in a table", perMS: 750, most: 5, make: gammas},
	{name: "gamma-alloc", doc: "the same, each time into a new image", perMS: 750, most: 5, make: anew(gammas)},
	{name: "compress", doc: "blocks of 4 KiB are compressed into memory that is there", perMS: 90, make: compressions},
	{name: "compress-alloc", doc: "the same, into memory that is allocated", perMS: 75, make: allocatingCompressions},
	{name: "lines", doc: "lines of a log become numbers", perMS: 13000, make: parsings},
	{name: "lines-alloc", doc: "lines of a log become slices and strings", perMS: 3200, make: allocatingParsings},
	{name: "types", doc: "small packages of Go are parsed and type-checked, which allocates", perMS: 11, make: checkings},
	{name: "calls", doc: "ten calls that search a table", perMS: 55000, make: searches(callsOfHandler)},
	{name: "halves", doc: "two calls that search a table: a loop of two pieces", perMS: 55000, make: searches(2)},
	{name: "calls-alloc", doc: "ten calls that encode and decode JSON", perMS: 350, make: encodings},
}

// units returns how many units of the loop take about ms milliseconds, at least two.
func (l *loop) units(ms float64) int { return max(2, int(ms*float64(l.perMS))) }

// loopSizes are in ms of serial time.
var loopSizes = []float64{0.1, 1, 5, 20}

// loopNamed returns the loop of that name, or nil.
func loopNamed(name string) *loop {
	for i := range loops {
		if loops[i].name == name {
			return &loops[i]
		}
	}
	return nil
}

// valued is the work of a function that has a number as the result for each item.
func valued(items int, value func(i int) uint64) func() loopWork {
	return func() loopWork {
		results := make([]uint64, items)
		return loopWork{
			items: items,
			do: func(lo, hi int) {
				for i := lo; i < hi; i++ {
					results[i] = value(i)
				}
			},
			clear:  func() { clear(results) },
			digest: func() uint64 { return mix(results) },
		}
	}
}

// mix depends on the values and on their order.
func mix(values []uint64) (sum uint64) {
	for _, v := range values {
		sum = (sum ^ v) * 0x9e3779b97f4a7c15
		sum ^= sum >> 29
	}
	return sum
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// digestBytes is mix for bytes.
func digestBytes(b []byte) uint64 { return uint64(crc32.Checksum(b, castagnoli)) }
