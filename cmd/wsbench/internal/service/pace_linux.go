package service

import (
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
	"golang.org/x/sys/unix"
)

// sleep lets the calling thread sleep for d. time.Sleep would round to milliseconds: the runtime waits for the network
// meanwhile.
func sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	t := unix.NsecToTimespec(d.Nanoseconds())
	_ = unix.Nanosleep(&t, nil) // a signal may wake it early
}

// punctual makes the calling thread's sleeps end at their time. By default they may last 50 µs longer.
func punctual() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) }

// favour makes the system run the threads of the process before those of the server, if it may do so, and says how.
func favour() string {
	realTime := &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}
	if osthread.Each(func(id int) error { return unix.SchedSetAttr(id, realTime, 0) }) == nil {
		return "in real time (SCHED_FIFO)"
	}
	// On an error some threads may be favoured already, which does no harm.
	if osthread.Each(func(id int) error { return unix.Setpriority(unix.PRIO_PROCESS, id, -20) }) == nil {
		return "with nice -20"
	}
	return ""
}
