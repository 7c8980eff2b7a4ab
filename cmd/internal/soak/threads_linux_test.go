package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// whole is the set of cores of the test binary, before any test has narrowed it.
var whole, _, _ = allowedCores()

func checkAffinity(t *testing.T) {
	t.Helper()
	for _, id := range threads() {
		var has unix.CPUSet
		if unix.SchedGetaffinity(id, &has) == nil {
			require.Equal(t, whole, has, "thread %d", id)
		}
	}
}

func TestThreadsNamed(t *testing.T) {
	require.NotEmpty(t, threads())
	s := newSoak(options{drivers: 1}, func() {})
	l, err := s.open(drawConfig(s.rng(streamDriver, 0), false))
	require.NoError(t, err)
	require.Equal(t, l.cfg.Workers, threadsNamed(l.cfg.Name+"-"))
	s.close(l)
	require.NoError(t, s.err)
	require.Zero(t, threadsNamed(l.cfg.Name+"-"))
}
