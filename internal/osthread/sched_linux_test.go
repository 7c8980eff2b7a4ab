//go:build !modelcheck

package osthread

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestSetClass(t *testing.T) {
	for class, policy := range map[Class]uint32{
		Normal: unix.SCHED_NORMAL, Batch: unix.SCHED_BATCH, Idle: unix.SCHED_IDLE,
	} {
		var before, after *unix.SchedAttr
		var errs [3]error
		onThread(func() {
			before, errs[0] = getAttr()
			errs[1] = SetClass(class)
			after, errs[2] = getAttr()
		})
		require.Equal(t, [3]error{}, errs)
		want := *before
		want.Policy = policy
		require.Equal(t, want, *after, "only the class has changed")
	}
}

func TestSetSlice(t *testing.T) {
	var usual, own, again *unix.SchedAttr
	var errs [6]error
	onThread(func() {
		usual, errs[0] = getAttr()
		errs[1] = SetSlice(5 * time.Millisecond)
		own, errs[2] = getAttr()
		errs[3] = SetClass(Batch)
		again, errs[4] = getAttr()
		errs[5] = SetSlice(time.Hour)
	})
	if usual.Runtime == 0 {
		require.ErrorIs(t, errs[1], ErrUnsupported)
		require.ErrorContains(t, errs[1], "it needs Linux 6.12")
		return
	}
	require.Equal(t, [5]error{}, [5]error(errs[:5]))
	require.EqualValues(t, 5*time.Millisecond, own.Runtime)
	require.Equal(t, usual.Nice, own.Nice)
	require.Equal(t, usual.Runtime, again.Runtime, "another class begins with the default")
	require.ErrorIs(t, errs[5], ErrUnsupported, "the kernel sets another slice")
}
