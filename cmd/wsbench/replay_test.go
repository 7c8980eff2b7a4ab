package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/replay"
	"github.com/stretchr/testify/require"
)

// TestPlannedCommands: wsbench takes every command that an experiment plans, at both sizes. One that it refused would
// look like a machine that cannot show the claim.
func TestPlannedCommands(t *testing.T) {
	for _, full := range []bool{false, true} {
		var plan bytes.Buffer
		require.NoError(t, replay.DryRun(&plan, replay.Experiments(), replay.Options{Full: full, Cores: 4, Seed: 1}))
		commands := 0
		for line := range strings.Lines(plan.String()) {
			line, _, _ = strings.Cut(line, "  # ")
			_, command, ok := strings.Cut(line, "  wsbench ")
			together := !ok
			if together {
				_, command, ok = strings.Cut(line, "        & ")
			}
			if !ok {
				continue
			}
			commands++
			args := strings.Fields(command)
			if together || slices.Contains(args, "-keep") { // of a program that has others beside it
				args = append(args, "-loop", "-format", "json") // as the replay does
			}
			tool := newTool(new(bytes.Buffer), new(bytes.Buffer))
			var err error
			switch args[0] {
			case "run":
				_, err = tool.parseRun(args[1:])
			case "deque":
				_, err = tool.parseDeque(args[1:])
			default:
				t.Errorf("no command %q", args[0])
			}
			require.NoError(t, err, command)
		}
		require.Greater(t, commands, 300)
	}
}

func TestBusy(t *testing.T) {
	for load, want := range map[string]string{
		"": "", "0.97 2.13 4.59": "", "1.01 0 0": "the load average is 1.01 on 2 cores", "x y z": "",
	} {
		require.Contains(t, busyNote(load, 2), want)
		require.Equal(t, want == "", busyNote(load, 2) == "")
	}
}
