package deque_test

import (
	"testing"

	"github.com/magpie-go/magpie/deque"
)

// FuzzOps runs a tape of bytes against a slice. The first byte says where the indices start and how large the ring is;
// each of the others is an operation: several pushes, pops or steals, or one step of a thief that is suspended in
// between.
func FuzzOps(f *testing.F) {
	f.Add([]byte("\x00\x00\x01\x02"))
	f.Add([]byte("\x13\x00\x00\x00\x03\x03\x03\x03\x00\x00\x03"))     // growth over a claimed slot
	f.Add([]byte("\x21\x08\x08\x01\x02\x03\x08\x03\x03\x08\x03\x0a")) // growth between look and claim
	f.Add([]byte("\xf7\x70\x71\x70\x72\x70\x71\x72\x73\x73\x73\x73"))
	f.Fuzz(func(t *testing.T, tape []byte) {
		if len(tape) == 0 || len(tape) > 2000 {
			return
		}
		start := wrap - uint64(tape[0]>>2)
		p := &program{t: t, name: func() string { return "tape" }}
		p.d = deque.NewAt[int](2<<(tape[0]&3), start)
		p.thief = []thiefState{{SlowThief: deque.NewSlowThief(p.d)}, {SlowThief: deque.NewSlowThief(p.d)}}
		for _, b := range tape[1:] {
			count := int(b>>3)/4 + 1
			switch op := b & 7; op {
			case 0, 1:
				for range count {
					p.push()
				}
			case 2, 3:
				for range count {
					p.pop()
				}
			case 4, 5:
				for range count {
					p.steal()
				}
			default:
				th := &p.thief[op-6]
				if th.step >= thiefSteps {
					*th = thiefState{SlowThief: deque.NewSlowThief(p.d)}
				}
				p.advance(int(op - 6))
			}
			p.d.CheckRest()
			p.check(p.d.Len() == len(p.model), "length")
			p.check(p.d.IsEmpty() == (len(p.model) == 0), "emptiness")
		}
		p.finish()
	})
}
