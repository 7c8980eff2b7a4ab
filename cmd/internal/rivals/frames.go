package main

// frames is a stack of calls that are put off. It shows the least that a fork and its join can cost in Go: no other
// thread can take a call, and nothing is checked but what Go always checks, the end of the stack and whether the
// collector marks. A fork stores a function and its argument in the next frame. The join loads both and makes the call.
type frames struct {
	level uint16 // there is a frame for each of its values, so that bounds are not checked
	all   [1 << 16]frame
}

type frame struct {
	f   func(*frames, int) int
	arg int
}

func (s *frames) fork(f func(*frames, int) int, arg int) {
	s.all[s.level] = frame{f, arg}
	s.level++
}

// join makes the call that was put off last.
func (s *frames) join() int {
	s.level--
	call := &s.all[s.level]
	return call.f(s, call.arg)
}

func fibFrames(s *frames, n int) int {
	if n < 2 {
		return n
	}
	s.fork(fibFrames, n-1)
	r := fibFrames(s, n-2)
	return s.join() + r
}

func fatFrames(s *frames, depth int) int {
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

func thinFrames(s *frames, depth int) int {
	if depth == 0 {
		return 1
	}
	s.fork(thinFrames, depth-1)
	n := 1 + thinFrames(s, depth-1)
	return n + s.join()
}
