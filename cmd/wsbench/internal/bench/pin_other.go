//go:build !linux

package bench

import (
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
)

// pin is not supported.
func pin(int, int) (restore func()) { return func() {} }

// pinProcess is not supported.
func pinProcess(int) (restore func(), err error) {
	return nil, input.Errorf("-pin needs Linux")
}
