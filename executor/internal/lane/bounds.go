//go:build !modelcheck

package lane

const (
	// dequeCapacity is the size of the first ring of a direct lane's deque, 4 KiB on 64-bit systems. Depth-first work
	// seldom holds more items.
	dequeCapacity = 512
	// queueCapacity is how many items a queue has room for, if the configuration does not say and the kind is bounded.
	// Depth-first work seldom holds more than a few hundred.
	queueCapacity = 1024
	// smallBlock is how many items a block has if the owner is not to hide more. A graph with spans has few items in a
	// deque at a time: with blocks of 32, the default, thieves see none of a tree of two successors each, and with 4
	// they do. The owner pays a locked instruction for each block.
	smallBlock = 4
	// maxBatch is how many items a thief takes at once, at most.
	maxBatch = 64
)
