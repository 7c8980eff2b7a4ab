package main

import (
	"io"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/atomicfile"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
)

// withOutput calls write with the file of that name, which is replaced only if write succeeds. If the name is empty it
// uses standard output.
func (t *tool) withOutput(name string, write func(io.Writer) error) error {
	if name == "" {
		return write(t.stdout)
	}
	f, err := atomicfile.Create(name)
	if err != nil {
		return input.Errorf("-o: %v", err)
	}
	if err := write(f); err != nil {
		_ = f.Abandon() // the error of write is the one to report
		return err
	}
	return f.Commit()
}
