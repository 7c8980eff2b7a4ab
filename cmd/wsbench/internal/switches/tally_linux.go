package switches

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"
)

// A tally counts switches by the two processes of each. Process 0 is that of the idle threads.
type tally struct {
	self  int32 // whose switches do not count
	pairs map[pair]*pairCounts
	lost  int64
}

type pair struct{ from, to int32 }

type pairCounts struct{ total, toThief int64 }

func newTally(self int32) tally { return tally{self: self, pairs: make(map[pair]*pairCounts)} }

// counts sums up the switches of a process.
func (t *tally) counts(pid int, mates []int) Counts {
	c := Counts{Lost: t.lost}
	isMate := func(id int32) bool { return slices.Contains(mates, int(id)) }
	for p, n := range t.pairs {
		from, to := p.from == int32(pid), p.to == int32(pid)
		if !from && !to || p.from == t.self || p.to == t.self {
			continue
		}
		c.Total += n.total
		if to || isMate(p.to) {
			c.ToThief += n.toThief
		}
		if from && isMate(p.to) {
			c.External += n.total
		}
	}
	return c
}

// A cpu is where the reader of a ring is: the last switch on the CPU.
type cpu struct {
	switched bool // false: it is not known
	last     pair
	tid      int32 // the thread that the core went to
	at       uint64
	scratch  []byte
}

// The sizes of records: a header of type (32 bits), misc and size (16 bits each), then the fields of the type, then the
// fields that the event's sample_type asks for, process and thread (32 bits each) and time.
const (
	headerSize = 8
	sampleSize = 16
	switchSize = headerSize + 8 + sampleSize  // process and thread that come next, or came before
	lostSize   = headerSize + 16 + sampleSize // id and number
)

// drain reads the records from tail to head of a ring, and returns the new tail. The size of a ring is a power of two.
func (c *cpu) drain(t *tally, ring []byte, tail, head uintptr) uintptr {
	size := uintptr(len(ring))
	for head-tail >= headerSize {
		at := tail % size // a header never wraps: all sizes are multiples of 8
		length := uintptr(binary.NativeEndian.Uint16(ring[at+6:]))
		if length < headerSize || length > head-tail {
			break // damaged: the rest has no beginning
		}
		record := ring[at:min(at+length, size)]
		if rest := length - uintptr(len(record)); rest > 0 {
			c.scratch = append(append(c.scratch[:0], record...), ring[:rest]...)
			record = c.scratch
		}
		c.record(t, record)
		tail += length
	}
	return head
}

// record reads one record. A switch makes two, and the one of the thread that is switched out has it all.
func (c *cpu) record(t *tally, b []byte) {
	u32 := func(at int) int32 { return int32(binary.NativeEndian.Uint32(b[at:])) }
	kind, misc := u32(0), binary.NativeEndian.Uint16(b[4:])
	switch {
	case kind == unix.PERF_RECORD_LOST && len(b) >= lostSize:
		t.lost += int64(binary.NativeEndian.Uint64(b[16:]))
		c.switched = false
	case kind == unix.PERF_RECORD_SWITCH_CPU_WIDE && len(b) >= switchSize && misc&unix.PERF_RECORD_MISC_SWITCH_OUT != 0:
		next, from, at := pair{u32(16), u32(8)}, u32(20), binary.NativeEndian.Uint64(b[24:])
		if c.switched && c.tid == from && at-c.at < uint64(ThiefTime) {
			t.pairs[c.last].toThief++
		}
		n := t.pairs[next]
		if n == nil {
			n = new(pairCounts)
			t.pairs[next] = n
		}
		n.total++
		c.switched, c.last, c.tid, c.at = true, next, u32(12), at
	}
}
