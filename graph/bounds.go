//go:build !modelcheck

package graph

// minSpan is how many successors make a span. Arbitrary beyond succMany; re-measure with wsbench run btree fan.
const minSpan = 8

// takesPerTurn is in how many takes from the ranks Normal and Low have one turn each. Task.Priority promises it. Arbitrary:
// half as many would take a quarter of the workers from High, with more what can wait waits longer.
const takesPerTurn = 16
