// Package atomicfile writes files that are there when they are complete, and not before.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A File replaces the file of its name when it is complete, and not before: after any error the old file is as
// it was. A file that is not regular, such as /dev/null, cannot be replaced and is written to directly.
type File struct {
	file *os.File
	name string      // the file that it replaces; empty if it replaces none
	mode fs.FileMode // of the new file
}

// Create begins a file that Commit will put in the place of name. It fails at once if that cannot be done.
func Create(name string) (*File, error) {
	// If name is a symbolic link, the file that it leads to is replaced, not the link.
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	f := &File{name: name, mode: 0o644}
	switch old, err := os.Stat(name); {
	case err != nil: // there is no old file
	case old.IsDir():
		return nil, fmt.Errorf("%s: %w", name, syscall.EISDIR)
	case !old.Mode().IsRegular():
		file, err := os.OpenFile(name, os.O_WRONLY, 0)
		return &File{file: file}, err
	default:
		f.mode = old.Mode().Perm()
	}
	// In the same directory, for a rename across file systems does not replace.
	var err error
	f.file, err = os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = fmt.Errorf("%s: %w", name, pathErr.Err) // the temporary name would mean nothing to a user
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (f *File) Write(p []byte) (int, error) { return f.file.Write(p) }

// Commit puts the file in its place.
func (f *File) Commit() error {
	if f.name == "" {
		return f.file.Close()
	}
	// CreateTemp lets only the owner read; results are no secret.
	err := errors.Join(f.file.Chmod(f.mode), f.file.Sync(), f.file.Close())
	if err == nil {
		err = os.Rename(f.file.Name(), f.name)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.file.Name()))
	}
	return err
}

// Abandon leaves the old file as it is.
func (f *File) Abandon() error {
	if f.name == "" {
		return f.file.Close()
	}
	return errors.Join(f.file.Close(), os.Remove(f.file.Name()))
}
