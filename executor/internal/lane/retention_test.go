package lane

import (
	"runtime"
	"testing"
	"weak"

	"github.com/magpie-go/magpie/deque"
	"github.com/stretchr/testify/require"
)

// A heavy item is too large for the allocator to put it together with others, which would keep it alive.
type heavy [128]byte

func requireCollected(t *testing.T, pointers []weak.Pointer[heavy]) {
	t.Helper()
	runtime.GC()
	runtime.GC()
	for i, p := range pointers {
		require.Nil(t, p.Value(), "item %d of %d is kept alive", i, len(pointers))
	}
}

// TestRetention: a lane keeps no item alive that was popped, stolen or moved.
func TestRetention(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.String(), func(t *testing.T) {
			v.Capacity = 4
			m, err := NewMaker[heavy](2, v.Options)
			require.NoError(t, err)
			var lanes [2]Lane[heavy]
			m.Init(&lanes[0], 0, v.alone)
			m.Init(&lanes[1], 1, false)
			l, thief := &lanes[0], &lanes[1]
			var pointers []weak.Pointer[heavy]
			push := func(n int) {
				for range n {
					p := new(heavy)
					if l.Push(p) != deque.Refused {
						pointers = append(pointers, weak.Make(p))
					}
				}
			}
			empty := func() {
				for {
					if p, _ := l.Pop(0); p == nil {
						break
					}
				}
				requireCollected(t, pointers)
			}
			push(10)
			empty()
			push(10)
			if v.alone {
				l.Share(m.Enough())
			}
			for range 3 {
				l.Ask()
				l.Poll()
				_, rest, _ := thief.StealFrom(l)
				clear(rest)
			}
			empty()
			push(2)
			l.Expose()
			l.KeepOpen(true)
			push(2)
			l.Steal()
			empty()
			runtime.KeepAlive(&lanes)
		})
	}
}

// TestRetentionShuffled: the same of an inline worker's lane.
func TestRetentionShuffled(t *testing.T) {
	var l Lane[heavy]
	l.InitShuffled(1)
	var pointers []weak.Pointer[heavy]
	for range 10 {
		p := new(heavy)
		l.Push(p)
		pointers = append(pointers, weak.Make(p))
	}
	for range pointers {
		l.Pop(0)
	}
	requireCollected(t, pointers)
	runtime.KeepAlive(&l)
}
