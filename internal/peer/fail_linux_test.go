//go:build !modelcheck

package peer

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestHasNot: an error says which feature is missing, which call the kernel refused, and what to do.
func TestHasNot(t *testing.T) {
	noneRegistered(t)
	for _, c := range []struct {
		feature Feature
		errno   syscall.Errno
		call    string
		remedy  string
	}{
		{SameCPU, unix.ENOSYS, "rseq", "Linux 4.18"},
		{SameCPU, unix.EINVAL, "rseq", "GLIBC_TUNABLES=glibc.pthread.rseq=0"},
		{SameCPU, unix.EBUSY, "rseq", "CGO_ENABLED=0"},
		{SameCPU, unix.EPERM, "rseq", "a sandbox or container"},
		{SameCPU, unix.EFAULT, "rseq", "unexpected"},
		{Clock, unix.EINVAL, "clock_gettime", "CONFIG_POSIX_TIMERS"},
		{Clock, unix.EPERM, "clock_gettime", "a sandbox or container"},
		{Pull, unix.EPERM, "sched_getaffinity", "a sandbox or container"},
		{Pull, unix.EINVAL, "sched_getaffinity", "more than 1024 CPUs"},
		{Records, unix.EACCES, "perf_event_open", "kernel.perf_event_paranoid"},
		{Records, unix.EPERM, "perf_event_open", "CAP_PERFMON"},
		{Records, unix.ENOSYS, "perf_event_open", "CONFIG_PERF_EVENTS"},
		{Records, unix.EINVAL, "perf_event_open", "Linux 4.3"},
		{Records, unix.EMFILE, "perf_event_open", "ulimit -n"},
		{Records, unix.ESRCH, "perf_event_open", "no such thread"},
	} {
		t.Run(c.feature.String()+" "+c.errno.Error(), func(t *testing.T) {
			replace(t, &system.rseq, func(*area, uintptr) syscall.Errno { return c.errno })
			replace(t, &system.isRegistered, nowhere)
			replace(t, &system.clock, func(int64) (int64, syscall.Errno) { return 0, c.errno })
			replace(t, &system.affinity, always(c.errno))
			replace(t, &system.recordFile, func(int64) (int, syscall.Errno) { return -1, c.errno })
			err := Has(c.feature)
			require.ErrorIs(t, err, ErrUnsupported)
			require.ErrorIs(t, err, c.errno)
			require.ErrorContains(t, err, "peer: "+c.feature.String()+" is not available: "+c.call)
			require.ErrorContains(t, err, c.remedy)
		})
	}
	t.Run("Pull, to set", func(t *testing.T) {
		need(t, Pull)
		replace(t, &system.setAffinity, always(unix.EPERM))
		require.ErrorContains(t, Has(Pull), "sched_setaffinity: operation not permitted: a sandbox")
	})
	t.Run("Pull, at the start", func(t *testing.T) {
		replace(t, &startErrno, unix.EINVAL)
		require.ErrorContains(t, Has(Pull), "more than 1024 CPUs")
	})
	t.Run("Records, to map", func(t *testing.T) {
		require.ErrorContains(t, recordsError("mmap", unix.EPERM), "kernel.perf_event_mlock_kb")
	})
}

// TestEnterRefused: without a registration a thread has an id and a clock, and the next Enter tries again.
func TestEnterRefused(t *testing.T) {
	free := len(areas.free)
	refuse := true
	replace(t, &system.rseq, func(*area, uintptr) syscall.Errno {
		if refuse {
			return unix.EINVAL
		}
		return 0
	})
	noneRegistered(t)
	replace(t, &system.isRegistered, nowhere)
	var me, v Thread
	onThread(func() {
		for range 2 {
			if err := me.Enter(); err == nil || me.ID() == 0 || me.SharesCPU(&v) || me.Pull(&v) == nil {
				t.Errorf("%v, id %d", err, me.ID())
			}
		}
		if ns, ok := me.Clock(); Has(Clock) == nil && (!ok || ns <= 0) {
			t.Errorf("no clock: %d", ns)
		}
		refuse = false
		if err := me.Enter(); err != nil {
			t.Error(err)
		}
		refuse = true
		me.Leave() // the area is lost
	})
	require.Zero(t, me.ID())
	free = max(free, len(areas.free)+1)
	refuse = false
	onThread(func() {
		_ = me.Enter()
		me.Leave()
	})
	require.Less(t, len(areas.free), free, "an area that the kernel may still write has been given away")
}

// TestPullFails: the thread gets its set of CPUs back, whatever fails.
func TestPullFails(t *testing.T) {
	need(t, SameCPU, Pull)
	var me Thread
	v := newActor(t)
	mine := new(area)
	me.area.Store(mine)
	cpu := int(v.lastCPU())
	mine.cpu.Store(uint32(cpu))
	replace(t, &sinceStart, func() int64 { return 1 })
	replace(t, &afterPull, func() {})
	var one, all unix.CPUSet
	one.Set(cpu)
	all.Fill()
	type errnos = []syscall.Errno
	for name, c := range map[string]struct {
		get  syscall.Errno
		set  errnos        // of one call after the other
		want syscall.Errno // done: no error; 0: ErrRefused
		sets []unix.CPUSet
	}{
		"no set":                   {unix.EPERM, nil, unix.EPERM, nil},
		"the thread has ended":     {unix.ESRCH, nil, 0, nil},
		"not moved":                {0, errnos{unix.EPERM}, unix.EPERM, []unix.CPUSet{one}},
		"ended before it is moved": {0, errnos{unix.ESRCH}, 0, []unix.CPUSet{one}},
		"ended after it is moved":  {0, errnos{0, unix.ESRCH}, done, []unix.CPUSet{one, startSet}},
		"no such set any longer":   {0, errnos{0, unix.EINVAL, 0}, done, []unix.CPUSet{one, startSet, all}},
		"not restored": {0, errnos{0, unix.EPERM, unix.EPERM}, unix.EPERM,
			[]unix.CPUSet{one, startSet, all}},
	} {
		t.Run(name, func(t *testing.T) {
			var sets []unix.CPUSet
			replace(t, &system.affinity, func(id int64, set *unix.CPUSet) syscall.Errno {
				*set = startSet
				return c.get
			})
			replace(t, &system.setAffinity, func(id int64, set *unix.CPUSet) syscall.Errno {
				sets = append(sets, *set)
				return c.set[len(sets)-1]
			})
			v.again.Store(0)
			err := me.Pull(&v.Thread)
			switch c.want {
			case done:
				require.NoError(t, err)
			case 0:
				require.ErrorIs(t, err, ErrRefused)
			default:
				require.ErrorIs(t, err, c.want)
				require.ErrorIs(t, err, ErrUnsupported)
			}
			require.Equal(t, c.sets, sets)
			require.Equal(t, idle, v.pull.Load())
			require.ErrorIs(t, me.Pull(&v.Thread), errTooSoon, "a failure counts as a pull")
		})
	}
}

const done = ^syscall.Errno(0)

// TestCoolDown goes by a clock of its own.
func TestCoolDown(t *testing.T) {
	need(t, SameCPU)
	me, v := newActor(t), newActor(t)
	now := int64(1)
	replace(t, &sinceStart, func() int64 { return now })
	replace(t, &afterPull, func() {})
	replace(t, &system.affinity, func(_ int64, set *unix.CPUSet) syscall.Errno { *set = startSet; return 0 })
	replace(t, &system.setAffinity, always(0))
	require.NoError(t, me.Pull(&v.Thread))
	now += int64(CoolDown) - 1
	require.ErrorIs(t, me.Pull(&v.Thread), errTooSoon)
	require.ErrorIs(t, errTooSoon, ErrRefused)
	now++
	require.NoError(t, me.Pull(&v.Thread))
}
