package main

// A bench is something that all rivals can do.
type bench struct {
	name, doc string
	size      int
	unit      string          // of which the figure is the time
	units     func(n int) int // how many a repetition of size n has
}

var benches = []bench{
	{name: "fib", doc: "recursive Fibonacci numbers: a fork and a join for each sum, no cut-off", size: 30,
		unit: "fork and join", units: func(n int) int { return fibSerial(n+1) - 1 }},
	{name: "queens", doc: "all solutions of the n queens problem, a fork for each place of a queen", size: 10,
		unit: "place", units: func(n int) int { _, places := queensSerial(n); return places }},
	{name: "fat", doc: "a tree with 64 children to a node: it forks all but the last, and joins the newest first", size: 3,
		unit: "node", units: fatNodes},
	{name: "thin", doc: "a tree with 2 children to a node, which forks the first", size: 20,
		unit: "node", units: thinNodes},
	{name: "fan", doc: "independent small functions that one thread starts and waits for", size: 100_000,
		unit: "function", units: each},
	{name: "dag", doc: "a wave front over a square grid, each task after those above and to the left", size: 300,
		unit: "task", units: func(n int) int { return n * n }},
	{name: "chain", doc: "tasks one after the other, in a graph that is run again", size: 1 << 20,
		unit: "task", units: each},
	{name: "btree", doc: "a complete binary tree of tasks, each before its children, in a graph that is run again",
		size: 1<<20 - 1, unit: "task", units: each},
	{name: "sort", doc: "random integers of 64 bits", size: 10_000_000, unit: "integer", units: each},
	{name: "sort-floats", doc: "random numbers from -1 to 1", size: 10_000_000, unit: "number", units: each},
	{name: "sort-strings", doc: "random numbers of 64 bits in decimal", size: 1_000_000, unit: "string", units: each},
	{name: "sort-few", doc: "random integers below 100", size: 10_000_000, unit: "integer", units: each},
	{name: "sort-sorted", doc: "integers in ascending order", size: 10_000_000, unit: "integer", units: each},
	{name: "sort-reversed", doc: "integers in descending order", size: 10_000_000, unit: "integer", units: each},
	{name: "run", doc: "one small function of a pool, whose caller waits for it, back to back", size: 1,
		unit: "call", units: func(int) int { return 1 }},
	{name: "rare", doc: "the same, a millisecond after the last", size: 1,
		unit: "call", units: func(int) int { return 1 }},
	{name: "rare-few", doc: "a few small functions of a group, whose caller waits, a millisecond after the last", size: 10,
		unit: "group", units: func(int) int { return 1 }},
}

func each(n int) int { return n }

func benchNamed(name string) *bench {
	for i := range benches {
		if benches[i].name == name {
			return &benches[i]
		}
	}
	return nil
}

func fibSerial(n int) int {
	if n < 2 {
		return n
	}
	return fibSerial(n-1) + fibSerial(n-2)
}

// queensSerial returns the number of solutions, and of places that were tried.
func queensSerial(n int) (solutions, places int) {
	var put func(b board) (int, int)
	put = func(b board) (solutions, places int) {
		if b.columns == b.all {
			return 1, 0
		}
		for free := b.free(); free != 0; free &= free - 1 {
			s, p := put(b.with(free & -free))
			solutions += s
			places += 1 + p
		}
		return solutions, places
	}
	return put(emptyBoard(n))
}

// A board has queens in its first rows.
type board struct{ all, columns, left, right uint32 }

func emptyBoard(n int) board { return board{all: 1<<n - 1} }

// free returns the columns where a queen may be in the next row.
func (b board) free() uint32 { return b.all &^ (b.columns | b.left | b.right) }

// with returns the board with a queen in that column of the next row.
func (b board) with(column uint32) board {
	return board{b.all, b.columns | column, (b.left | column) << 1, (b.right | column) >> 1}
}
