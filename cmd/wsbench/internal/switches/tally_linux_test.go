package switches

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// out returns the record of a switch from a thread to a thread of other processes at a time. Thread 11 is of process 1.
func out(at uint64, from, to uint32, misc uint16) []byte {
	b := header(unix.PERF_RECORD_SWITCH_CPU_WIDE, unix.PERF_RECORD_MISC_SWITCH_OUT|misc, switchSize)
	for _, v := range []uint32{to / 10, to, from / 10, from} {
		b = binary.NativeEndian.AppendUint32(b, v)
	}
	return binary.NativeEndian.AppendUint64(b, at)
}

// in returns the second record of the same switch.
func in(at uint64, from, to uint32) []byte {
	b := out(at, to, from, 0)
	binary.NativeEndian.PutUint16(b[4:], 0)
	return b
}

func lost(n uint64) []byte {
	b := binary.NativeEndian.AppendUint64(header(unix.PERF_RECORD_LOST, 0, lostSize), 5)
	return append(binary.NativeEndian.AppendUint64(b, n), make([]byte, sampleSize)...)
}

func header(kind uint32, misc, size uint16) []byte {
	b := binary.NativeEndian.AppendUint32(nil, kind)
	return binary.NativeEndian.AppendUint16(binary.NativeEndian.AppendUint16(b, misc), size)
}

func TestTally(t *testing.T) {
	const (
		us      = 1000
		preempt = unix.PERF_RECORD_MISC_SWITCH_OUT_PREEMPT
	)
	for name, c := range map[string]struct {
		records     [][]byte
		first, mate Counts // of process 1 with mate 2, and the other way round
	}{
		"nothing": {},
		"others": {
			records: [][]byte{out(1*us, 31, 41, 0), out(2*us, 41, 0, 0)},
		},
		"thieves yield to each other": {
			records: [][]byte{
				out(1*us, 11, 12, preempt), in(1*us, 11, 12), out(3*us, 12, 11, preempt), in(3*us, 12, 11),
				out(5*us, 11, 12, preempt), in(5*us, 11, 12),
			},
			first: Counts{Total: 3, ToThief: 2}, // of the last one it is not known yet
		},
		"a thief blocks": {
			records: [][]byte{out(1*us, 0, 11, 0), out(3*us, 11, 0, 0)},
			first:   Counts{Total: 2, ToThief: 1},
		},
		"busy workers": {
			records: [][]byte{out(0, 11, 12, preempt), out(500*us, 12, 11, preempt), out(3000*us, 11, 12, preempt)},
			first:   Counts{Total: 3},
		},
		"the other program": {
			records: [][]byte{
				out(0, 11, 21, preempt), out(2*us, 21, 11, preempt), out(2000*us, 11, 21, 0), out(4000*us, 21, 31, 0),
			},
			first: Counts{Total: 3, ToThief: 1, External: 2},
			mate:  Counts{Total: 4, ToThief: 1, External: 1},
		},
		"a thief of a stranger": {
			records: [][]byte{out(0, 11, 31, 0), out(2*us, 31, 0, 0)},
			first:   Counts{Total: 1},
		},
		"the recording process": {
			records: [][]byte{out(0, 11, 91, 0), out(2*us, 91, 11, 0), out(4*us, 11, 12, 0)},
			first:   Counts{Total: 1},
		},
		"lost": {
			records: [][]byte{out(0, 11, 12, 0), lost(6), out(2*us, 12, 11, 0), lost(1)},
			first:   Counts{Total: 2, Lost: 7},
			mate:    Counts{Lost: 7},
		},
		"another thread after records that are missing": {
			records: [][]byte{out(0, 11, 12, 0), out(2*us, 13, 11, 0)},
			first:   Counts{Total: 2},
		},
		"records of no interest": {
			records: [][]byte{header(unix.PERF_RECORD_SWITCH, unix.PERF_RECORD_MISC_SWITCH_OUT, headerSize), out(0,
				11, 12, 0)},
			first: Counts{Total: 1},
		},
		"a damaged record": {
			records: [][]byte{out(0, 11, 12, 0), header(unix.PERF_RECORD_LOST, 0, 0), out(0, 12, 11, 0)},
			first:   Counts{Total: 1},
		},
	} {
		// At every offset in the ring, so that each record wraps somewhere, and with the counter's own wrap.
		for offset := -128; offset < 512; offset += 8 {
			ring, tail, head := make([]byte, 512), uintptr(offset), uintptr(offset)
			for _, r := range c.records {
				for _, b := range r {
					ring[head%512] = b
					head++
				}
			}
			tally := newTally(9)
			var reader cpu
			require.Equal(t, head, reader.drain(&tally, ring, tail, head))
			require.Equal(t, c.first, tally.counts(1, []int{2}), "%s, from %d", name, offset)
			require.Equal(t, c.mate, tally.counts(2, []int{1}), "%s, from %d", name, offset)
		}
	}
}

// TestTallyParts: it makes no difference where a reading ends.
func TestTallyParts(t *testing.T) {
	ring := append(out(0, 11, 12, 0), append(out(2000, 12, 11, 0), make([]byte, 512-2*switchSize)...)...)
	tally := newTally(9)
	var reader cpu
	tail := reader.drain(&tally, ring, 0, switchSize)
	reader.drain(&tally, ring, tail, 2*switchSize)
	require.Equal(t, Counts{Total: 2, ToThief: 1}, tally.counts(1, nil))
}
