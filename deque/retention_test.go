package deque_test

import (
	"runtime"
	"testing"
	"weak"

	"github.com/magpie-go/magpie/deque"
	"github.com/stretchr/testify/require"
)

// A heavy item is too large for the allocator to put it together with others, which would keep it alive.
type heavy [128]byte

// pushHeavy pushes n new items and returns weak pointers to them.
func pushHeavy(d *deque.Deque[heavy], n int) (pointers []weak.Pointer[heavy]) {
	for range n {
		p := new(heavy)
		d.Push(p)
		pointers = append(pointers, weak.Make(p))
	}
	return pointers
}

func requireCollected(t *testing.T, pointers []weak.Pointer[heavy], want bool) {
	t.Helper()
	runtime.GC()
	runtime.GC() // stacks and sync.Pool-like caches may have held on for one
	for i, p := range pointers {
		require.Equal(t, want, p.Value() == nil, "item %d collected", i)
	}
}

// requireNothingRetained checks that d keeps the items that it holds, and no item that was popped or stolen.
func requireNothingRetained(t *testing.T, d inspected[heavy], steal func()) {
	t.Helper()
	for r := range 8 {
		var pointers []weak.Pointer[heavy]
		for range 1 + 3*r {
			p := new(heavy)
			require.NotEqual(t, deque.Refused, d.Push(p))
			pointers = append(pointers, weak.Make(p))
		}
		requireCollected(t, pointers, false)
		for range 2 * r {
			steal()
		}
		for pop(d) != nil {
		}
		require.Zero(t, d.Occupied())
		requireCollected(t, pointers, true)
	}
	runtime.KeepAlive(d)
}

// TestRetention: the deque keeps the items that it holds, and no item that was popped or stolen.
func TestRetention(t *testing.T) {
	for _, n := range []int{1, 2, 8, 9, 100} { // more than eight items make it grow
		d := deque.New[heavy](8)
		pointers := pushHeavy(d, n)
		requireCollected(t, pointers, false)
		stolen := 0
		for !d.IsEmpty() {
			if stolen < n/2 {
				d.Steal()
				stolen++
			} else {
				d.Pop()
			}
		}
		requireCollected(t, pointers, true)

		// Once more on a ring that has been used, one item at a time: the last item leaves by another path.
		for i := range 6 {
			pointers = pushHeavy(d, 1)
			if i%2 == 0 {
				d.Pop()
			} else {
				d.Steal()
			}
			requireCollected(t, pointers, true)
		}
		runtime.KeepAlive(d)
	}
}

// TestRetentionOfRings: growth drops the old ring, whose slots still point at the items.
func TestRetentionOfRings(t *testing.T) {
	d := deque.New[heavy](8)
	pushHeavy(d, 8)
	old := d.Ring()
	require.NotNil(t, old.Value())
	pointers := pushHeavy(d, 1)
	require.Equal(t, 16, d.Cap())
	runtime.GC()
	runtime.GC()
	require.Nil(t, old.Value(), "the old ring is still there")
	requireCollected(t, pointers, false)
	runtime.KeepAlive(d)
}

// A thief that was suspended over a growth holds the old ring and with it items that are gone; its end frees them.
func TestRetentionBySlowThief(t *testing.T) {
	d := deque.NewAt[heavy](2, 0)
	pointers := pushHeavy(d, 2)
	thief := deque.NewSlowThief(d)
	thief.LookTop()
	require.True(t, thief.LookBottom())
	require.True(t, thief.Fetch())
	require.True(t, thief.Claim())
	pointers = append(pointers, pushHeavy(d, 2)...)
	require.Equal(t, 4, d.Cap())
	for d.Pop() != nil {
	}
	requireCollected(t, pointers[:1], false)
	thief.Yield()
	thief = nil
	requireCollected(t, pointers, true)
	runtime.KeepAlive(d)
}
