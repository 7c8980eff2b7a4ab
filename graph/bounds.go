//go:build !modelcheck

package graph

// minSpan is the least number of successors that are released as a span. Arbitrary, and above succMany; re-measure with
// wsbench run btree fan.
const minSpan = 8

// maxPiece is the most tasks in a span of a part of the successors. Arbitrary: a span of that many costs a task next to
// nothing, and the worker finds them ready within microseconds.
const maxPiece = 1024

// maxPooled is the most free spans that a worker keeps for a run. The others go to the graph. Arbitrary: a worker takes
// so many from the graph at once.
const maxPooled = 32

// takesPerTurn is the number of takes from the ranks in which Normal and Low have one turn each. Task.Priority promises
// it. Arbitrary: with half as many a quarter of the takes would not be for High, with more Low and Normal wait longer.
const takesPerTurn = 16
