package main

import (
	"context"
	"slices"

	"github.com/magpie-go/magpie/executor"
)

var forkRivals = slices.Concat(
	recursive("fib", fibSerial, fibSerial, fibFrames, fibMagpie),
	recursive("fat", fatNodes, fatSerial, fatFrames, fatMagpie),
	recursive("thin", thinNodes, thinSerial, thinFrames, thinMagpie),
	[]goRival{
		{"queens", "serial", func(_, n int) (repetition, error) {
			want, _ := queensSerial(n)
			return expect(want, func() (int, error) { got, _ := queensSerial(n); return got, nil }), nil
		}},
		{"queens", "frames", func(_, n int) (repetition, error) {
			want, _ := queensSerial(n)
			s := new(frames[places])
			return expect(want, func() (int, error) { return queensFrames(s, emptyBoard(n)), nil }), nil
		}},
		{"queens", "magpie", func(workers, n int) (repetition, error) {
			want, _ := queensSerial(n)
			ex, err := newExecutor(workers)
			return expect(want, func() (int, error) {
				return executor.Call(context.Background(), ex, queensMagpie, emptyBoard(n))
			}), err
		}},
	},
)

// recursive are the rivals of a recursion: serial, with frames, and with forks. want is the answer for a size.
func recursive(bench string, want, serial func(int) int, framed func(*frames[int], int) int,
	forked func(*executor.Scope, int) int) []goRival {
	return []goRival{
		{bench, "serial", func(_, n int) (repetition, error) {
			return expect(want(n), func() (int, error) { return serial(n), nil }), nil
		}},
		{bench, "frames", func(_, n int) (repetition, error) {
			s := new(frames[int])
			return expect(want(n), func() (int, error) { return framed(s, n), nil }), nil
		}},
		{bench, "magpie", func(workers, n int) (repetition, error) {
			ex, err := newExecutor(workers)
			return expect(want(n), func() (int, error) {
				return executor.Call(context.Background(), ex, forked, n)
			}), err
		}},
	}
}

func fibMagpie(s *executor.Scope, n int) int {
	if n < 2 {
		return n
	}
	f := executor.Fork(s, fibMagpie, n-1)
	r := fibMagpie(s, n-2)
	return f.Join(s) + r
}

// fatChildren are the children of a node of a fat tree. A thin tree has two. The answer is the number of nodes.
const fatChildren = 64

func fatNodes(depth int) int { return treeNodes(fatChildren, depth) }

func thinNodes(depth int) int { return treeNodes(2, depth) }

func treeNodes(children, depth int) int {
	n := 1
	for range depth {
		n = 1 + children*n
	}
	return n
}

func fatSerial(depth int) int {
	n := 1
	if depth > 0 {
		for range fatChildren {
			n += fatSerial(depth - 1)
		}
	}
	return n
}

func fatMagpie(s *executor.Scope, depth int) int {
	if depth == 0 {
		return 1
	}
	var forks [fatChildren - 1]executor.Forked[int, int]
	for i := range forks {
		forks[i] = executor.Fork(s, fatMagpie, depth-1)
	}
	n := 1 + fatMagpie(s, depth-1)
	for i := len(forks) - 1; i >= 0; i-- {
		n += forks[i].Join(s)
	}
	return n
}

func thinSerial(depth int) int {
	if depth == 0 {
		return 1
	}
	n := thinSerial(depth - 1)
	return 1 + n + thinSerial(depth-1)
}

func thinMagpie(s *executor.Scope, depth int) int {
	if depth == 0 {
		return 1
	}
	f := executor.Fork(s, thinMagpie, depth-1)
	n := 1 + thinMagpie(s, depth-1)
	return n + f.Join(s)
}

func queensMagpie(s *executor.Scope, b board) int {
	if b.columns == b.all {
		return 1
	}
	return placesMagpie(s, places{b, b.free()})
}

// places are columns where a queen may be in the next row of a board.
type places struct {
	board
	free uint32
}

func placesMagpie(s *executor.Scope, p places) int {
	if p.free == 0 {
		return 0
	}
	first := p.with(p.free & -p.free)
	rest := places{p.board, p.free & (p.free - 1)}
	if rest.free == 0 {
		return queensMagpie(s, first)
	}
	f := executor.Fork(s, placesMagpie, rest)
	n := queensMagpie(s, first)
	return n + f.Join(s)
}
