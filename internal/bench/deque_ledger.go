package bench

import "fmt"

// A ledger is the items of one run, each of which goes into a queue and has to come out exactly once.
type ledger []Item

func newLedger(n int) ledger {
	l := make(ledger, n)
	for i := range l {
		l[i].id = uint32(i)
	}
	return l
}

// check says what is wrong if of the first n items, which went in, takes came out. Two threads that mark the same item at
// once may leave one mark, so the marks alone would not do.
func (l ledger) check(n, takes int) error {
	for i, item := range l {
		want := uint32(0)
		if i < n {
			want = 1
		}
		if item.taken != want {
			return fmt.Errorf("item %d of %d came out %d times", i+1, n, item.taken)
		}
	}
	if takes != n {
		return fmt.Errorf("%d items came out, %d went in", takes, n)
	}
	return nil
}
