package main

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/magpie-go/magpie/internal/waited"
)

// The watchdog's patience is in ticks of its own, so that a process that was stopped for a while does not seem to hang.
// A single driver gets more: its workers may be nice while others are not. Beside other processes that keep the cores
// busy, nice workers get next to nothing: a tick in which threads waited for a core counts for a tenth of one.
const (
	patience       = 10
	driverPatience = 60
	tick           = time.Second
	starvedTicks   = 10
)

// watch returns nil when finished is closed. When nothing progresses any longer it prints everything about the process
// and returns an error.
func (s *soak) watch(finished <-chan struct{}, ticks <-chan time.Time) error {
	last := make([]int64, len(s.pulses))
	silent := make([]int, len(s.pulses)) // ticks since each pulse changed
	idle := 0                            // ticks since any pulse changed, times starvedTicks; so are those of silent
	before := waited.ForCores()
	for {
		select {
		case <-finished:
			return nil
		case <-ticks:
		}
		counts := starvedTicks
		now := waited.ForCores()
		if now-before > tick/2 {
			counts = 1
		}
		before = now
		idle += counts
		for i := range s.pulses {
			silent[i] += counts
			if now := s.pulses[i].Load(); now != last[i] {
				last[i], silent[i], idle = now, 0, 0
			}
		}
		if idle >= patience*starvedTicks {
			s.tell()
			return fmt.Errorf("no progress for %v", patience*tick)
		}
		for i, n := range silent[:s.drivers] {
			if n >= driverPatience*starvedTicks && s.done.Load() < s.tasks {
				s.tell()
				return fmt.Errorf("no progress of driver %d for %v", i, driverPatience*tick)
			}
		}
	}
}

// tell prints the state of every executor and every goroutine.
func (s *soak) tell() {
	fmt.Fprintf(s.stderr, "\nsoak: no progress; seed %d, %d tasks done, chaos: %s\n",
		s.seed, s.done.Load(), s.chaos.what())
	for _, l := range s.living() {
		dump := make(chan string, 1)
		go func() {
			var b strings.Builder
			if err := l.ex.Dump(&b); err != nil {
				fmt.Fprintln(&b, err)
			}
			dump <- b.String()
		}()
		select {
		case text := <-dump:
			fmt.Fprintf(s.stderr, "\n%v:\n%s", l, text)
		case <-time.After(time.Second):
			fmt.Fprintf(s.stderr, "\n%v: its Dump hangs too\n", l)
		}
	}
	stacks := make([]byte, 64<<20)
	fmt.Fprintf(s.stderr, "\n%s\n", stacks[:runtime.Stack(stacks, true)])
}

// living lists the executors that are not closed, in the order in which they were opened.
func (s *soak) living() []*life {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*life
	for l := range s.lives {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *life) int { return cmp.Compare(a.number, b.number) })
	return all
}
