//go:build !modelcheck

package peer

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Recorder keeps the kernel's records of when a thread was switched in and out, in a ring that the kernel overwrites.
// Any thread may use it.
type Recorder struct {
	mu   sync.RWMutex // held to read while the ring is read, so that Close does not take it away
	ring []byte       // nil: closed. The kernel's page about the ring, then one page of records.
}

// recordFile opens the switch records of a thread: a software event that counts nothing, with context_switch set.
func recordFile(id int64) (fd int, errno syscall.Errno) {
	attr := unix.PerfEventAttr{
		Type:   unix.PERF_TYPE_SOFTWARE,
		Config: unix.PERF_COUNT_SW_DUMMY,
		Size:   unix.PERF_ATTR_SIZE_VER5, // of 2016: older kernels refuse larger ones with fields set only
		Bits:   unix.PerfBitContextSwitch | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	fd, err := unix.PerfEventOpen(&attr, int(id), -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	return fd, errnoOf(err)
}

// Record begins to record the switches of a thread of the process. The state is Unknown until the first one.
//
// An error wraps ErrUnsupported and says what to do.
func Record(id int64) (*Recorder, error) {
	fd, errno := system.recordFile(id)
	if errno != 0 {
		return nil, recordsError("perf_event_open", errno)
	}
	// Without PROT_WRITE the kernel overwrites old records, so nothing has to read them all. The mapping keeps the
	// event: the file is closed at once.
	ring, err := unix.Mmap(fd, 0, 2*unix.Getpagesize(), unix.PROT_READ, unix.MAP_SHARED)
	_ = unix.Close(fd)
	if err != nil {
		return nil, recordsError("mmap", errnoOf(err))
	}
	return &Recorder{ring: ring}, nil
}

// switchSize is the size of a PERF_RECORD_SWITCH, which is a bare header: type (32 bits), misc and size (16 bits each).
// An event of a thread has no larger ones, unless it asks for sample ids.
const switchSize = 8

// head returns where the kernel writes next, in bytes since the beginning. On 32-bit systems it is the low half: it is
// the first on all of them that have this event.
//
// Caller holds r.mu and has seen that r.ring is not nil.
func (r *Recorder) head() uintptr {
	page := (*unix.PerfEventMmapPage)(unsafe.Pointer(unsafe.SliceData(r.ring)))
	return (*atomic.Uintptr)(unsafe.Pointer(&page.Data_head)).Load()
}

// last returns the state after the last switch, and where the record of the switch ends.
func (r *Recorder) last() (State, uintptr) {
	if !r.mu.TryRLock() {
		return Unknown, 0
	}
	defer r.mu.RUnlock()
	if r.ring == nil {
		return Unknown, 0
	}
	records := len(r.ring) / 2
	const tries = 3 // a thread that is switched again within each try is in no state for long
	for range tries {
		end := r.head()
		if end == 0 {
			return Unknown, 0
		}
		at := unsafe.Pointer(&r.ring[records+int((end-switchSize)%uintptr(records))])
		kind := (*atomic.Uint32)(at).Load()
		var rest [4]byte
		binary.NativeEndian.PutUint32(rest[:], (*atomic.Uint32)(unsafe.Add(at, 4)).Load())
		if r.head() != end {
			continue
		}
		misc := binary.NativeEndian.Uint16(rest[:])
		switch {
		case kind != unix.PERF_RECORD_SWITCH:
			return Unknown, end
		case misc&unix.PERF_RECORD_MISC_SWITCH_OUT == 0:
			return Running, end
		case misc&unix.PERF_RECORD_MISC_SWITCH_OUT_PREEMPT != 0:
			return Preempted, end
		}
		return Blocked, end
	}
	return Unknown, 0
}

// State returns what the thread does, by its last switch. A record is written some hundred nanoseconds before the
// thread loses its core, and as long after it gets one.
func (r *Recorder) State() State {
	s, _ := r.last()
	return s
}

// Check asks, counts whether the answer was right, and returns it. ask says whether the recorded thread is preempted.
// The answer is judged only if the record is the same before and after: the thread was in one state all the time. On a
// nil Recorder the answer counts as unknown.
func (r *Recorder) Check(c *Counts, ask func() (preempted bool)) bool {
	if r == nil {
		said := ask()
		c.judge(said, Unknown)
		return said
	}
	before, begin := r.last()
	said := ask()
	if after, end := r.last(); after != before || end != begin {
		before = Unknown
	}
	c.judge(said, before)
	return said
}

// Close ends the record: the state is Unknown from now on. A second Close does nothing.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	ring := r.ring
	r.ring = nil
	if ring == nil {
		return nil
	}
	return unix.Munmap(ring)
}
