package gat

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A file is an open file description of a table, and the table's mapping. The mapping ends when nothing refers to the
// file any more, because threads may read the table without a lock. A description that was not closed is closed then.
type file struct {
	path   string
	table  *table
	before func() // see member
	*resources
}

type resources struct {
	fd      int // -1 when closed
	mapping []byte
}

// release may be called again.
func (r *resources) release() {
	if r.fd >= 0 {
		_ = unix.Close(r.fd)
	}
	if r.mapping != nil {
		_ = unix.Munmap(r.mapping)
	}
	*r = resources{fd: -1}
}

// failpoint is the before of the files opened from now on. Only tests set it.
var failpoint func()

// now returns the time of the monotonic clock. All processes share it, unlike that of package time. A test replaces it.
var now = func() uint64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic("gat: there is no monotonic clock: " + err.Error()) // Go's runtime would not have started
	}
	return uint64(t.Nano())
}

// bootFile changes when the machine boots. Every kernel that Go runs on has it. A test replaces it.
var bootFile = "/proc/sys/kernel/random/boot_id"

func bootID() (id [2]uint64, err error) {
	text, err := os.ReadFile(bootFile)
	if err != nil {
		return id, fmt.Errorf("the machine's boot id: %w", err)
	}
	b, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(string(text)), "-", ""))
	if err != nil || len(b) != 16 {
		return id, fmt.Errorf("the machine's boot id: %s has %q", bootFile, text)
	}
	for i, c := range b {
		id[i/8] = id[i/8]<<8 | uint64(c)
	}
	return id, nil
}

// openAttempts is how often openLocked opens a file anew that was removed before it was locked. It is arbitrary.
const openAttempts = 10

// openLocked opens or makes the file at path, locks byte 0, gives the file its size, and maps it.
func openLocked(path string, patience time.Duration) (*file, error) {
	for range openAttempts {
		f, err := open(path, unix.O_RDWR|unix.O_CREAT)
		if err != nil {
			return nil, err
		}
		f.before = failpoint
		if err := f.lock(patience); err != nil {
			f.close()
			return nil, err
		}
		if !f.isAt(path) {
			f.close()
			continue
		}
		if err := f.prepare(); err != nil {
			f.close()
			return nil, err
		}
		return f, nil
	}
	return nil, fmt.Errorf("%s: %w: it is removed again and again", path, ErrBusy)
}

// prepare makes the file one that can be mapped, and maps it. The caller holds byte 0.
func (f *file) prepare() error {
	if err := f.checkMagic(); err != nil {
		return err
	}
	if err := f.grow(); err != nil {
		return err
	}
	return f.mmap(unix.PROT_READ | unix.PROT_WRITE)
}

// open opens a file and checks that it is the user's and no other user's to write.
func open(path string, flags int) (*file, error) {
	// Without O_NONBLOCK the open of a FIFO would wait. For a table it has no effect.
	fd, err := retry(func() (int, error) {
		return unix.Open(path, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0o600)
	})
	if err != nil {
		return nil, openError(path, err)
	}
	f := &file{path: path, resources: &resources{fd: fd}}
	runtime.AddCleanup(f, (*resources).release, f.resources)
	if err := f.mistrust(); err != nil {
		f.close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// openError adds what a user may not think of to the error of an open.
func openError(path string, err error) error {
	remark := ""
	switch {
	case errors.Is(err, unix.ELOOP):
		remark = ": a table must not be a symbolic link"
	case errors.Is(err, unix.EISDIR):
		remark = ": a table must be a regular file"
	case errors.Is(err, unix.ENXIO):
		remark = ": a table must be a regular file, and this is a socket or a FIFO"
	}
	return fmt.Errorf("%w%s", &fs.PathError{Op: "open", Path: path, Err: err}, remark)
}

// mistrust returns an error if others than the user could have written the file.
func (f *file) mistrust() error {
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); err != nil {
		return err
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return fmt.Errorf("%w: it is not a regular file", ErrForeign)
	case int(st.Uid) != os.Geteuid():
		return fmt.Errorf("%w: it belongs to user %d, not to %d: give a path of your own", ErrForeign, st.Uid,
			os.Geteuid())
	case st.Mode&0o022 != 0:
		return fmt.Errorf("%w: others may write it: chmod 600", ErrForeign)
	}
	return nil
}

// lock locks byte 0, which it tries until patience is over.
func (f *file) lock(patience time.Duration) error {
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		f.step()
		ok, err := f.try(rebalancing)
		if err != nil {
			return fmt.Errorf("%s: lock: %w", f.path, err)
		}
		if ok {
			return nil
		}
		if time.Since(start) >= patience {
			return fmt.Errorf("%s: %w, by process %s for more than %v: if it is stopped, continue or kill it", f.path,
				ErrBusy, f.holder(), patience)
		}
	}
}

// holder returns the process id of the job that says to have locked byte 0.
func (f *file) holder() string {
	var b [4]byte
	if n, err := unix.Pread(f.fd, b[:], holderOffset); n < len(b) || err != nil {
		return "(unknown)"
	}
	return fmt.Sprint(binary.NativeEndian.Uint32(b[:]))
}

// isAt reports whether path names this file. The file may be removed or replaced at any time.
func (f *file) isAt(path string) bool {
	var named, own unix.Stat_t
	if unix.Fstat(f.fd, &own) != nil {
		return false
	}
	err := unix.Lstat(path, &named)
	if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTDIR) {
		return true // the name cannot be looked up now: no reason to leave
	}
	return err == nil && named.Dev == own.Dev && named.Ino == own.Ino
}

// checkMagic returns an error if the file is of another program, which would lose its content. A table's first bytes
// are the magic, or zeros while it is made.
func (f *file) checkMagic() error {
	b := make([]byte, 8)
	n, err := retry(func() (int, error) { return unix.Pread(f.fd, b, 0) })
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	if b = b[:n]; bytes.HasPrefix(binary.NativeEndian.AppendUint64(nil, magic), b) || bytes.HasPrefix(make([]byte, 8), b) {
		return nil
	}
	return fmt.Errorf("%s: %w: it is another program's: give another path, or remove it", f.path, ErrForeign)
}

// grow gives the file at least the size of a table, with blocks: a hole would raise SIGBUS on a full disk. It never
// makes a file smaller.
func (f *file) grow() error {
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); err != nil {
		return err
	}
	if st.Size >= int64(size) {
		return nil
	}
	live, err := f.anyHeld()
	if err != nil {
		return err
	}
	if live {
		return fmt.Errorf("%s: %w: it is too small, and jobs use it", f.path, ErrForeign)
	}
	f.step()
	_, err = retry(func() (int, error) { return 0, unix.Fallocate(f.fd, 0, 0, int64(size)) })
	if errors.Is(err, unix.EOPNOTSUPP) {
		err = f.pad(st.Size)
	}
	if err != nil {
		return fmt.Errorf("%s: no room for %d bytes: %w", f.path, size, err)
	}
	return nil
}

// pad writes zeros from offset from on, for file systems without fallocate.
func (f *file) pad(from int64) error {
	zeros := make([]byte, int64(size)-from)
	for len(zeros) > 0 {
		n, err := retry(func() (int, error) { return unix.Pwrite(f.fd, zeros, int64(size)-int64(len(zeros))) })
		if err != nil {
			return err
		}
		zeros = zeros[n:]
	}
	return nil
}

func (f *file) mmap(protection int) error {
	mapping, err := unix.Mmap(f.fd, 0, size, protection, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("%s: mmap: %w", f.path, err)
	}
	f.mapping, f.table = mapping, tableAt(mapping)
	return nil
}

func (f *file) step() {
	if f.before != nil {
		f.before()
	}
}

// close frees all locks of the description in one step. Closing the descriptor alone would not: the mapping keeps the
// description open.
func (f *file) close() {
	f.step()
	if f.fd < 0 {
		return
	}
	_ = f.fcntl(unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_UNLCK}) // of all bytes; it cannot fail
	_ = unix.Close(f.fd)
	f.fd = -1
}

func (f *file) try(b int) (bool, error) {
	err := f.fcntl(unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Start: int64(b), Len: 1})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, nil
	}
	return err == nil, err
}

func (f *file) free(b int) error {
	return f.fcntl(unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_UNLCK, Start: int64(b), Len: 1})
}

func (f *file) held(b int) (bool, error) { return f.heldIn(int64(b), 1) }

func (f *file) anyHeld() (bool, error) { return f.heldIn(1, 0) }

// heldIn reports whether another description has locked one of n bytes, or of all from start on if n is 0.
func (f *file) heldIn(start, n int64) (bool, error) {
	l := unix.Flock_t{Type: unix.F_WRLCK, Start: start, Len: n}
	err := f.fcntl(unix.F_OFD_GETLK, &l)
	return l.Type != unix.F_UNLCK, err
}

func (f *file) fcntl(command int, l *unix.Flock_t) error {
	_, err := retry(func() (int, error) { return 0, unix.FcntlFlock(uintptr(f.fd), command, l) })
	return err
}

// retry repeats a system call that a signal has interrupted. Go's runtime sends itself signals.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// readFile is Read.
func readFile(path string) (s Snapshot, err error) {
	f, err := open(path, unix.O_RDONLY)
	if err != nil {
		return s, err
	}
	defer f.release() // at once: a viewer may read often
	boot, err := bootID()
	if err != nil {
		return s, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); err != nil {
		return s, err
	}
	if st.Size < int64(size) {
		if st.Size == 0 { // a job makes it, or could not
			return s, fmt.Errorf("%s is empty: %w", path, fs.ErrNotExist)
		}
		return s, fmt.Errorf("%s: %w: it is too small", path, ErrForeign)
	}
	if err := f.mmap(unix.PROT_READ); err != nil {
		return s, err
	}
	return f.snapshot(boot)
}

func (f *file) snapshot(boot [2]uint64) (s Snapshot, err error) {
	defer f.rescue(catchFaults(), &err)
	t := f.table
	switch {
	case t.magic.Load() == 0:
		return s, fmt.Errorf("%s: no job has made the table yet: %w", f.path, fs.ErrNotExist)
	case t.magic.Load() != magic || t.version.Load() != version || t.size.Load() != uint32(size):
		return s, fmt.Errorf("%s: %w: another version, or another file", f.path, ErrForeign)
	case !t.isValid(boot):
		return s, fmt.Errorf("%s: no job has joined since the machine booted: %w", f.path, fs.ErrNotExist)
	}
	return t.snapshot(f, now())
}
