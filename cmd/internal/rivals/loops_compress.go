package main

import (
	"encoding/binary"
	"fmt"
)

const (
	packBlock = 4 << 10 // bytes of an item
	packMost  = packBlock + packBlock/8 + 16
)

// compressions has blocks as units.
func compressions(blocks int) func() loopWork {
	text := logText(blocks * packBlock)
	return func() loopWork {
		out := make([]byte, blocks*packMost)
		sizes := make([]uint64, blocks)
		return loopWork{
			items: blocks,
			do: func(lo, hi int) {
				var table packTable
				for i := lo; i < hi; i++ {
					table = packTable{}
					at := i * packMost
					sizes[i] = uint64(len(pack(out[at:at:at+packMost], &table, text[i*packBlock:(i+1)*packBlock])))
				}
			},
			clear:  func() { clear(out); clear(sizes) },
			digest: func() uint64 { return mix(sizes) ^ digestBytes(out) },
		}
	}
}

// allocatingCompressions has blocks as units.
func allocatingCompressions(blocks int) func() loopWork {
	text := logText(blocks * packBlock)
	return func() loopWork {
		out := make([][]byte, blocks)
		return loopWork{
			items: blocks,
			do: func(lo, hi int) {
				for i := lo; i < hi; i++ {
					out[i] = pack(nil, new(packTable), text[i*packBlock:(i+1)*packBlock])
				}
			},
			clear: func() { clear(out) },
			digest: func() (sum uint64) {
				for _, b := range out {
					sum = mix([]uint64{sum, digestBytes(b)})
				}
				return sum
			},
		}
	}
}

// A packTable has the last position of four bytes, plus one, by a hash of them.
type packTable [1 << 10]uint16

// pack appends src to dst with what has occurred in it before replaced by its distance and length: a byte 255, the
// length, and two bytes of distance. A byte 255 of src has a length of 0.
func pack(dst []byte, table *packTable, src []byte) []byte {
	i := 0
	for i+4 <= len(src) {
		four := binary.LittleEndian.Uint32(src[i:])
		slot := &table[four*2654435761>>22]
		before := int(*slot) - 1
		*slot = uint16(i + 1)
		if before < 0 || binary.LittleEndian.Uint32(src[before:]) != four {
			dst = packByte(dst, src[i])
			i++
			continue
		}
		n := 4
		for n < 255 && i+n < len(src) && src[before+n] == src[i+n] {
			n++
		}
		dst = append(dst, 255, byte(n), byte(i-before), byte((i-before)>>8))
		i += n
	}
	for ; i < len(src); i++ {
		dst = packByte(dst, src[i])
	}
	return dst
}

func packByte(dst []byte, b byte) []byte {
	if b == 255 {
		return append(dst, 255, 0)
	}
	return append(dst, b)
}

// logText returns at least n bytes of lines of a log.
func logText(n int) []byte {
	text := make([]byte, 0, n+128)
	levels := []string{"INFO", "WARN", "ERROR", "DEBUG"}
	draws := random(n/50+1, func(x uint64) uint64 { return x })
	for i := 0; len(text) < n; i++ {
		x := draws[i%len(draws)]
		text = fmt.Appendf(text, "2026-11-27T%02d:%02d:%02d %s shard=%d bytes=%d took=%dus path=/v1/item/%x\n",
			x%24, x>>8%60, x>>16%60, levels[x>>24%4], x>>26%64, x>>32%100_000, x>>40%10_000, x>>52)
	}
	return text
}
