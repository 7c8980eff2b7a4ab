package deque_test

import (
	"testing"

	"github.com/magpie-go/magpie/deque"
)

// FuzzOps runs a tape of bytes against a slice. The first byte says where the indices start and how large the ring is;
// each of the others is an operation: several pushes, pops or steals, or one step of a thief that is suspended in
// between.
func FuzzOps(f *testing.F) {
	const push, pop, steal, a, b = 0, 2, 4, 6, 7 // a and b: a step of a thief: top, bottom, fetch, claim, yield
	const again = 1 << 5                         // once more
	add := func(beforeWrap, size byte, ops ...byte) { f.Add(append([]byte{beforeWrap<<2 | size}, ops...)) }
	add(0, 2, pop, steal, push+2*again, steal, pop, pop, pop, steal)
	add(0, 0, push+again, a, a, a, a, push, a, steal+again) // growth over a claimed slot
	add(9, 0, push+again, a, a, a, push, a, steal+2*again)  // growth between look and claim
	// growth before the thief fetches the ring
	add(9, 0, push+again, a, a, push+4*again, a, b, b, b, b, b)
	add(9, 1, push, a, a, a, pop, a, push, steal)                                       // the last item, to the owner
	add(9, 1, push+again, a, a, a, b, b, b, b, a, b, pop)                               // two thieves after one item
	add(9, 1, push, a, steal, push, a, a, a)                                            // an old top and a new bottom
	add(3, 1, push+3*again, a, a, a, steal+again, push+again, a, pop+again, push+again) // over the wrap of the indices
	add(63, 0, push+7*again, steal+3*again, push+7*again, pop+7*again, steal+7*again)
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
