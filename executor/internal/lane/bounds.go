//go:build !modelcheck

package lane

const (
	// dequeCapacity is the first ring of a direct lane's deque, 4 KiB: depth-first work seldom holds more.
	dequeCapacity = 512
	// queueCapacity is how many items a queue has room for, if it is bounded. Depth-first work seldom holds more than a few
	// hundred.
	queueCapacity = 1024
	// maxBatch is how many items a thief takes at once at most.
	maxBatch = 64
)
