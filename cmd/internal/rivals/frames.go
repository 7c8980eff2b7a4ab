package main

// frames is a stack of calls that are put off. It shows the least that a fork and its join can cost in Go: no other
// thread can take a call, and nothing is checked but what Go always checks, the end of the stack and whether the
// collector marks. A fork stores a function and its argument in the next frame. The join loads both and makes the call.
type frames[A any] struct {
	level uint16 // there is a frame for each of its values, so that bounds are not checked
	all   [1 << 16]frame[A]
}

type frame[A any] struct {
	f   func(*frames[A], A) int
	arg A
}

func (s *frames[A]) fork(f func(*frames[A], A) int, arg A) {
	s.all[s.level] = frame[A]{f, arg}
	s.level++
}

// join makes the call that was put off last.
func (s *frames[A]) join() int {
	s.level--
	call := &s.all[s.level]
	return call.f(s, call.arg)
}

func fibFrames(s *frames[int], n int) int {
	if n < 2 {
		return n
	}
	s.fork(fibFrames, n-1)
	r := fibFrames(s, n-2)
	return s.join() + r
}

func fatFrames(s *frames[int], depth int) int {
	if depth == 0 {
		return 1
	}
	for range fatChildren - 1 {
		s.fork(fatFrames, depth-1)
	}
	n := 1 + fatFrames(s, depth-1)
	for range fatChildren - 1 {
		n += s.join()
	}
	return n
}

func thinFrames(s *frames[int], depth int) int {
	if depth == 0 {
		return 1
	}
	s.fork(thinFrames, depth-1)
	n := 1 + thinFrames(s, depth-1)
	return n + s.join()
}

func queensFrames(s *frames[places], b board) int {
	if b.columns == b.all {
		return 1
	}
	return placesFrames(s, places{b, b.free()})
}

func placesFrames(s *frames[places], p places) int {
	if p.free == 0 {
		return 0
	}
	first := p.with(p.free & -p.free)
	rest := places{p.board, p.free & (p.free - 1)}
	if rest.free == 0 {
		return queensFrames(s, first)
	}
	s.fork(placesFrames, rest)
	n := queensFrames(s, first)
	return n + s.join()
}
