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
		"Nice":  {Nice: 5},
		"Class": {Class: executor.ClassIdle},
		"Slice": {Slice: time.Millisecond},
		"CPUs":  {CPUs: []int{0}},
		"Pin":   {Pin: executor.PinOneEach},
	} {
		cfg.Workers = 2
		_, err := executor.New(cfg)
		require.ErrorIs(t, err, errors.ErrUnsupported, field)
		require.ErrorContains(t, err, "Config."+field)

		cfg.BestEffort = true
		ex := newExecutor(t, cfg)
		require.ErrorIs(t, ex.Stats().Refused, errors.ErrUnsupported, field)
		require.Contains(t, dump(ex), "Config."+field)
		meetAll(t, ex)
	}
}
