package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/magpie-go/magpie/executor/cluster"
)

// functions are what workers do.
type functions struct {
	registry *cluster.Registry
	merge    cluster.FuncAll[Made, Made]
	step     cluster.Func2[Step, Made, Made]
}

// A Step is a command that makes a file.
type Step struct{ Target, Script string }

// A Made is the files that were made, or the name of the target that has failed. That is a result: an error of the
// function would end the run.
type Made struct {
	Files  map[string]Blob
	Failed string
	Output string // of the command
	Cached bool   // no command has run
}

// newFunctions registers the functions. js is the server of a worker, and nil in a program that submits.
func newFunctions(js jetstream.JetStream) functions {
	reg := cluster.NewRegistry()
	return functions{
		registry: reg,
		merge: cluster.RegisterAll(reg, "merge", func(_ context.Context, all []Made) (Made, error) {
			files, failed := map[string]Blob{}, ""
			for _, m := range all {
				maps.Copy(files, m.Files)
				failed = cmp.Or(failed, m.Failed)
			}
			return Made{Files: files, Failed: failed}, nil
		}),
		step: cluster.Register2(reg, "step", func(ctx context.Context, s Step, needs Made) (Made, error) {
			if needs.Failed != "" {
				return Made{Failed: needs.Failed}, nil
			}
			c, err := openCache(ctx, js)
			if err != nil {
				return Made{}, err
			}
			return s.make(ctx, c, needs.Files)
		}),
	}
}

func registry(js jetstream.JetStream) *cluster.Registry { return newFunctions(js).registry }

// version is that of the code below. It is a part of all keys, so that a new version makes everything again.
const version = "1"

// key returns the hash of all that the result depends on: what the command finds in its directory, and the kind of
// machine. The versions of its tools are no part of it.
func (s Step) key(files map[string]Blob) (string, error) {
	all, err := json.Marshal([]any{version, runtime.GOOS, runtime.GOARCH, s, files}) // maps are sorted
	return hash(all), err
}

// make returns what is in the cache, or else runs the command.
func (s Step) make(ctx context.Context, c cache, files map[string]Blob) (Made, error) {
	key, err := s.key(files)
	if err != nil {
		return Made{}, err
	}
	if made, ok, err := c.result(ctx, key); ok || err != nil {
		made.Cached = true
		return made, err
	}
	dir, err := os.MkdirTemp("", "build-")
	if err != nil {
		return Made{}, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, s.Target)
	if err := errors.Join(c.checkOut(ctx, dir, files), os.MkdirAll(filepath.Dir(file), 0o777)); err != nil {
		return Made{}, err
	}
	output, err := execute(ctx, dir, s.Script)
	switch {
	case ctx.Err() != nil:
		return Made{}, context.Cause(ctx)
	case errors.As(err, new(*exec.ExitError)):
		return Made{Failed: s.Target, Output: output + err.Error() + "\n"}, nil
	case err != nil:
		return Made{}, err
	}
	blob, err := c.putFile(ctx, file)
	if errors.Is(err, fs.ErrNotExist) {
		return Made{Failed: s.Target, Output: output + "the command has not made " + s.Target + "\n"}, nil
	}
	if err != nil {
		return Made{}, err
	}
	made := Made{Files: map[string]Blob{s.Target: blob}, Output: output}
	return made, c.setResult(ctx, key, made)
}

// execute runs a script in a directory. What it prints is returned, of much the end.
func execute(ctx context.Context, dir, script string) (string, error) {
	command := exec.CommandContext(ctx, "sh", "-ec", script)
	command.Dir = dir
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C"} // nothing that a key does not have
	command.WaitDelay = time.Second
	withChildren(command)
	var output tail
	command.Stdout, command.Stderr = &output, &output
	err := command.Run()
	return string(output), err
}

// A tail has the end of what was written to it.
type tail []byte

func (t *tail) Write(data []byte) (int, error) {
	const most = 64 << 10
	*t = append(*t, data...)
	*t = (*t)[max(0, len(*t)-most):]
	return len(data), nil
}
