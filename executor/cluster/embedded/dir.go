package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The server itself does not keep a second one off its store directory, and two destroy it. So a file in the directory
// is locked for as long as a server runs. The system drops the lock of a process that dies. The text of the file says
// that the directory is one of this package, and how it is laid out.
const (
	lockName = "magpie.lock"
	layout   = "magpie store 1\n"
)

// errLocked is returned by tryLock if another open file holds the lock.
var errLocked = errors.New("locked")

// A lock is the right to use a store directory.
type lock struct{ f *os.File }

// lockDir makes the directory if it is missing, and locks it.
func lockDir(dir string) (*lock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("embedded: the store directory cannot be made: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("embedded: the store directory cannot be read: %w", err)
	}
	name := filepath.Join(dir, lockName)
	if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) && len(entries) > 0 {
		return nil, fmt.Errorf("embedded: %s has files in it, and is not a store directory of this package: "+
			"name an empty directory", dir)
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("embedded: the store directory is not writable: %w", err)
	}
	if err := tryLock(f); err != nil {
		f.Close()
		if errors.Is(err, errLocked) {
			return nil, fmt.Errorf("embedded: another server uses the store directory %s", dir)
		}
		return nil, fmt.Errorf("embedded: the store directory cannot be locked: %w", err)
	}
	if err := checkLayout(f, dir); err != nil {
		f.Close()
		return nil, err
	}
	return &lock{f}, nil
}

// checkLayout reads the text of the lock file, and writes it if the file is new.
func checkLayout(f *os.File, dir string) error {
	text := make([]byte, 64)
	n, _ := f.ReadAt(text, 0) // a short read is the usual case, and no text is a new file
	switch got := string(text[:n]); {
	case got == layout:
		return nil
	case n > 0:
		return fmt.Errorf("embedded: the store directory %s is of another version: it says %q, and this is %q",
			dir, strings.TrimSpace(got), strings.TrimSpace(layout))
	}
	if _, err := f.WriteAt([]byte(layout), 0); err != nil {
		return fmt.Errorf("embedded: the store directory is not writable: %w", err)
	}
	return nil
}

// unlock gives the directory back.
func (l *lock) unlock() { l.f.Close() }
