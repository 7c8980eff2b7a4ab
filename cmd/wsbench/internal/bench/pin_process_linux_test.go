package bench

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
)

// TestPinProcess: the process has the processors of its workers while a repetition runs, and all afterwards.
func TestPinProcess(t *testing.T) {
	all := affinity(t)
	for n := 1; n <= all.Count()+1; n++ {
		restore, err := pinProcess(n)
		require.NoError(t, err)
		require.Equal(t, min(n, all.Count()), affinity(t).Count())
		restore()
		require.Equal(t, all, affinity(t))
	}

	var during unix.CPUSet
	f := &fakeProgram{}
	w := f.workload()
	w.Program = func(int, uint64, workloads.Values) (workloads.Program, error) {
		return lookingProgram{f, func() { _ = unix.SchedGetaffinity(0, &during) }}, nil
	}
	s, results := session(Engines()[1])
	s.Workloads, s.Pin = []*workloads.Workload{w}, true
	require.NoError(t, s.Run(context.Background()))
	require.Equal(t, 1, during.Count())
	require.True(t, (*results)[0].Pinned)
	require.Equal(t, all, affinity(t))
}

// A lookingProgram calls look where it runs serially.
type lookingProgram struct {
	*fakeProgram
	look func()
}

func (p lookingProgram) Serial() { p.look(); p.fakeProgram.Serial() }
