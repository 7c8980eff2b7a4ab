//go:build !linux

package executor_test

import (
	"errors"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/stretchr/testify/require"
)

// Only Linux has what the schedule of the workers' threads needs.
func TestScheduleIsRefused(t *testing.T) {
	for field, cfg := range map[string]executor.Config{
		"Nice":  {Threads: host.Threads{Nice: 5}},
		"Class": {Threads: host.Threads{Class: host.ClassIdle}},
		"Slice": {Threads: host.Threads{Slice: time.Millisecond}},
		"CPUs":  {Threads: host.Threads{CPUs: []int{0}}},
		"Pin":   {Threads: host.Threads{Pin: true}},
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
