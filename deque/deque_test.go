package deque_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/stretchr/testify/require"
)

// wrap is the number of indices: the index after wrap-1 is 0.
const wrap = uint64(1) << deque.IndexBits

func TestOutcome(t *testing.T) {
	require.Equal(t, "empty stolen lost", fmt.Sprint(deque.Empty, deque.Stolen, deque.Lost))
	var zero deque.Outcome
	require.Equal(t, deque.Empty, zero)
}

// TestSmoke runs tapes of operations. "+a" pushes a, "-a" pops and expects a, "<a" steals and expects a, "-" and "<"
// expect nothing.
func TestSmoke(t *testing.T) {
	tests := []struct {
		name string
		tape string
	}{
		{"empty", "- < - <"},
		{"one popped", "+a -a - <"},
		{"one stolen", "+a <a < -"},
		{"pops are last in first out", "+a +b +c -c -b -a -"},
		{"steals are first in first out", "+a +b +c <a <b <c <"},
		{"both ends", "+a +b +c +d <a -d <b -c - <"},
		{"both ends, thief last", "+a +b +c <a -c <b < -"},
		{"push after a pop of the last", "+a -a +b -b +c <c -"},
		{"push after a steal of the last", "+a <a +b <b +c -c <"},
		{"push after a failed pop", "- - +a -a < +b <b"},
		{"push after a failed steal", "< < +a <a - +b -b"},
		{"to and fro", "+a +b -b +c <a +d -d -c +e <e -"},
	}
	for _, test := range tests {
		for _, start := range []uint64{0, 1, wrap - 3, wrap - 2, wrap - 1, wrap / 2} {
			t.Run(fmt.Sprintf("%s from %#x", test.name, start), func(t *testing.T) {
				d := deque.NewAt[string](2, start)
				for _, op := range strings.Fields(test.tape) {
					var got *string
					switch op[0] {
					case '+':
						d.Push(new(op[1:]))
						d.CheckRest()
						continue
					case '-':
						got = d.Pop()
					case '<':
						var outcome deque.Outcome
						got, outcome = d.Steal()
						require.Equal(t, got != nil, outcome == deque.Stolen)
						require.NotEqual(t, deque.Lost, outcome, "with no other thread there is nobody to lose to")
					}
					d.CheckRest()
					if want := op[1:]; want == "" {
						require.Nil(t, got, op)
					} else {
						require.NotNil(t, got, op)
						require.Equal(t, want, *got, op)
					}
				}
				require.Equal(t, d.Len(), d.Occupied(), "slots of items that are gone must be empty")
			})
		}
	}
}

func TestIsEmpty(t *testing.T) {
	d := deque.New[int](0)
	check := func(n int) {
		t.Helper()
		require.Equal(t, n, d.Len())
		require.Equal(t, n == 0, d.IsEmpty())
	}
	check(0)
	d.Pop()
	check(0)
	for i := range 20 {
		d.Push(&i)
		check(i + 1)
	}
	d.Steal()
	check(19)
	d.Pop()
	check(18)
	for i := range 18 {
		if i%2 == 0 {
			d.Pop()
		} else {
			d.Steal()
		}
		check(17 - i)
	}
	d.Steal()
	check(0)
}

func TestNewCapacity(t *testing.T) {
	for _, test := range []struct{ capacity, size int }{
		{-5, deque.MinCapacity}, {0, deque.MinCapacity}, {1, deque.MinCapacity}, {8, 8}, {9, 16}, {16, 16}, {17, 32},
		{1000, 1024}, {1024, 1024}, {1025, 2048},
	} {
		d := deque.New[int](test.capacity)
		require.Equal(t, test.size, d.Cap(), "New(%d)", test.capacity)
		for range test.capacity {
			d.Push(new(int))
		}
		require.Equal(t, test.size, d.Cap(), "New(%d) has room for as many", test.capacity)
	}
}

func TestGrow(t *testing.T) {
	// shift is how far the items lie from the ring's beginning, so that they go round its end in all ways.
	for shift := range uint64(17) {
		for _, start := range []uint64{0, wrap - 3, wrap - 9, wrap / 2} {
			d := deque.NewAt[int](8, start+shift)
			for i := range 8 {
				d.Push(&i)
			}
			require.Equal(t, 8, d.Cap())
			require.Equal(t, 0, d.Generation())
			for i := 8; i < 100; i++ {
				d.Push(&i)
				d.CheckRest()
			}
			require.Equal(t, 128, d.Cap())
			require.Equal(t, 4, d.Generation())
			require.Equal(t, 100, d.Occupied())
			for i := range 50 {
				p, outcome := d.Steal()
				require.Equal(t, deque.Stolen, outcome)
				require.Equal(t, i, *p)
				require.Equal(t, 99-i, *d.Pop())
			}
			require.Nil(t, d.Pop())
			require.Zero(t, d.Occupied())
		}
	}
}

// The ring grows when it is full and not before, however often the indices have gone round it.
func TestRingIsReused(t *testing.T) {
	d := deque.New[int](8)
	for round := range 1000 {
		for i := range 8 {
			d.Push(&i)
		}
		for i := range 8 {
			if round%3 == 0 {
				p, _ := d.Steal()
				require.Equal(t, i, *p)
			} else {
				require.Equal(t, 7-i, *d.Pop())
			}
		}
	}
	require.Equal(t, 8, d.Cap())
}

func TestWrap(t *testing.T) {
	for _, size := range []int{2, 8} {
		for back := range uint64(12) {
			d := deque.NewAt[int](size, wrap-back)
			var model []int
			for i := range 60 {
				switch i % 5 {
				case 3:
					p, outcome := d.Steal()
					require.Equal(t, deque.Stolen, outcome, "from %d before the wrap, step %d", back, i)
					require.Equal(t, model[0], *p)
					model = model[1:]
				case 4:
					p := d.Pop()
					require.NotNil(t, p, "from %d before the wrap, step %d", back, i)
					require.Equal(t, model[len(model)-1], *p)
					model = model[:len(model)-1]
				default:
					d.Push(&i)
					model = append(model, i)
				}
				d.CheckRest()
				require.Equal(t, len(model), d.Len())
				require.Equal(t, len(model) == 0, d.IsEmpty())
			}
			require.Equal(t, len(model), d.Occupied())
		}
	}
}

func TestAllocs(t *testing.T) {
	d := deque.New[int](64)
	p := new(int)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		d.Push(p)
		d.Pop()
	}), "push, pop of the last")
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for range 50 {
			d.Push(p)
		}
		for range 49 {
			d.Pop()
		}
		d.Steal()
	}), "pushes, pops, a steal")
}
