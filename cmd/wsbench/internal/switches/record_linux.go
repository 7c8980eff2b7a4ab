package switches

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A Recording counts the switches between all processes while it lasts. Any goroutine may use it.
type Recording struct {
	stop  chan struct{}
	ended sync.WaitGroup

	mu    sync.Mutex
	rings []*ring
	tally tally
}

// pollEvery is the time between two readings of the rings. With 4 MiB for each CPU, 65,536 switches fit between two:
// no CPU makes that many in 5 ms, nor in the 60 ms by which a busy system may delay a reading.
const pollEvery = 5 * time.Millisecond

// ringBytes are the sizes of a CPU's ring that Record tries: as much as the process may lock. The last is half of what
// kernel.perf_event_mlock_kb allows every user by default.
var ringBytes = []int{4 << 20, 1 << 20, 512 << 10, 256 << 10}

// Record begins to record all switches on the CPUs of the process, also those between other processes. Switches from
// and to the recording process itself do not count. The recording ends with Stop.
//
// An error says what to do.
func Record() (*Recording, error) {
	var cpus unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &cpus); err != nil {
		return nil, unavailable("sched_getaffinity", err)
	}
	r := &Recording{stop: make(chan struct{}), tally: newTally(int32(os.Getpid()))}
	for cpu := range len(cpus) * 64 {
		if !cpus.IsSet(cpu) {
			continue
		}
		ring, err := openRing(cpu)
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
		r.rings = append(r.rings, ring)
	}
	r.ended.Go(r.poll)
	return r, nil
}

// openRing begins to record the switches on a CPU.
func openRing(cpu int) (r *ring, err error) {
	for _, size := range ringBytes {
		var call string
		if r, call, err = system.open(cpu, size); err == nil {
			return r, nil
		}
		err = unavailable(call, err)
		if call != "mmap" {
			break
		}
	}
	return nil, err
}

func (r *Recording) poll() {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-r.stop:
			return
		case <-tick.C:
		}
		r.mu.Lock()
		r.drain()
		r.mu.Unlock()
	}
}

// drain reads all rings to their ends. Caller holds r.mu.
func (r *Recording) drain() {
	for _, ring := range r.rings {
		ring.setTail(ring.cpu.drain(&r.tally, ring.records, ring.tail(), ring.head()))
	}
}

// Counts returns the switches of a process since the recording began. mates are the other processes of the co-run.
// After Stop the counts no longer change.
func (r *Recording) Counts(pid int, mates ...int) Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drain()
	return r.tally.counts(pid, mates)
}

// Stop ends the recording. A second Stop does nothing.
func (r *Recording) Stop() error {
	r.mu.Lock()
	if r.rings == nil {
		r.mu.Unlock()
		return nil
	}
	r.drain()
	err := r.close()
	r.mu.Unlock()
	close(r.stop)
	r.ended.Wait()
	return err
}

// close gives the rings back. Caller holds r.mu or has the only reference.
func (r *Recording) close() (err error) {
	for _, ring := range r.rings {
		err = errors.Join(err, ring.close())
	}
	r.rings = nil
	return err
}

// unavailable explains why the switches of all processes cannot be recorded.
func unavailable(call string, err error) error {
	remedy := "unexpected: report it"
	switch {
	case errors.Is(err, unix.EPERM) && call == "mmap":
		remedy = "raise sysctl kernel.perf_event_mlock_kb or the limit on locked memory (ulimit -l)"
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		remedy = "set sysctl kernel.perf_event_paranoid to 0 or less, or let the process have CAP_PERFMON; a " +
			"container's filter of system calls has to allow the call as well"
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP),
		errors.Is(err, unix.ENODEV):
		remedy = "the kernel has no performance events (CONFIG_PERF_EVENTS)"
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.E2BIG):
		remedy = "it takes Linux 4.3 or later"
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		remedy = "raise the limit on open files (ulimit -n)"
	case errors.Is(err, unix.ENOMEM):
		remedy = "there is no memory for the records"
	}
	return fmt.Errorf("context switches cannot be recorded: %s: %w: %s", call, err, remedy)
}
