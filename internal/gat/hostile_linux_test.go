package gat

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// refused checks that Join and Read fail.
func refused(t *testing.T, path string, want error) {
	t.Helper()
	j, err := Join(path, 4, testCycle, Terms{})
	require.ErrorIs(t, err, want)
	require.ErrorContains(t, err, path)
	require.Nil(t, j)
	t.Log(err)
	_, err = Read(path)
	require.Error(t, err)
}

func TestArguments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	for _, processors := range []int{-1, 0, maxCount + 1, math.MaxInt} {
		_, err := Join(path, processors, testCycle, Terms{})
		require.ErrorContains(t, err, fmt.Sprint(processors))
	}
	for _, cycle := range []time.Duration{-1, 0} {
		_, err := Join(path, 4, cycle, Terms{})
		require.ErrorContains(t, err, "cycle")
	}
	for _, terms := range []Terms{{Workers: -1}, {Weight: -1}, {Minimum: -1}, {Limit: -1}} {
		_, err := Join(path, 4, testCycle, terms)
		require.ErrorContains(t, err, "negative")
	}
	require.NoFileExists(t, path)

	a := join(t, path, 4, Terms{Workers: 3, Weight: math.MaxInt, Minimum: math.MaxInt, Limit: math.MaxInt})
	got, err := a.Update(math.MaxInt, math.MaxInt, math.MaxInt)
	require.NoError(t, err)
	require.Equal(t, 3, got, "no more than the workers")
	got, err = a.Update(math.MinInt, math.MinInt, math.MinInt)
	require.NoError(t, err)
	require.Zero(t, got)
}

func TestPath(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "/run/user/7")
	require.Equal(t, "/run/user/7/magpie-v1.gat", Path())
	for _, dir := range []string{"", "relative"} {
		t.Setenv("XDG_RUNTIME_DIR", dir)
		require.Equal(t, fmt.Sprintf("/dev/shm/magpie-v1-%d.gat", os.Geteuid()), Path())
	}
}

// TestNotATable: what is no regular file of the user alone is refused, and left as it is.
func TestNotATable(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }

	require.NoError(t, os.Symlink(at("nowhere"), at("symlink")))
	refused(t, at("symlink"), unix.ELOOP)
	require.NoFileExists(t, at("nowhere"))

	require.NoError(t, os.Mkdir(at("directory"), 0o700))
	refused(t, at("directory"), unix.EISDIR)

	require.NoError(t, unix.Mkfifo(at("fifo"), 0o600))
	testkit.Within(t, testkit.Patience, func() { refused(t, at("fifo"), ErrForeign) })

	l, err := net.Listen("unix", at("socket"))
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	refused(t, at("socket"), unix.ENXIO)

	refused(t, "/dev/null", ErrForeign)
	refused(t, at("no/such/folder"), fs.ErrNotExist)

	for i, content := range []string{"x", "another program's file", "\x01mag-ga", "\x00\x00\x00\x00\x00\x00\x00x"} {
		name := at(fmt.Sprint("file", i))
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
		if content == "\x01mag-ga" { // a table that was cut short
			require.Equal(t, 4, update(t, join(t, name, 4, Terms{}), 9))
			continue
		}
		refused(t, name, ErrForeign)
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, content, string(text))
	}

	for _, mode := range []fs.FileMode{0o666, 0o620, 0o602} {
		name := at(mode.String())
		require.NoError(t, os.WriteFile(name, []byte("mine"), 0o600))
		require.NoError(t, os.Chmod(name, mode))
		refused(t, name, ErrForeign)
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, "mine", string(text))
	}
}

func TestAnotherUsersFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	if err := os.Chown(path, 12345, -1); err != nil {
		t.Skip("only root can make such a file: ", err)
	}
	refused(t, path, ErrForeign)
}

func TestNoPermission(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o500))
	if os.Geteuid() == 0 { // become another user, as far as this thread's use of files goes
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		require.NoError(t, unix.Setfsuid(12345))
		defer func() { require.NoError(t, unix.Setfsuid(0)) }()
		if uid, err := unix.SetfsuidRetUid(-1); uid != 12345 {
			t.Skip("no permission to become another user: ", err)
		}
	}
	refused(t, filepath.Join(dir, "table"), fs.ErrPermission)
}

// mount mounts a small file system for the test, if it may.
func mount(t *testing.T, flags uintptr, options string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", flags, options); err != nil {
		t.Skip("no permission to mount a file system: ", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	return dir
}

func TestReadOnlyFileSystem(t *testing.T) {
	refused(t, filepath.Join(mount(t, unix.MS_RDONLY, "size=64k"), "table"), unix.EROFS)
}

// TestFullDisk: a table is not made with holes. When there is room again, it is made.
func TestFullDisk(t *testing.T) {
	dir := mount(t, 0, "size=32k")
	path, ballast := filepath.Join(dir, "table"), filepath.Join(dir, "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, 20<<10), 0o600))
	refused(t, path, unix.ENOSPC)
	require.NoError(t, os.Remove(ballast))
	a := join(t, path, 4, Terms{})
	require.Equal(t, 4, update(t, a, 9))
}

// TestFileSizeLimit: the limit raises a signal as well.
func TestFileSizeLimit(t *testing.T) {
	var before unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &before))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1000, Max: before.Max}))
	defer func() { require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &before)) }()
	_, err := Join(filepath.Join(t.TempDir(), "table"), 4, testCycle, Terms{})
	require.ErrorIs(t, err, unix.EFBIG)
}

// TestPad: file systems without fallocate.
func TestPad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	require.NoError(t, os.WriteFile(path, []byte("abc"), 0o600))
	f, err := open(path, unix.O_RDWR)
	require.NoError(t, err)
	require.NoError(t, f.pad(3))
	f.close()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Len(t, text, size)
	require.Equal(t, "abc\x00", string(text[:4]))
}

// TestTruncated: the file is truncated under live jobs. They lose the table, or do not need what is gone.
func TestTruncated(t *testing.T) {
	for _, length := range []int64{0, 1, 100, 1000, 4096, 8192, int64(size) - 1} {
		path := filepath.Join(t.TempDir(), "table")
		var jobs []*Job
		for range slots {
			j, err := Join(path, 4, testCycle, Terms{Limit: 3})
			require.NoError(t, err)
			jobs = append(jobs, j)
		}
		require.NoError(t, os.Truncate(path, length))
		lost := 0
		for i, j := range jobs {
			require.LessOrEqual(t, j.Allotment(), 3)
			a, err := j.Update(9, 9, 9)
			if err == nil {
				require.NoError(t, j.Leave())
				continue
			}
			lost++
			require.ErrorIs(t, err, ErrLost)
			require.Equal(t, 3, a)
			require.Equal(t, 3, j.Allotment(), "alone")
			_, again := j.Update(1, 1, 1)
			require.Equal(t, err, again)
			require.Equal(t, 1, j.Allotment(), "alone")
			require.NoError(t, j.Leave())
			if i%50 == 0 {
				t.Log(length, err)
			}
		}
		require.True(t, lost > 0 || length > 8192, "no job noticed the length %d", length)
		_, err := Read(path)
		require.Error(t, err)
		a := join(t, path, 5, Terms{})
		require.Equal(t, 5, update(t, a, 9), "all have left, so the next job makes the table anew")
	}
}

// TestOtherPanics: only faults in the mapping become errors.
func TestOtherPanics(t *testing.T) {
	f := &file{resources: &resources{}}
	fail := func(what func()) (err error) {
		defer f.rescue(catchFaults(), &err)
		what()
		return nil
	}
	require.PanicsWithValue(t, "mine", func() { _ = fail(func() { panic("mine") }) })
	require.Panics(t, func() { _ = fail(func() { var p *file; p.path = "" }) })
	require.NoError(t, fail(func() {}))
}

// TestRemoved: the file's name is removed under live jobs. They meet in the next file of that name.
func TestRemoved(t *testing.T) {
	fakeTime(t) // on a busy machine a job might count as stopped
	path := filepath.Join(t.TempDir(), "table")
	a, b := join(t, path, 8, Terms{Name: "a"}), join(t, path, 8, Terms{Name: "b"})
	require.NoError(t, os.Remove(path))
	c := join(t, path, 8, Terms{Name: "c"})
	for range updatesPerRebalance {
		for _, j := range []*Job{a, b, c} {
			update(t, j, 8)
		}
	}
	require.Equal(t, 3, update(t, a, 8))
	require.Equal(t, 2, update(t, b, 8))
	require.Equal(t, 3, update(t, c, 8))
	require.Len(t, look(t, path).Jobs, 3)

	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	require.NoError(t, os.Rename(other, path))
	for range updatesPerRebalance + 1 {
		for _, j := range []*Job{a, b, c} {
			update(t, j, 8)
		}
	}
	require.Len(t, look(t, path).Jobs, 3)
	require.Equal(t, 8, a.Allotment()+b.Allotment()+c.Allotment())

	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700)) // nothing can be joined
	var err error
	for range updatesPerRebalance {
		if _, err = a.Update(8, 0, 0); err != nil {
			break
		}
	}
	require.ErrorIs(t, err, ErrLost)
	require.ErrorIs(t, err, unix.EISDIR)
	require.Equal(t, 8, a.Allotment())
}

// TestOverwritten: a live job's table is overwritten.
func TestOverwritten(t *testing.T) {
	for name, spoil := range map[string]func(b *table){
		"magic":      func(b *table) { b.magic.Store(0) },
		"version":    func(b *table) { b.version.Store(2) },
		"boot":       func(b *table) { b.boot[1].Add(1) },
		"processors": func(b *table) { b.processors.Store(5) },
		"cycle":      func(b *table) { b.cycle.Store(5) },
		"state":      func(b *table) { b.states[0].Store(free) },
		"id":         func(b *table) { b.jobs[0].id.Add(1) },
	} {
		path := filepath.Join(t.TempDir(), "table")
		a := join(t, path, 4, Terms{})
		spoil(a.at.Load().table)
		_, err := a.Update(2, 0, 0)
		require.ErrorIs(t, err, ErrLost, name)
		b := join(t, path, 4, Terms{})
		require.Equal(t, 4, update(t, b, 4), name)
	}
}

// TestAnotherVersion: a table of another version, boot or size is made anew if no job uses it.
func TestAnotherVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	j, err := Join(path, 4, testCycle, Terms{})
	require.NoError(t, err)
	j.at.Load().table.version.Store(2)
	refused(t, path, ErrForeign)
	kill(j)
	_, err = Read(path)
	require.ErrorIs(t, err, ErrForeign)
	a := join(t, path, 3, Terms{})
	require.Equal(t, 3, update(t, a, 9))
	require.NoError(t, a.Leave())

	bootFile = filepath.Join(t.TempDir(), "boot_id")
	defer func() { bootFile = "/proc/sys/kernel/random/boot_id" }()
	_, err = Join(path, 2, testCycle, Terms{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.WriteFile(bootFile, []byte("no id"), 0o600))
	_, err = Join(path, 2, testCycle, Terms{})
	require.ErrorContains(t, err, "no id")
	require.NoError(t, os.WriteFile(bootFile, []byte("00112233-4455-6677-8899-aabbccddeeff\n"), 0o600))
	_, err = Read(path)
	require.ErrorIs(t, err, fs.ErrNotExist, "nobody has joined since that boot")
	b := join(t, path, 2, Terms{})
	require.Equal(t, 2, update(t, b, 9))

	require.NoError(t, os.WriteFile(bootFile, []byte("00112233-4455-6677-8899-aabbccddeef0\n"), 0o600))
	refused(t, path, ErrForeign) // b uses it
}

// TestAgreement: jobs of a table have the same processors and cycle. A job that is alone changes them by joining anew.
func TestAgreement(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	a := join(t, path, 4, Terms{})
	_, err := Join(path, 6, testCycle, Terms{})
	require.ErrorIs(t, err, ErrTerms)
	require.ErrorContains(t, err, "4 processors")
	require.ErrorContains(t, err, "job 6 ")
	_, err = Join(path, 4, time.Second, Terms{})
	require.ErrorIs(t, err, ErrTerms)
	require.ErrorContains(t, err, "5ms")
	require.ErrorContains(t, err, "1s")
	require.Len(t, look(t, path).Jobs, 1)
	require.NoError(t, a.Leave())
	b, err := Join(path, 6, time.Second, Terms{})
	require.NoError(t, err)
	kill(b)
	c := join(t, path, 3, Terms{})
	require.Equal(t, 3, update(t, c, 9))
}

// TestFull: every slot has a job, and more jobs than processors have one processor each.
func TestFull(t *testing.T) {
	fakeTime(t) // on a busy machine a job might count as stopped
	path := filepath.Join(t.TempDir(), "table")
	var jobs []*Job
	for range slots {
		jobs = append(jobs, join(t, path, 4, Terms{}))
	}
	_, err := Join(path, 4, testCycle, Terms{})
	require.ErrorIs(t, err, ErrFull)
	for i, j := range jobs[:10] {
		want := 1
		if i < 4 {
			want = []int{4, 2, 1, 1}[i]
		}
		require.Equal(t, want, update(t, j, 4), "job %d", i)
	}
	for _, j := range jobs[:10] {
		require.Equal(t, 1, update(t, j, 4), "more jobs than processors")
	}
	kill(jobs[7])
	require.NoError(t, jobs[8].Leave())
	join(t, path, 4, Terms{})
	join(t, path, 4, Terms{})
	_, err = Join(path, 4, testCycle, Terms{})
	require.ErrorIs(t, err, ErrFull)
}

// TestDescriptor: no other program inherits a job's description. A job that nobody can reach any more is dead.
func TestDescriptor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	a := join(t, path, 4, Terms{})
	flags, err := unix.FcntlInt(uintptr(a.at.Load().fd), unix.F_GETFD, 0)
	require.NoError(t, err)
	require.NotZero(t, flags&unix.FD_CLOEXEC)

	_, err = Join(path, 4, testCycle, Terms{})
	require.NoError(t, err)
	testkit.Until(t, "a job that nobody can reach is dead", func() bool {
		runtime.GC()
		update(t, a, 4)
		return len(look(t, path).Jobs) == 1
	})
}

// TestViewerChangesNothing: neither the file's content nor its times.
func TestViewerChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	a := join(t, path, 4, Terms{})
	update(t, a, 4)
	kill(a)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(path, 0o400))
	require.Len(t, look(t, path).Jobs, 1)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// TestThreads: all methods at once, while the file is removed again and again.
func TestThreads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	var jobs []*Job
	for range 3 {
		jobs = append(jobs, join(t, path, 4, Terms{}))
	}
	var threads sync.WaitGroup
	failures := make(chan error, 100)
	n := testkit.Scale(3000)
	for i := range 6 {
		threads.Go(func() {
			j := jobs[i%len(jobs)]
			for k := range n {
				a, err := j.Update(k%5, 0, 0)
				if err == nil && (a > 4 || j.Allotment() > 4) {
					err = errors.New("too large an allotment")
				}
				if err != nil {
					failures <- err
					return
				}
			}
		})
	}
	threads.Go(func() {
		for range n / 20 {
			_ = os.Remove(path)
			_, err := Read(path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				failures <- err
				return
			}
			time.Sleep(100 * time.Microsecond)
		}
	})
	threads.Wait()
	close(failures)
	for err := range failures {
		require.NoError(t, err)
	}
}
