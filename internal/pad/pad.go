// Package pad keeps words that different threads write on different cache lines.
package pad

// Size is how far apart two words must be so that writing one does not disturb readers of the other: two 64-byte lines,
// because amd64 prefetches lines in pairs and arm64 servers have 128-byte ones. Larger would cost memory, smaller costs
// speed: neighbouring worker structs on one line turned 5.7 ns a task into 14.
const Size = 128

// A Line is as much padding as separates two fields for sure, whatever the alignment of what stands before it.
//
// Padding keeps a field apart that others read, but they may read the first byte of the struct as well: where the address of
// a field is taken, or a method of a field called that is not inlined, the compiler has the pointer checked for nil by a load
// of what it points to. So of a struct to which others have the pointer the first field is one that nobody writes, or a Line. A
// thief that spun on an empty deque of blocks slowed its owner from 3 to 18 ns a pair by nothing but that.
type Line [Size]byte
