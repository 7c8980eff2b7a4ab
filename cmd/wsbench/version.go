package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
)

// runVersion is wsbench version.
func (t *tool) runVersion(_ context.Context, args []string) error {
	others, err := parse(newFlags("version"), args)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return input.Errorf("version takes no arguments, got %q", others[0])
	}
	_, err = fmt.Fprintf(t.stdout, "wsbench %s, %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// version returns the version of the module that the command was built from, with its commit if that is known.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	v := cmp.Or(info.Main.Version, "(devel)")
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && v == "(devel)" {
			v += " " + s.Value
		}
	}
	return v
}

func versionHelp(*tool) string {
	return `Usage: wsbench version

Prints the version of Magpie that the command was built from, that of Go, and the system.
`
}
