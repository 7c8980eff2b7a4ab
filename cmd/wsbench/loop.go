package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/spin"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/procs"
)

// runLoop is wsbench loop. An interrupt is a usual end of it, and no error.
func (t *tool) runLoop(ctx context.Context, args []string) error {
	fs := newFlags("loop")
	workers := fs.Int("workers", procs.Base(), "")
	others, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return input.Errorf("loop takes no arguments, got %q", others[0])
	}
	if *workers < 1 || *workers > executor.MaxWorkers {
		return input.Errorf("workers must be 1 to %d, not %d", executor.MaxWorkers, *workers)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// The system stops a job in the background that reads its terminal.
	if !isTerminal(t.stdin) {
		go func() {
			if _, err := io.Copy(io.Discard, t.stdin); err == nil {
				cancel()
			}
		}()
	}
	u := spin.Run(ctx, *workers)
	_, err = fmt.Fprintf(t.stdout, "threads %d  wall %v  CPU %v  rounds %d\n",
		u.Threads, u.Wall.Round(time.Microsecond), u.CPU.Round(time.Microsecond), u.Rounds)
	return err
}

func loopHelp(*tool) string {
	return fmt.Sprintf(`Usage: wsbench loop [flags]

Computes on threads that no executor schedules, as a load beside a measurement: LOOP of Ding
and others, "BWS: Balanced Work Stealing for Time-Sharing Multicores" (EuroSys 2012). The
threads work in registers, so they take processor time only, not caches or memory.

It ends when it is interrupted, or when its standard input ends, unless that is a terminal or
the null device. Then it prints one line: the number of threads, the time that passed, the
processor time of the threads, and the rounds of arithmetic that they made. The exit status
is 0.

  -workers N      number of threads (default GOMAXPROCS, here %d)

Example, with a load on one core:
  wsbench loop -workers 1 &
  wsbench run raytracer -workers 2
  kill $!
`, procs.Base())
}
