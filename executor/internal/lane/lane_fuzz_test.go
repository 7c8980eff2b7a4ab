package lane

import "testing"

// FuzzLane runs a tape of bytes against a list. The first byte chooses a variant, the second the sizes of its queues;
// each of the others is an operation and how often it is done.
func FuzzLane(f *testing.F) {
	all := variants()
	for i := range all {
		v := byte(i)
		f.Add([]byte{v, 9, opPushMany + 5<<4, opAsk, opPoll, opSteal, opStealMany, opShare, opPop, opAnswer + 2<<4})
		f.Add([]byte{v, 2, opPushMany + 7<<4, opKeepOpen, opPush, opAsk, opExpose, opClose, opPush, opPopMany + 9<<4})
	}
	f.Fuzz(func(t *testing.T, tape []byte) {
		if len(tape) < 2 || len(tape) > 1000 {
			return
		}
		sizes := int(tape[1])
		v := all[int(tape[0])%len(all)].small(func(n int) int {
			size := sizes % n
			sizes /= n
			return size
		})
		p := newPupil(t, v)
		for _, b := range tape[2:] {
			p.do(int(b&15)%ops, int(b>>4))
		}
		p.finish()
	})
}
