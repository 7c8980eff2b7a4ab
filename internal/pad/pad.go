// Package pad keeps words that different threads write on different cache lines.
package pad

// Size is how far apart two words must be so that writing one does not disturb readers of the other: two 64-byte lines,
// because amd64 prefetches lines in pairs and arm64 servers have 128-byte ones. Larger would cost memory, smaller costs
// speed: neighbouring worker structs on one line turned 5.7 ns a task into 14.
const Size = 128

// A Line is as much padding as separates two fields for sure, whatever the alignment of what stands before it.
type Line [Size]byte
