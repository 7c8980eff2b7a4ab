package bench

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
)

// A keepingProgram is a fakeProgram that counts its calls of Keep.
type keepingProgram struct {
	fakeProgram
	kept int
	err  error
}

func (k *keepingProgram) Keep() error {
	if !k.done || k.wrong {
		return errors.New("the result is not there")
	}
	k.kept++
	return k.err
}

// TestKeep: a session has the result kept once, after a verified run. If that fails, the session does.
func TestKeep(t *testing.T) {
	for _, want := range []error{nil, errors.New("no space")} {
		k := &keepingProgram{err: want}
		w := k.workload()
		w.Program = func(int, uint64, workloads.Values) (workloads.Program, error) { return k, nil }
		s, results := session(Engines()...)
		s.Workloads = []*workloads.Workload{w}
		err := s.Run(t.Context())
		require.ErrorIs(t, err, want)
		require.Equal(t, 1, k.kept)
		require.Equal(t, want != nil, len(*results) == 0)

		k.wrong, k.kept = true, 0
		var wrong *WrongAnswer
		require.ErrorAs(t, s.Run(t.Context()), &wrong)
		require.Zero(t, k.kept)
	}
}
