//go:build modelcheck

package graph

// minSpan is the same in the smallest number with which everything still happens.
const minSpan = 2

// takesPerTurn likewise: with two a take is always somebody's turn.
const takesPerTurn = 4
