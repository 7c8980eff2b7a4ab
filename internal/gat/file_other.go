//go:build !linux

package gat

import (
	"errors"
	"fmt"
	"runtime"
	"time"
)

// A file is a place holder: nothing opens one.
type file struct {
	table   *table
	mapping []byte
	before  func()
	locks
}

var errUnsupported = fmt.Errorf("a table needs Linux, this is %s: %w", runtime.GOOS, errors.ErrUnsupported)

func now() uint64                                     { return 0 }
func bootID() ([2]uint64, error)                      { return [2]uint64{}, errUnsupported }
func openLocked(string, time.Duration) (*file, error) { return nil, errUnsupported }
func readFile(string) (Snapshot, error)               { return Snapshot{}, errUnsupported }
func (f *file) close()                                {}
func (f *file) isAt(string) bool                      { return true }
