package main

import (
	"context"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
)

// runCompare is wsbench compare.
func (t *tool) runCompare(_ context.Context, args []string) error {
	fs := newFlags("compare")
	all := fs.Bool("all", false, "")
	files, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(files) != 2 {
		return input.Errorf("compare takes two files, OLD and NEW, got %d", len(files))
	}
	c, err := bench.Compare(files[0], files[1])
	if err != nil {
		return err
	}
	return c.WriteText(t.stdout, *all)
}

func compareHelp(*tool) string {
	return `Usage: wsbench compare OLD NEW

Compares two files that wsbench run or deque has written with -format bench or json, or
two in the Go benchmark format: medians with their 95% confidence intervals, and the
difference, judged by the Mann-Whitney U test. "~" means that the difference may be
chance (p >= 0.05). The figures are those of benchstat. Ten repetitions or more show more
than five.

  -all            also show units in which neither more nor less is better, as cpu-util

To measure before and after a change:
  wsbench run btree dag -reps 10 -format bench -o old.txt
  (change something)
  wsbench run btree dag -reps 10 -format bench -o new.txt
  wsbench compare old.txt new.txt
`
}
