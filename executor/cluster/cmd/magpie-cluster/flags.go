package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// A refusal is an error in the arguments.
type refusal struct{ error }

func refuse(format string, v ...any) error { return refusal{fmt.Errorf(format, v...)} }

// parseFlags parses the arguments of a command, which are flags only. If they ask for help, it prints the flags.
func parseFlags(f *flag.FlagSet, args []string, out io.Writer) error {
	f.SetOutput(io.Discard)
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(out, "Usage: magpie-cluster %s [flags]\n", f.Name())
		f.SetOutput(out)
		f.PrintDefaults()
		return err
	case err != nil:
		return refuse("%w (magpie-cluster %s -h lists the flags)", err, f.Name())
	case f.NArg() > 0:
		return refuse("%q is not a flag (magpie-cluster %s -h lists the flags)", f.Arg(0), f.Name())
	}
	return nil
}
