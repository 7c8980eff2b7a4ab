//go:build !linux

package switches

import (
	"errors"
	"fmt"
	"runtime"
)

// A Recording is a recording of switches, which this system does not have.
type Recording struct{}

// Record returns an error that wraps errors.ErrUnsupported.
func Record() (*Recording, error) {
	return nil, fmt.Errorf("switches: %w on %s: it takes Linux", errors.ErrUnsupported, runtime.GOOS)
}

// Counts returns zero counts.
func (*Recording) Counts(int, ...int) Counts { return Counts{} }

// Stop does nothing.
func (*Recording) Stop() error { return nil }
