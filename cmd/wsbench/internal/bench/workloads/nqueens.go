package workloads

import (
	"sync"

	"github.com/magpie-go/magpie/executor"
)

// nqueens is a search: the work behind a task is not known in advance, and the argument is more than a number.
var nqueens = &Workload{
	Name:    "nqueens",
	About:   "all ways to place n queens on an n×n board, one task for each queen placed; the board is the argument",
	Size:    "queens, at most 16",
	Default: 13,
	Most:    mostQueens,
	Shape:   func(n int) Shape { return Shape{Tasks: queens[n].placed, Width: queens[n].placed} },
	Program: func(n int, _ uint64, _ Values) (Program, error) {
		return &recursion[board]{arg: board{n: int8(n)}, want: queens[n].solutions,
			serial: queensSerial, goroutines: queensGoroutines, fork: queensFork}, nil
	},
}

// mostQueens is the largest board.
const mostQueens = 16

// queens has the known figures of n queens: the number of ways to place them, and the number of queens placed until all
// ways are found.
var queens = [mostQueens + 1]struct {
	solutions int64
	placed    float64
}{
	{1, 0}, {1, 1}, {0, 2}, {0, 5}, {2, 16}, {10, 53}, {4, 152}, {40, 551}, {92, 2056}, {352, 8393}, {724, 35538},
	{2680, 166925}, {14200, 856188}, {73712, 4674889}, {365596, 27358552}, {2279184, 171129071}, {14772512, 1141190302},
}

// A board has queens in its first rows, one in each.
type board struct {
	n, rows int8
	columns [mostQueens]int8 // by row
}

// free reports whether no queen attacks that column of the next row.
func (b *board) free(column int8) bool {
	for i, c := range b.columns[:b.rows] {
		if d := b.rows - int8(i); c == column || c == column-d || c == column+d {
			return false
		}
	}
	return true
}

// with returns the board with a queen in that column of the next row.
func (b board) with(column int8) board {
	b.columns[b.rows] = column
	b.rows++
	return b
}

func queensSerial(b board) (solutions int64) {
	if b.rows == b.n {
		return 1
	}
	for c := range b.n {
		if b.free(c) {
			solutions += queensSerial(b.with(c))
		}
	}
	return solutions
}

func queensGoroutines(g *spawner, b board) (solutions int64) {
	if b.rows == b.n {
		return 1
	}
	var counts [mostQueens]int64
	var wg sync.WaitGroup
	last := int8(-1)
	for c := range b.n {
		if !b.free(c) {
			continue
		}
		if prior := last; prior >= 0 {
			g.start(&wg, func() { counts[prior] = queensGoroutines(g, b.with(prior)) })
		}
		last = c
	}
	if last >= 0 {
		solutions = queensGoroutines(g, b.with(last))
	}
	wg.Wait()
	for _, n := range counts {
		solutions += n
	}
	return solutions
}

func queensFork(s *executor.Scope, b board) (solutions int64) {
	if b.rows == b.n {
		return 1
	}
	var forks [mostQueens]executor.Forked[board, int64]
	n, last := 0, int8(-1)
	for c := range b.n {
		if !b.free(c) {
			continue
		}
		if last >= 0 {
			forks[n] = executor.Fork(s, queensFork, b.with(last))
			n++
		}
		last = c
	}
	if last >= 0 {
		solutions = queensFork(s, b.with(last))
	}
	for n > 0 {
		n--
		solutions += forks[n].Join(s)
	}
	return solutions
}
