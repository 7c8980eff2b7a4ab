package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/executor"
)

// The fates of a token after a call of the first stage.
const (
	enters = iota
	stops
	defers
)

// Deferrals returns how many times the token was deferred before this call of the first stage.
func (t *Token) Deferrals() int { return t.deferrals }

// Defer makes the token wait until the tokens with the given numbers have passed the first stage. It reports whether
// the token is deferred: not if all of them have passed. A deferred token leaves its line to others. Later the first
// stage is called for it again, on any line, with the same number. It may then defer the token once more. Tokens that
// need not wait any longer go before new ones. The later stages take tokens in the order in which they have passed the
// first stage.
//
// The others may be tokens still to come. If tokens wait for each other, or for one that has not come when the input
// ends, the run fails with a [DeferError].
//
// Defer is for the first stage, and panics in any other. It panics after a Stop, and if a number is negative.
func (t *Token) Defer(numbers ...int) bool {
	s := t.run
	t.mustBeFirst("Defer", "only tokens in the first stage can wait for others")
	if t.fate == stops {
		panic(fmt.Sprintf("pipeline %q: token %d is deferred after Stop: it does not come", s.name, t.number))
	}
	for _, n := range numbers {
		if n < 0 {
			panic(fmt.Sprintf("pipeline %q: token %d is to wait for token %d: numbers begin at 0", s.name, t.number, n))
		}
		if s.deferred == nil {
			if n < t.number {
				continue // no token was put aside: all before have passed
			}
			s.deferred = &deferred{end: -1, drawn: t.number, aside: map[int]*aside{}, waiters: map[int][]*aside{}}
		}
		s.deferred.wait(t, n)
	}
	return t.fate == defers
}

func (t *Token) mustBeFirst(method, why string) {
	if at := t.run.at[t.line]; at != 0 {
		panic(fmt.Sprintf("pipeline %q: %s in stage %s: %s", t.run.name, method, t.run.stageName(at), why))
	}
}

// deferred has the tokens of a run that are put aside. It is made by the first deferral. Only the first stage uses it,
// which is serial: plain.
type deferred struct {
	drawn   int              // the number drawn last; it has passed unless it is in aside
	end     int              // the number for which the first stage has called Stop; negative before
	current *aside           // the token that the first stage is deferring in this call, or nil
	aside   map[int]*aside   // by number; also those that are ready
	waiters map[int][]*aside // by the number of the token that they wait for
	ready   []*aside         // need not wait any longer, in the order in which they go
}

// An aside is a token that was put aside.
type aside struct {
	number, deferrals int
	on                []int // the tokens that it waits for, also those that have passed since
	left              int   // how many of these have not passed
}

// wait notes that t, which the first stage is called for, waits for token n.
func (d *deferred) wait(t *Token, n int) {
	_, isAside := d.aside[n]
	if n < t.run.next && n != t.number && n != d.end && !isAside {
		return // has passed
	}
	if t.fate != defers {
		t.fate = defers
		d.current = &aside{number: t.number, deferrals: t.deferrals + 1}
	}
	if !slices.Contains(d.current.on, n) {
		d.current.on = append(d.current.on, n)
	}
}

// putAside puts the current token aside. It fails if tokens then wait for each other.
func (d *deferred) putAside() error {
	a := d.current
	d.current = nil
	a.left = len(a.on)
	d.aside[a.number] = a
	for _, n := range a.on {
		d.waiters[n] = append(d.waiters[n], a)
	}
	return d.circle(a)
}

// pass notes that token n has passed the first stage.
func (d *deferred) pass(n int) {
	for _, a := range d.waiters[n] {
		if a.left--; a.left == 0 {
			d.ready = append(d.ready, a)
		}
	}
	delete(d.waiters, n)
}

// draw gives t the next token: one that was put aside, or a new one. It returns false if there is none.
func (d *deferred) draw(s *run, t *Token) (ok bool, err error) {
	if _, isAside := d.aside[d.drawn]; !isAside && d.drawn != d.end {
		d.pass(d.drawn)
	}
	switch {
	case len(d.ready) > 0:
		a := d.ready[0]
		d.ready[0] = nil
		d.ready = d.ready[1:]
		delete(d.aside, a.number)
		t.number, t.deferrals = a.number, a.deferrals
	case d.end < 0:
		t.number, t.deferrals = s.next, 0
		s.next++
	case len(d.aside) > 0:
		err := d.inVain()
		t.number, t.deferrals = err.Path[0], d.aside[err.Path[0]].deferrals
		return false, err
	default:
		return false, nil
	}
	d.drawn = t.number
	return true, nil
}

// circle looks for tokens that wait for each other, a among them. There were none before a was put aside.
func (d *deferred) circle(a *aside) error {
	if len(d.waiters[a.number]) == 0 {
		return nil
	}
	from := make(map[int]int) // by number: a token that waits for this one
	for todo := []*aside{a}; len(todo) > 0; todo = todo[1:] {
		for _, n := range todo[0].on {
			if _, seen := from[n]; seen {
				continue
			}
			from[n] = todo[0].number
			if n == a.number {
				path := []int{}
				for k := from[n]; k != a.number; k = from[k] {
					path = append(path, k)
				}
				path = append(path, a.number)
				slices.Reverse(path)
				return &DeferError{Path: path, Circle: true}
			}
			if b := d.aside[n]; b != nil && b.left > 0 {
				todo = append(todo, b)
			}
		}
	}
	return nil
}

// inVain returns an error for the tokens that wait when the input has ended. Tokens do not wait for each other, so each
// of them waits, through others or not, for one that has not come.
func (d *deferred) inVain() *DeferError {
	first := -1
	for n := range d.aside {
		if first < 0 || n < first {
			first = n
		}
	}
	e := &DeferError{Path: []int{first}}
	for a := d.aside[first]; a != nil; {
		i := slices.IndexFunc(a.on, func(n int) bool { return n >= d.end || d.aside[n] != nil })
		e.Path = append(e.Path, a.on[i])
		a = d.aside[a.on[i]]
	}
	return e
}

// goOn is called after a call of the first stage in which the token has not passed it. It returns the same cell if that
// is to take another token, or nil.
func (s *run) goOn(c *cell, t *Token) *executor.Item {
	d := s.deferred
	fate := t.fate
	t.fate = enters
	switch {
	case fate == defers:
		if err := d.putAside(); err != nil {
			s.fail(0, t.number, err)
			return s.done()
		}
	case d == nil:
		return s.done()
	case t.deferrals > 0:
		s.fail(0, t.number, errStopDeferred)
		return s.done()
	default:
		d.end = t.number
	}
	return &c.Item
}

var errStopDeferred = errors.New("Stop of a token that was deferred: only a new token can say that there are no more")

// A DeferError says that tokens wait for each other, or for a token that does not come.
type DeferError struct {
	// Path has the numbers of tokens, each of which waits for the next.
	Path []int
	// Circle says that the last token of Path waits for the first. Otherwise the last token of Path does not come.
	Circle bool
}

func (e *DeferError) Error() string {
	path := make([]string, len(e.Path))
	for i, n := range e.Path {
		path[i] = fmt.Sprint(n)
	}
	if more := len(path) - mostTold; more > 0 {
		path = slices.Concat(path[:mostTold/2], []string{fmt.Sprintf("… %d more …", more)}, path[len(path)-mostTold/2:])
	}
	told := strings.Join(path, " → ")
	if e.Circle {
		return fmt.Sprintf("deferred tokens wait for each other: %s → %d", told, e.Path[0])
	}
	return "deferred until a token passes that does not come: " + told
}

// mostTold is how many tokens of a longer path a message names.
const mostTold = 12
