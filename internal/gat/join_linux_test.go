package gat

import (
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const testCycle = 5 * time.Millisecond

// join joins and leaves at the end of the test.
func join(t testing.TB, path string, processors int, terms Terms) *Job {
	t.Helper()
	j, err := Join(path, processors, testCycle, terms)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Leave()) })
	return j
}

// update is an Update with a desire only.
func update(t testing.TB, j *Job, desire int) int {
	t.Helper()
	a, err := j.Update(desire, 0, 0)
	require.NoError(t, err)
	return a
}

// kill ends a job as the death of its process would.
func kill(j *Job) { j.at.Swap(nil).close() }

func look(t testing.TB, path string) Snapshot {
	t.Helper()
	s, err := Read(path)
	require.NoError(t, err)
	return s
}

func TestSmoke(t *testing.T) {
	path, time0 := filepath.Join(t.TempDir(), "table"), fakeTime(t) // on a busy machine a job might count as stopped
	_, err := Read(path)
	require.ErrorIs(t, err, fs.ErrNotExist)
	a := join(t, path, 8, Terms{Name: "a"})
	require.Zero(t, a.Allotment())
	require.Equal(t, 5, update(t, a, 5))
	require.Equal(t, 8, update(t, a, 20))
	b := join(t, path, 8, Terms{Name: "b\x1b[31m, whose name is longer than thirty-two bytes", Limit: 7, Weight: 3})
	require.Equal(t, 8, a.Allotment())
	require.Equal(t, 6, update(t, b, 20))
	require.Equal(t, 2, a.Allotment())
	require.Equal(t, 2, update(t, a, 20))

	*time0 += uint64(time.Millisecond)
	s := look(t, path)
	require.Equal(t, 8, s.Processors)
	require.Equal(t, testCycle, s.Cycle)
	require.Len(t, s.Jobs, 2)
	require.Equal(t, "b[31m, whose name is longer tha", s.Jobs[1].Name)
	for i, j := range s.Jobs {
		require.True(t, j.Alive)
		require.False(t, j.Stopped)
		require.Equal(t, i, j.Slot)
		require.Equal(t, 20, j.Desire)
		require.Equal(t, []int{2, 6}[i], j.Allotment)
		require.Equal(t, time.Millisecond, j.Heartbeat)
	}
	require.NoError(t, b.Leave())
	require.NoError(t, b.Leave())
	require.Equal(t, 8, a.Allotment())
	_, err = b.Update(1, 0, 0)
	require.ErrorIs(t, err, ErrLeft)
	kill(a)
	require.False(t, look(t, path).Jobs[0].Alive)
}
