package switches

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A ring has the kernel's records of one CPU. The kernel moves the head, and drops records while there is no room
// before the tail, which the reader moves.
type ring struct {
	mapped  []byte // the kernel's page about the ring, then the records
	records []byte
	cpu     cpu
}

// system is the kernel. Tests replace it.
var system = struct {
	open func(cpu, size int) (r *ring, call string, err error)
}{openEvent}

// openEvent opens a software event that counts nothing, with context_switch set, for all processes on a CPU. An error
// comes with the call that failed.
func openEvent(cpu, size int) (*ring, string, error) {
	attr := unix.PerfEventAttr{
		Type:        unix.PERF_TYPE_SOFTWARE,
		Config:      unix.PERF_COUNT_SW_DUMMY,
		Size:        unix.PERF_ATTR_SIZE_VER5, // of 2016: older kernels refuse larger ones with fields set only
		Sample_type: unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME,
		Bits: unix.PerfBitContextSwitch | unix.PerfBitSampleIDAll | unix.PerfBitExcludeKernel |
			unix.PerfBitExcludeHv,
	}
	fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, "perf_event_open", err
	}
	page := unix.Getpagesize()
	// The mapping keeps the event: the file is closed at once.
	mapped, err := unix.Mmap(fd, 0, page+size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	_ = unix.Close(fd)
	if err != nil {
		return nil, "mmap", err
	}
	return &ring{mapped: mapped, records: mapped[page:]}, "", nil
}

func (r *ring) page() *unix.PerfEventMmapPage {
	return (*unix.PerfEventMmapPage)(unsafe.Pointer(unsafe.SliceData(r.mapped)))
}

// head returns where the kernel writes next, in bytes since the beginning. On 32-bit systems head and tail are the low
// halves, the first ones on all of them that have this event, and the high halves stay 0.
func (r *ring) head() uintptr { return (*atomic.Uintptr)(unsafe.Pointer(&r.page().Data_head)).Load() }

// tail returns how far the records have been read.
func (r *ring) tail() uintptr { return (*atomic.Uintptr)(unsafe.Pointer(&r.page().Data_tail)).Load() }

// setTail gives the room before tail back to the kernel.
func (r *ring) setTail(tail uintptr) {
	(*atomic.Uintptr)(unsafe.Pointer(&r.page().Data_tail)).Store(tail)
}

func (r *ring) close() error { return unix.Munmap(r.mapped) }
