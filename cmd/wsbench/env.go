package main

import (
	"context"
	"encoding/json"
	"io"

	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
)

// runEnv is wsbench env.
func (t *tool) runEnv(_ context.Context, args []string) error {
	fs := newFlags("env")
	format := fs.String("format", "text", "")
	output := fs.String("o", "", "")
	others, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return input.Errorf("env takes no arguments, got %q", others[0])
	}
	if err := bench.CheckFormat(*format, []string{"text", "json"}); err != nil {
		return err
	}
	env := environment.Read()
	return t.withOutput(*output, func(w io.Writer) error {
		if *format == "json" {
			return json.NewEncoder(w).Encode(env)
		}
		return bench.WriteEnvironment(w, env)
	})
}

func envHelp(*tool) string {
	return `Usage: wsbench env [flags]

Describes the machine, and how much of it this process may use.

  -format FORMAT  text or json (default text)
  -o FILE         write to FILE, which is replaced only if the command succeeds
`
}
