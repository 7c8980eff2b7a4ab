//go:build !linux

package executor_test

import (
	"errors"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/stretchr/testify/require"
)

// Only Linux has what the schedule of the workers' threads needs.
func TestScheduleIsRefused(t *testing.T) {
	for field, cfg := range map[string]executor.Config{
		"Nice":  {Threads: executor.Threads{Nice: 5}},
		"Class": {Threads: executor.Threads{Class: executor.ClassIdle}},
		"Slice": {Threads: executor.Threads{Slice: time.Millisecond}},
		"CPUs":  {Threads: executor.Threads{CPUs: []int{0}}},
		"Pin":   {Threads: executor.Threads{Pin: true}},
	} {
		cfg.Workers = 2
		_, err := executor.New(cfg)
		require.ErrorIs(t, err, errors.ErrUnsupported, field)
		require.ErrorContains(t, err, "Config.Threads."+field)

		cfg.Threads.BestEffort = true
		ex := newExecutor(t, cfg)
		require.ErrorIs(t, ex.Stats().Refused, errors.ErrUnsupported, field)
		require.Contains(t, dump(ex), "Config.Threads."+field)
		meetAll(t, ex)
	}
}
