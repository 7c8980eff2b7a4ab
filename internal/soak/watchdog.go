package main

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// The watchdog's patience, in ticks of its own, so that a process that was stopped for a while is not taken for one that
// hangs. One driver has more: its workers may be nice, and others not.
const (
	patience       = 10
	driverPatience = 60
	tick           = time.Second
)

// watch returns nil when finished is closed, or tells everything about the process and returns an error when nothing
// progresses any more.
func (s *soak) watch(finished <-chan struct{}, ticks <-chan time.Time) error {
	last := make([]int64, len(s.pulses))
	silent := make([]int, len(s.pulses)) // ticks
	idle := 0                            // ticks without any pulse
	for {
		select {
		case <-finished:
			return nil
		case <-ticks:
		}
		idle++
		for i := range s.pulses {
			silent[i]++
			if now := s.pulses[i].Load(); now != last[i] {
				last[i], silent[i], idle = now, 0, 0
			}
		}
		if idle >= patience {
			s.tell()
			return fmt.Errorf("no progress for %v", patience*tick)
		}
		for i, n := range silent[:s.drivers] {
			if n >= driverPatience && s.done.Load() < s.tasks {
				s.tell()
				return fmt.Errorf("no progress of driver %d for %v", i, driverPatience*tick)
			}
		}
	}
}

// tell writes what every executor and every goroutine is doing.
func (s *soak) tell() {
	fmt.Fprintf(s.stderr, "\nsoak: no progress; seed %d, %d tasks done, chaos: %s\n", s.seed, s.done.Load(), s.chaos.what())
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
