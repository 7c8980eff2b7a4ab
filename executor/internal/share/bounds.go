//go:build !modelcheck

package share

const (
	// swapAfter is after how many cycles a worker that rests with work changes places with another, unless others have
	// rested for longer. Arbitrary: a lock that it holds is held for so long, and the Go runtime pays for each thread
	// that sleeps.
	swapAfter = 8
	// patience is after how many cycles without a boundary one more worker is woken. Arbitrary: a worker whose task
	// takes longer cannot be controlled anyhow.
	patience = 20
)
