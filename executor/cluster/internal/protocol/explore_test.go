package protocol

import (
	"fmt"
	"hash/maphash"
	"strings"
)

// An exploration visits all worlds that a scenario can come to, depth first.
type exploration struct {
	seeds [2]maphash.Seed
	seen  map[[2]uint64]bool // by two hashes of the world; true: it is on the path
	begin *world
	path  []step
	buf   []byte
	steps int
	kinds [stepKinds]int // of the steps
	ends  map[string]int // worlds in which nothing can happen any more, by how the run has ended
}

// explore visits all worlds of s. wrong is the first broken promise that it finds, and the steps to it, or "".
func explore(s *scenario) (e *exploration, wrong string) {
	e = &exploration{
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		seen:  make(map[[2]uint64]bool),
		ends:  make(map[string]int),
	}
	w := newWorld(newTexts(s))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case violation:
			wrong = string(p) + "\n" + e.retrace()
		default:
			panic(p)
		}
	}()
	e.begin = w.clone()
	e.visit(w)
	return e, ""
}

// longest is more steps than any path has. Arbitrary.
const longest = 2000

// visit visits w and all worlds after it. Faults are limited, so each path ends: a world that comes again on the path
// to it would let the queue turn for ever.
func (e *exploration) visit(w *world) {
	if len(e.path) > longest {
		e.path = e.path[:100]
		violated("this has no end; it begins with")
	}
	w.order()
	e.buf = w.key(e.buf[:0])
	key := [2]uint64{maphash.Bytes(e.seeds[0], e.buf), maphash.Bytes(e.seeds[1], e.buf)}
	onPath, seen := e.seen[key]
	if onPath {
		violated("this goes round in a circle")
	}
	if seen {
		return
	}
	e.seen[key] = true
	steps := w.steps(nil)
	if len(steps) == 0 {
		e.ends[w.end()]++
		w.checkEnd()
	}
	for i, s := range steps {
		e.steps++
		e.kinds[s.kind]++
		e.path = append(e.path, s)
		next := w
		if i < len(steps)-1 {
			next = w.clone()
		}
		next.take(s)
		e.visit(next)
		e.path = e.path[:len(e.path)-1]
	}
	e.seen[key] = false
}

// retrace tells the steps of the path. The last one may violate a promise.
func (e *exploration) retrace() string {
	var b strings.Builder
	w := e.begin
	for i, s := range e.path {
		w.order()
		b.WriteString(w.tell(s))
		if i < len(e.path)-1 {
			w.take(s)
		}
	}
	return b.String()
}

// end says how the run has ended.
func (w *world) end() string {
	if w.newest(stateNumber) == 0 {
		return "none"
	}
	s := w.state()
	if s.Error == nil {
		return string(s.Phase)
	}
	return string(s.Error.Reason)
}

// tell says what a step is.
func (w *world) tell(s step) string {
	call := ""
	if a := w.actors[s.actor]; a.node != nil {
		o := a.node.op
		call = o.kind.String()
		for _, key := range o.keys {
			call += " " + w.keys.text[key]
		}
		switch o.kind {
		case opCreate, opUpdate, opBury:
			call += fmt.Sprintf(" at %d %s", o.revision, w.values.text[o.value])
		case opPublish:
			for _, m := range o.posts {
				call += " " + w.values.text[m]
			}
		case opRun:
			call += fmt.Sprint(" ", o.part)
		}
		call += " by " + a.node.run.name
	}
	return fmt.Sprintf("  %v: %s\n", s, call)
}
