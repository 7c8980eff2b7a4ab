package deque_test

import (
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/stretchr/testify/require"
)

var _ deque.Queue[item] = (*deque.PDQR[item])(nil)

// TestPDQR: a thief that has asked gets the oldest item, the owner pops the newest, and takes back an item that no
// thief has fetched.
func TestPDQR(t *testing.T) {
	d := deque.NewPDQR[int](0)
	steal := func(want *int, outcome deque.Outcome) {
		t.Helper()
		p, got := d.Steal()
		require.Equal(t, outcome, got)
		require.True(t, p == want)
	}
	all := numbers(6)
	steal(nil, deque.Empty)
	require.False(t, d.Ask())
	require.True(t, d.Wanted())
	require.Equal(t, deque.Nothing, d.Poll())
	require.Nil(t, pop(d))

	require.Equal(t, deque.Shown, d.Push(all[0]),
		"an idle deque's first item is put ready: a thief that saw it idle may sleep")
	require.Equal(t, deque.Nothing, d.Poll())
	require.Equal(t, 1, d.Len())
	require.True(t, d.Ask())
	require.False(t, d.Wanted())
	d.Push(all[1])
	d.Push(all[2])
	require.Equal(t, deque.Nothing, d.Poll(), "nobody has fetched it")
	steal(all[0], deque.Stolen)
	require.Zero(t, d.Len())
	require.True(t, d.Wanted())
	require.Equal(t, deque.Shown, d.Poll(), "others may sleep, and there is more")
	require.Equal(t, deque.Nothing, d.Poll())
	require.Zero(t, d.Len(), "nobody has asked")

	steal(nil, deque.NotReady)
	require.True(t, d.Wanted())
	steal(nil, deque.NotReady)
	require.False(t, d.Ask())
	require.Equal(t, deque.Shown, d.Poll())
	require.Same(t, all[2], pop(d))
	require.Same(t, all[1], pop(d), "from the mailbox")
	require.False(t, d.Ask())
	require.Equal(t, deque.Nothing, d.Poll(), "refused")
	steal(nil, deque.Empty)
	require.Nil(t, pop(d))
	require.Equal(t, deque.Shown, d.Push(all[3]))
	steal(all[3], deque.Stolen)
	require.Equal(t, deque.Shown, d.Push(all[4]), "a thief that saw it idle may sleep still")
	require.Equal(t, deque.Nothing, d.Push(all[5]))
	require.False(t, d.Ask())
	require.Same(t, all[5], pop(d))
	steal(all[4], deque.Stolen)
	require.Nil(t, pop(d))
	steal(nil, deque.Empty)
}

// TestPDQRTakenBack: the item for which a thief was woken is gone; the owner returns Shown for the next.
func TestPDQRTakenBack(t *testing.T) {
	d := deque.NewPDQR[int](0)
	require.False(t, d.Ask())
	require.Equal(t, deque.Shown, d.Push(new(int)))
	require.NotNil(t, pop(d))
	require.Equal(t, deque.Nothing, d.Poll())
	require.Equal(t, deque.Shown, d.Push(new(int)))
	require.Zero(t, d.Len(), "nobody has asked")
}

func TestPDQRKeep(t *testing.T) {
	d := deque.NewPDQR[int](1)
	all := numbers(2)
	require.Equal(t, deque.Nothing, d.Push(all[0]))
	require.Equal(t, deque.Nothing, d.Poll())
	_, outcome := d.Steal()
	require.Equal(t, deque.Empty, outcome)
	require.True(t, d.Wanted())
	require.Equal(t, deque.Shown, d.Push(all[1]))
	p, outcome := d.Steal()
	require.Equal(t, deque.Stolen, outcome)
	require.Same(t, all[0], p)
	require.Equal(t, deque.Nothing, d.Poll())
	_, outcome = d.Steal()
	require.Equal(t, deque.NotReady, outcome)
	require.Equal(t, deque.Nothing, d.Poll())
	_, outcome = d.Steal()
	require.Equal(t, deque.Empty, outcome, "refused")
	require.Same(t, all[1], pop(d))
	require.Zero(t, d.Occupied())
}

// TestPDQRWithoutSize: items of size zero may all have one address, but not that of ask or idle.
func TestPDQRWithoutSize(t *testing.T) {
	d := deque.NewPDQR[struct{}](0)
	for range 3 {
		d.Push(new(struct{}{}))
		p, outcome := d.Steal()
		require.Equal(t, deque.Stolen, outcome)
		require.NotNil(t, p)
		_, outcome = d.Steal()
		require.Equal(t, deque.NotReady, outcome)
		require.Nil(t, pop(d))
		_, outcome = d.Steal()
		require.Equal(t, deque.Empty, outcome)
	}
}

// TestPDQRKeepsItsSize: the deque does not grow if thieves take all that the owner pushes.
func TestPDQRKeepsItsSize(t *testing.T) {
	d, p := deque.NewPDQR[int](0), new(int)
	for range 10 {
		d.Push(p)
	}
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		d.Push(p)
		d.Ask()
		d.Poll()
		d.Steal()
	}))
	require.Equal(t, 10, d.Private())
}

func TestPDQRRetention(t *testing.T) {
	d := deque.NewPDQR[heavy](0)
	requireNothingRetained(t, d, func() {
		d.Steal()
		d.Poll()
	})
}

// TestPDQRStress: every pushed item comes out exactly once, and Pop finds nothing only when thieves have the rest.
func TestPDQRStress(t *testing.T) {
	stressMailbox(t, func(keep int) inspected[item] { return deque.NewPDQR[item](keep) }, func(s *delegation) bool {
		return s.exercised() && s.outcomes[deque.Stolen] >= 100 && s.outcomes[deque.Empty] > 0
	})
}

// FuzzPDQR runs a tape of bytes against a slice. The first byte chooses how many items the owner keeps. Each of the
// others is an operation, some of them repeated, or a step of one of two thieves that are suspended in between.
func FuzzPDQR(f *testing.F) {
	f.Add([]byte{0, 0, 3, 2, 3, 3, 0, 0, 2, 3, 1})
	f.Add([]byte{0, 0, 0, 0, 5, 6, 5, 6, 5, 6, 1, 1, 1, 1})
	f.Add([]byte{1, 80, 5, 2, 6, 5, 1, 5, 0, 0, 5, 6, 81, 5, 5, 6})
	f.Add([]byte{0, 1, 0, 5, 1, 0, 4, 2, 5, 5, 6, 6})
	f.Fuzz(func(t *testing.T, tape []byte) {
		if len(tape) == 0 || len(tape) > 2000 {
			return
		}
		p := &privateProgram{t: t, keep: int(tape[0] % 3)}
		d := deque.NewPDQR[int](p.keep)
		thieves := [2]*deque.PDQRThief[int]{deque.NewPDQRThief(d), deque.NewPDQRThief(d)}
		step := func(th *deque.PDQRThief[int]) {
			if got, outcome, over := th.Step(); over {
				p.stolen(got, outcome)
			}
		}
		for _, b := range tape[1:] {
			for range 1 + int(b)/8%16 {
				switch b % 8 {
				case 0, 7:
					p.push(d)
				case 1:
					p.pop(d)
				case 2:
					p.poll(d)
				case 3:
					p.stolen(d.Steal())
				case 4:
					require.Equal(t, d.Len() == 1, d.Ask())
				case 5:
					step(thieves[0])
				case 6:
					step(thieves[1])
				}
			}
			p.look(d)
		}
		p.finish(d)
	})
}
