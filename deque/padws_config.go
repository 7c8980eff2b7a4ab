package deque

import "fmt"

// padWSConfig says how large a [padWS] is. Zero in a field chooses its default.
//
// Larger blocks cost the owner less at their boundaries. Smaller ones let thieves steal without asking sooner.
type padWSConfig struct {
	Capacity int // items, about; 256 by default
	Entries  int // items in a block, at most 1<<15; by default about the root of Capacity, 2^(log2(Capacity)/2)
	Blocks   int // at least 2; by default as many as Capacity takes
	Window   int // how many items one answer grants at most; by default half a block, but at most 8

	// Keep is how many items the owner keeps when it answers. None, the default, lets the first Push start a thief, and
	// is for an owner that has what it runs next elsewhere. Thieves do not get the last Keep items of its block.
	Keep int
}

// maxPadEntries is half of what an index in a padWord can count.
const maxPadEntries = 1 << (padIndexBits - 1)

// complete fills in what is zero. It panics if a field makes no sense.
func (c padWSConfig) complete() padWSConfig {
	if c.Capacity == 0 {
		c.Capacity = 256
	}
	if c.Entries == 0 {
		c.Entries = min(blockSize(c.Capacity), maxPadEntries)
	}
	if c.Blocks == 0 && c.Entries > 0 {
		c.Blocks = max(2, (c.Capacity+c.Entries-1)/c.Entries)
	}
	if c.Window == 0 {
		c.Window = max(1, min(c.Entries/2, 8))
	}
	if c.Capacity < 0 || c.Entries < 1 || c.Entries > maxPadEntries || c.Blocks < 2 || c.Window < 0 || c.Keep < 0 {
		panic(fmt.Sprintf("deque: a padWS cannot be made with %+v", c))
	}
	return c
}

// padCounts are counts of what the owner did since the deque was made.
type padCounts struct {
	Answers   uint64 // operations that granted something to thieves that had asked
	Granted   uint64 // items that they granted; as many requests
	Revokes   uint64 // times that Pop took back what was granted
	Advances  uint64 // blocks entered from below
	Takeovers uint64 // blocks entered from above
	NoRoom    uint64 // times that Push failed because all blocks hold items
	Copying   uint64 // times that Push failed because a thief had not yet left the next block
}
