//go:build !modelcheck

package graph

// minSpan is how many successors make a span. Arbitrary beyond succMany; re-measure with wsbench run btree fan.
const minSpan = 8
