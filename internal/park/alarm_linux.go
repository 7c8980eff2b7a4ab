package park

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A clock is a timer that the system shows as a file. Its sleeps allocate nothing.
type clock struct {
	file        *os.File
	raw         syscall.RawConn // of file
	set         func(fd uintptr)
	setting     unix.ItimerSpec // for set
	expirations [8]byte         // read from file
}

// openClock is replaced by tests.
var openClock = newClock

// newClock returns nil if the process may have no more files, or not this kind.
func newClock() *clock {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil
	}
	c := &clock{file: os.NewFile(uintptr(fd), "timerfd")}
	if c.raw, err = c.file.SyscallConn(); err != nil {
		c.close()
		return nil
	}
	c.set = func(fd uintptr) { _ = unix.TimerfdSettime(int(fd), 0, &c.setting, nil) }
	return c
}

// sleep returns false if the clock is closed, before or meanwhile.
func (c *clock) sleep(d time.Duration) bool {
	c.setting.Value = unix.NsecToTimespec(int64(max(d, 1))) // 0 would stop the clock
	if c.raw.Control(c.set) != nil {
		return false
	}
	_, err := c.file.Read(c.expirations[:])
	return err == nil
}

func (c *clock) close() { _ = c.file.Close() } // which fails only if it is closed already
