package main

import (
	"io"

	"github.com/magpie-go/magpie/internal/bench"
)

// withOutput has write write to the file of that name, which is replaced only if write succeeds, or to standard output
// if the name is empty.
func (t *tool) withOutput(name string, write func(io.Writer) error) error {
	if name == "" {
		return write(t.stdout)
	}
	f, err := bench.CreateAtomic(name)
	if err != nil {
		return bench.BadInput("-o: %v", err)
	}
	if err := write(f); err != nil {
		_ = f.Abandon() // what went wrong before is what to tell
		return err
	}
	return f.Commit()
}
