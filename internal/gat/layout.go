package gat

import "github.com/magpie-go/magpie/internal/xatomic"

// The file begins with magic and version. All else may differ in another version. Words are in the machine's byte
// order: a machine with another one finds another magic.
const (
	magic   = 0x7461672d67616d01 // "\x01mag-gat" where the first byte is the lowest
	version = 1
)

// The states of a slot.
const (
	free = 0
	used = 1
)

// maxCount bounds every number of processors in the table, and every figure that is read from it.
const maxCount = 1 << 20

// nameWords is the number of words of a job's name, eight bytes each.
const nameWords = 4

// A table is the file's content. Every word is written with byte 0 locked, unless its comment says otherwise.
type table struct {
	magic      xatomic.Uint64 // written last when the table is made, and first, to 0, when it is made anew
	version    xatomic.Uint32
	size       xatomic.Uint32 // of the table in bytes
	boot       [2]xatomic.Uint64
	processors xatomic.Uint32
	holder     xatomic.Uint32 // the process that locked byte 0 last, for messages only
	cycle      xatomic.Uint64 // nanoseconds
	joins      xatomic.Uint64 // how many jobs have joined
	_          [8]byte

	// published counts the rebalances that have changed the active vector. Its lowest bit says which one is active:
	// storing it is what publishes a vector.
	published xatomic.Uint64
	_         [56]byte

	states  [slots]xatomic.Uint32
	vectors [2][slots]xatomic.Uint32 // allotments by slot
	jobs    [slots]slot
}

// A slot is a job's. Its state is in table.states.
type slot struct {
	id      xatomic.Uint64 // what joins was when the job had joined
	pid     xatomic.Uint32 // in the namespace of the job's process
	weight  xatomic.Uint32
	minimum xatomic.Uint32
	limit   xatomic.Uint32
	name    [nameWords]xatomic.Uint64 // padded with zeros
	stopped xatomic.Uint32            // 1 if the job counts as stopped in the active vector, or may; else 0

	// The job writes these without a lock.
	desire     xatomic.Uint32
	usage      xatomic.Uint32
	efficiency xatomic.Uint32
	heartbeat  xatomic.Uint64 // nanoseconds of the monotonic clock
	_          [48]byte
}
