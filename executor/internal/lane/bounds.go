//go:build !modelcheck

package lane

const (
	// dequeCapacity is the size of the first ring of a direct lane's deque, 4 KiB on 64-bit systems. Depth-first work
	// seldom holds more items.
	dequeCapacity = 512
	// queueCapacity is how many items a queue has room for, if the configuration does not say and the kind is bounded.
	// Depth-first work seldom holds more than a few hundred.
	queueCapacity = 1024
	// maxBatch is how many items a thief takes at once, at most.
	maxBatch = 64
)
