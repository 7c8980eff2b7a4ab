//go:build !modelcheck

package graph

// minSpan is the least number of successors that are released as a span. Arbitrary above succMany; re-measure with
// wsbench run btree fan.
const minSpan = 8

// takesPerTurn is the number of takes from the ranks in which Normal and Low have one turn each. Task.Priority promises
// it. Arbitrary: with half as many a quarter of the takes would not be for High, with more Low and Normal wait longer.
const takesPerTurn = 16
