package pool

import (
	"encoding"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// newQueue returns the queue of a run with a number of drainers, and the drainers.
func newQueue(o Options, drainers int, priorities ...int) (queue, []drainer) {
	s := &run{opts: o, drainers: make([]drainer, drainers)}
	for _, p := range priorities {
		s.tasks = append(s.tasks, task{priority: p})
	}
	for i := range s.drainers {
		d := &s.drainers[i]
		d.run, d.index, d.random = s, i, *rand.NewPCG(o.Seed, uint64(i))
	}
	return queues[o.Queue].make(s), s.drainers
}

// takeAll returns the tasks that drainer d gets until none is left for it.
func takeAll(q queue, d *drainer) (all []int) {
	for {
		number, got := q.take(d)
		switch got {
		case taken:
			all = append(all, number)
		case none:
			return all
		}
	}
}

func TestOrder(t *testing.T) {
	equal := make([]int, 7)
	for _, tt := range []struct {
		o          Options
		priorities []int
		want       []int
	}{
		{Options{}, equal, []int{0, 1, 2, 3, 4, 5, 6}},
		{Options{Queue: ByPriority}, equal, []int{0, 1, 2, 3, 4, 5, 6}},
		{Options{Queue: ByPriority}, []int{1, 3, 2, 3, -1, 2, 3}, []int{1, 3, 6, 2, 5, 0, 4}},
		{Options{Queue: PerThread}, equal, []int{6, 3, 0}},
		// Drainer 0 goes on with the tasks of drainer 1, which are 1 and 4, and of drainer 2, which are 2 and 5.
		{Options{Queue: PerThreadFIFO}, equal, []int{0, 3, 6}},
		{Options{Queue: PerThreadFIFO, Stealing: NeighbourOne}, equal, []int{0, 3, 6, 4, 1, 5, 2}},
		{Options{Queue: PerThreadFIFO, Stealing: NeighbourHalf}, equal, []int{0, 3, 6, 4, 1, 5, 2}},
		{Options{Queue: PerThreadFIFO, Stealing: NeighbourAll}, equal, []int{0, 3, 6, 1, 4, 2, 5}},
		{Options{Queue: PerThread, Stealing: NeighbourOne}, equal, []int{6, 3, 0, 1, 4, 2, 5}},
		{Options{Queue: PerThread, Stealing: NeighbourHalf}, equal, []int{6, 3, 0, 1, 4, 2, 5}},
		{Options{Queue: PerThread, Stealing: NeighbourAll}, equal, []int{6, 3, 0, 4, 1, 5, 2}},
	} {
		q, ds := newQueue(tt.o, 3, tt.priorities...)
		require.Equal(t, tt.want, takeAll(q, &ds[0]), "%+v", tt.o)
	}
}

// TestHeap compares the heap with a stable sort.
func TestHeap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 60 {
		priorities := make([]int, n)
		want := make([]int, n)
		for i := range priorities {
			priorities[i], want[i] = rng.IntN(5)-2, i
		}
		slices.SortStableFunc(want, func(a, b int) int { return priorities[b] - priorities[a] })
		q, ds := newQueue(Options{Queue: ByPriority}, 1, priorities...)
		require.Equal(t, want, append([]int{}, takeAll(q, &ds[0])...))
	}
}

// TestSteal pins what one steal moves, and from which queue: the oldest tasks, to the queue of the thief.
func TestSteal(t *testing.T) {
	for _, tt := range []struct {
		stealing Stealing
		want     []int // the tasks of the thief's queue
	}{
		{NeighbourOne, []int{1}}, {NeighbourHalf, []int{1, 5, 9}}, {NeighbourAll, []int{1, 5, 9, 13, 17}},
		{RandomOne, []int{1}}, {RandomHalf, []int{1, 5, 9}}, {RandomAll, []int{1, 5, 9, 13, 17}},
	} {
		made, ds := newQueue(Options{Queue: PerThread, Stealing: tt.stealing}, 4, make([]int, 20)...)
		q := made.(*stolen)
		for _, i := range []int{0, 2, 3} {
			q.queues[i].set(0, 0)
		}
		thief := &ds[3]
		number, got := q.steal(thief)
		require.Equal(t, taken, got)
		own := &q.queues[3]
		require.Equal(t, tt.want, append(slices.Clone(own.tasks[own.first:own.end]), number), "%v", tt.stealing)
		require.EqualValues(t, 5-len(tt.want), q.queues[1].left.Load())
		require.Equal(t, DrainerStats{Steals: 1, Moved: len(tt.want)}, thief.stats)

		// Nothing is left: the look fails, and the drainer may leave.
		require.Len(t, takeAll(made, thief), 4)
		require.Equal(t, 1, thief.stats.FailedSteals)
		require.Equal(t, 5, thief.stats.Moved)
	}
}

func TestHalfIsRoundedUp(t *testing.T) {
	for n, want := range []int{0, 1, 1, 2, 2, 3} {
		require.Equal(t, want, half(n))
	}
}

// TestNeighbour: the next queue in a circle that is not empty.
func TestNeighbour(t *testing.T) {
	made, ds := newQueue(Options{Queue: PerThread, Stealing: NeighbourOne}, 5, make([]int, 10)...)
	q := made.(*stolen)
	q.queues[1].set(0, 0)
	q.queues[4].set(0, 0)
	require.Equal(t, []int{2, 2, 3, 0, 0}, []int{
		neighbour(q, &ds[0]), neighbour(q, &ds[1]), neighbour(q, &ds[2]), neighbour(q, &ds[3]), neighbour(q, &ds[4]),
	})
	for i := range q.queues {
		q.queues[i].set(0, 0)
	}
	q.queues[2].set(0, 1)
	require.Equal(t, -1, neighbour(q, &ds[2]), "a drainer is not its own neighbour")
	require.Equal(t, -1, random(q, &ds[2]))
}

// TestRandom: each queue that is not empty is chosen about equally often, and no other.
func TestRandom(t *testing.T) {
	made, ds := newQueue(Options{Queue: PerThread, Stealing: RandomOne, Seed: 7}, 6, make([]int, 12)...)
	q := made.(*stolen)
	q.queues[2].set(0, 0)
	const draws = 40000
	counts := make([]int, 6)
	for range draws {
		counts[random(q, &ds[0])]++
	}
	require.Zero(t, counts[0])
	require.Zero(t, counts[2])
	for _, i := range []int{1, 3, 4, 5} {
		require.InDelta(t, draws/4, counts[i], draws/40)
	}
}

// TestMoveIsNotMissed: a drainer that finds all queues empty while a move is in progress does not leave.
func TestMoveIsNotMissed(t *testing.T) {
	made, ds := newQueue(Options{Queue: PerThread, Stealing: NeighbourAll}, 2, 0, 0)
	q := made.(*stolen)
	for i := range q.queues {
		q.queues[i].set(0, 0)
	}
	q.begun.Add(1)
	_, got := q.steal(&ds[0])
	require.Equal(t, again, got)
	q.ended.Add(1)
	_, got = q.steal(&ds[0])
	require.Equal(t, none, got)
}

// TestTables: every value has a name of its own by which it is found, and a line that describes it.
func TestTables(t *testing.T) {
	checkTable(t, "Queue", Queues())
	checkTable(t, "Stealing", Stealings())
	checkTable(t, "Idle", Idles())
	require.Equal(t, "Queue(4) Stealing(7) Idle(2)", fmt.Sprint(Queue(4), Stealing(7), Idle(2)))
	require.Empty(t, Queue(4).About()+Stealing(7).About()+Idle(2).About())
	require.False(t, Queue(4).Steals())
}

func checkTable[K interface {
	kind
	encoding.TextMarshaler
	About() string
}, P interface {
	*K
	encoding.TextUnmarshaler
}](t *testing.T, typ string, all []K) {
	var k K
	seen := make(map[string]bool)
	for _, k = range all {
		name, err := k.MarshalText()
		require.NoError(t, err)
		require.Equal(t, k.String(), string(name))
		var got K
		require.NoError(t, P(&got).UnmarshalText(name))
		require.Equal(t, k, got)
		require.NotEmpty(t, k.About())
		require.False(t, seen[k.String()])
		seen[k.String()] = true
	}
	require.EqualError(t, P(&k).UnmarshalText([]byte("x")), fmt.Sprintf(`pool: %s is "x": use one of %v`, typ, all))
	require.Equal(t, all[len(all)-1], k, "a wrong name changed the value")
	require.NoError(t, P(&k).UnmarshalText(nil))
	require.Equal(t, all[0], k)
	_, err := K(len(all)).MarshalText()
	require.EqualError(t, err, fmt.Sprintf("pool: %s is %d: use one of %v", typ, len(all), all))
}

func BenchmarkTake(b *testing.B) {
	for _, o := range everyOptions() {
		b.Run(fmt.Sprintf("queue=%v/stealing=%v", o.Queue, o.Stealing), func(b *testing.B) {
			const tasks = 1 << 12
			priorities := make([]int, tasks)
			var q queue
			var ds []drainer
			for i := range b.N {
				if i%(tasks/2) == 0 {
					b.StopTimer()
					q, ds = newQueue(o, 2, priorities...)
					b.StartTimer()
				}
				if _, got := q.take(&ds[0]); got == none {
					b.Fatal("no task")
				}
			}
		})
	}
}

// everyOptions returns every queue with every way to steal from it.
func everyOptions() (all []Options) {
	for _, q := range Queues() {
		for _, s := range Stealings() {
			if s == NoStealing || q.Steals() {
				all = append(all, Options{Queue: q, Stealing: s})
			}
		}
	}
	return all
}
