package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A History is the calls of some threads on one deque or queue.
type History struct {
	Initial int // items 1 … Initial were there at the beginning, the oldest first
	Ops     []Op
}

// Of joins the calls that each thread has recorded.
func Of(initial int, ops [][]Op) *History {
	h := &History{Initial: initial}
	for _, of := range ops {
		h.Ops = append(h.Ops, of...)
	}
	return h
}

// check returns the first error of the rules, with the whole history.
func (h *History) check(rules ...func() error) error {
	for _, rule := range append([]func() error{h.checkForm}, rules...) {
		if err := rule(); err != nil {
			return fmt.Errorf("%w\n%v", err, h)
		}
	}
	return nil
}

// checkForm: the history has a form that the other rules can judge.
func (h *History) checkForm() error {
	last := make(map[int]int64)
	pushed := make(map[int]bool)
	for i := range h.Ops {
		o := &h.Ops[i]
		switch {
		case o.Item < 0 || o.Item > Foreign || h.Initial >= Foreign,
			o.Kind == Push && (o.Item == 0 || o.Item == Foreign):
			return fmt.Errorf("items are numbers from 1 to %d: %v", Foreign-1, o)
		case o.Kind == Push && (o.Item <= h.Initial || pushed[o.Item]):
			return fmt.Errorf("an item is pushed once: %v", o)
		case o.Lost && (o.Kind != Steal || o.Item != 0):
			return fmt.Errorf("only a steal without an item is lost: %v", o)
		case o.Call >= o.Return || o.Call <= last[o.Thread]:
			return fmt.Errorf("thread %d has two calls at once at time %d", o.Thread, o.Call)
		}
		last[o.Thread] = o.Return
		if o.Kind == Push {
			pushed[o.Item] = true
		}
	}
	return nil
}

// Overlapping counts the pairs of calls of different threads that overlap.
func (h *History) Overlapping() (pairs int) {
	for i := range h.Ops {
		for j := range h.Ops[:i] {
			if h.Ops[i].Thread != h.Ops[j].Thread && h.Ops[i].overlaps(&h.Ops[j]) {
				pairs++
			}
		}
	}
	return pairs
}

// String returns a table of the calls in the order of their beginnings. A mark in a thread's column says that the
// thread was inside a call of its own when the line's call began.
func (h *History) String() string {
	ops := slices.SortedFunc(slices.Values(h.Ops), func(o, p Op) int { return cmp.Compare(o.Call, p.Call) })
	threads := 0
	for _, o := range ops {
		threads = max(threads, o.Thread+1)
	}
	open := make([]int64, threads) // when the thread's last call returned
	var b strings.Builder
	fmt.Fprintf(&b, "initially %d items: 1 to %d\n", h.Initial, h.Initial)
	fmt.Fprintf(&b, "%6s %6s  thread\n", "call", "return")
	for _, o := range ops {
		fmt.Fprintf(&b, "%6d %6d  ", o.Call, o.Return)
		for t := range threads {
			switch {
			case t == o.Thread:
				fmt.Fprint(&b, t)
			case open[t] > o.Call:
				b.WriteByte('|')
			default:
				b.WriteByte('.')
			}
		}
		fmt.Fprintf(&b, "  %v\n", &o)
		open[o.Thread] = o.Return
	}
	return b.String()
}
