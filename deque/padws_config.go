package deque

import "fmt"

// A padWSConfig has the sizes of a [padWS]. The zero value of a field chooses its default.
//
// Larger blocks cost the owner less at their boundaries. With smaller blocks thieves can steal without asking sooner.
type padWSConfig struct {
	Capacity int // items, about; 256 by default
	Entries  int // items in a block, at most 1<<15; see blockSize for the default
	Blocks   int // at least 2; by default as many as Capacity takes
	Window   int // at most so many items are granted by one answer; by default half a block, but at most 8

	// Keep is the number of items that the owner keeps when it answers: the newest of its block. With zero, the
	// default, the first Push can start a thief; that is for an owner that has its next item elsewhere.
	Keep int
}

// maxPadEntries is half of what an index in a padWord can count.
const maxPadEntries = 1 << (padIndexBits - 1)

// complete fills in defaults. It panics if a field makes no sense.
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

// padCounts count the owner's actions since the deque was made.
type padCounts struct {
	Answers   uint64 // operations that granted items because thieves had asked
	Granted   uint64 // items that they granted, one for each request
	Revokes   uint64 // times that Pop took back granted items
	Advances  uint64 // blocks entered from below
	Takeovers uint64 // blocks entered from above
	NoRoom    uint64 // pushes refused because all blocks hold items
	Copying   uint64 // pushes refused because a thief was still copying in the next block
}
