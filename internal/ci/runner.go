package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A runner runs steps.
type runner struct {
	root     string
	preamble string
	env      []string // beside the environment of the process without MAGPIE variables
	out      io.Writer
	places   int  // so many steps run at a time
	goOn     bool // after a failure
	begun    time.Time

	mu    sync.Mutex   // guards out, and the results of steps
	alone sync.RWMutex // held for writing by a step that runs alone, for reading by each other one
}

// run runs the steps and reports whether all have passed.
func (r *runner) run(ctx context.Context, steps []*step) bool {
	todo := make(chan *step, len(steps))
	for _, s := range steps {
		todo <- s
	}
	close(todo)
	var places sync.WaitGroup
	for range min(r.places, len(steps)) {
		places.Go(func() {
			for s := range todo {
				begin := r.alone.RLocker()
				if s.alone {
					begin = &r.alone
				}
				begin.Lock()
				if ctx.Err() == nil && (r.goOn || !r.anyFailed(steps)) {
					r.do(ctx, s)
				}
				begin.Unlock()
			}
		})
	}
	ended := make(chan struct{})
	go r.progress(steps, ended)
	places.Wait()
	close(ended)
	return r.summary(ctx, steps)
}

func (r *runner) anyFailed(steps []*step) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range steps {
		if s.state == failed {
			return true
		}
	}
	return false
}

// do runs one step.
func (r *runner) do(ctx context.Context, s *step) {
	r.mu.Lock()
	s.state = running
	fmt.Fprintf(r.out, "%s  begins: %s\n", r.clock(), s.name)
	r.mu.Unlock()

	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", r.preamble+s.lines)
	cmd.Dir = r.root
	asGroup(cmd)
	cmd.WaitDelay = 20 * time.Second
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "MAGPIE_") { // replays, seeds and counts are for tests called by hand
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, r.env...)
	var log eventLog
	cmd.Stdout, cmd.Stderr = &log, &log
	start := time.Now()
	err := cmd.Run()
	if ctx.Err() != nil {
		endGroup(cmd)
	}
	log.end()

	r.mu.Lock()
	defer r.mu.Unlock()
	s.took = time.Since(start)
	if p := cmd.ProcessState; p != nil { // else it has not begun
		s.cpu = p.UserTime() + p.SystemTime()
	}
	s.passed, s.failed = log.counts()
	s.state = succeeded
	if err != nil {
		s.state = failed
		s.told = fmt.Sprintf("%v\n%s", err, log.failures())
	}
	fmt.Fprintf(r.out, "%s  %s in %s: %s\n", r.clock(), s.state, seconds(s.took), s.name)
	if err != nil {
		fmt.Fprint(r.out, s.told)
		return
	}
	fmt.Fprint(r.out, indented(log.summary()))
}

// progress says every minute which steps are running.
func (r *runner) progress(steps []*step, ended <-chan struct{}) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		r.mu.Lock()
		var names []string
		left := 0
		for _, s := range steps {
			switch s.state {
			case running:
				names = append(names, s.name)
			case waiting:
				left++
			}
		}
		fmt.Fprintf(r.out, "%s  running: %s; %d steps to come\n", r.clock(), strings.Join(names, "; "), left)
		r.mu.Unlock()
	}
}

// summary prints the time of each step, and all failures once more.
func (r *runner) summary(ctx context.Context, steps []*step) bool {
	passed, failures, ok, cpu := 0, 0, true, time.Duration(0)
	fmt.Fprintf(r.out, "\n%-9s  %8s  %8s  %7s  step\n", "result", "time", "CPU time", "tests")
	for _, s := range steps {
		fmt.Fprintf(r.out, "%-9s  %8s  %8s  %7d  %s\n", s.state, seconds(s.took), seconds(s.cpu), s.passed+s.failed, s.name)
		cpu += s.cpu
		passed += s.passed
		failures += s.failed
		ok = ok && s.state == succeeded
		if s.state == failed && s.failed == 0 {
			failures++ // a step that is no test
		}
	}
	fmt.Fprintf(r.out, "%-9s  %8s  %8s\n", "all", seconds(time.Since(r.begun)), seconds(cpu))
	for _, s := range steps {
		if s.state == failed {
			fmt.Fprintf(r.out, "\nFAILED: %s\n%s", s.name, s.told)
		}
	}
	if ctx.Err() != nil {
		fmt.Fprintln(r.out, "interrupted")
	}
	fmt.Fprintf(r.out, "%d passed, %d failed\n", passed, failures)
	return ok
}

// clock returns the time since the beginning.
func (r *runner) clock() string {
	s := int(time.Since(r.begun).Seconds())
	return fmt.Sprintf("%3d:%02d", s/60, s%60)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("        " + line)
	}
	return b.String()
}
