package bench

import "fmt"

// A ledger has the items of one run. Each of them goes into a queue and has to come out exactly once.
type ledger []Item

func newLedger(n int) ledger {
	l := make(ledger, n)
	for i := range l {
		l[i].id = uint32(i)
	}
	return l
}

// check returns an error unless the first n items, which went in, came out once each, in takes takes. The marks alone
// would not do: two threads that mark the same item at once may leave one mark.
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
