//go:build modelcheck

package graph

// minSpan is the smallest number with which a span can be halved.
const minSpan = 2

// maxPiece is the smallest number above minSpan.
const maxPiece = minSpan + 1

// maxPooled is the smallest number with which a worker has a pool.
const maxPooled = 1

// takesPerTurn is the smallest number with which some takes are the turn of neither Normal nor Low.
const takesPerTurn = 4
