//go:build !linux && !modelcheck

package osthread

import "time"

// SetClass is not supported.
func SetClass(Class) error { return ErrUnsupported }

// SetSlice is not supported.
func SetSlice(time.Duration) error { return ErrUnsupported }

// SetCPUs is not supported.
func SetCPUs([]int) error { return ErrUnsupported }

// CPUs is not supported.
func CPUs() ([]int, error) { return nil, ErrUnsupported }

// OnlineCPUs is unknown: nil.
func OnlineCPUs() []int { return nil }

// CoresFirst returns the CPUs in the order given: which of them share a core is unknown.
func CoresFirst(cpus []int) []int { return cpus }
