package deque_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/stretchr/testify/require"
)

// An item's fields are plain on purpose: the owner writes them before the push, and afterwards only the thread that has
// the item touches them. The race detector checks that.
type item struct {
	number int
	taken  int
}

// requireOnce requires that every item came out exactly once.
func requireOnce(t *testing.T, items []item) {
	t.Helper()
	for i := range items {
		if items[i].taken != 1 {
			t.Fatalf("item %d of %d came out %d times", i, len(items), items[i].taken)
		}
	}
}

// rounds repeats round until exercised returns nil, at least atLeast times. A race that was not exercised in a thousand
// rounds and half a minute fails the test. A thousand short rounds alone may all fall into one time slice of a busy
// machine.
func rounds(t *testing.T, atLeast int, round func(r int), exercised func() error) {
	t.Helper()
	const atMost = 1000
	begin := time.Now()
	for r := 0; ; r++ {
		round(r)
		err := exercised()
		if err == nil && r+1 >= atLeast {
			return
		}
		if r+1 >= atMost && time.Since(begin) > testkit.Patience/2 {
			t.Fatalf("after %d rounds: %v", r+1, err)
		}
	}
}

// crowd lets more threads run than there are cores, so that the system suspends them at any point.
func crowd(t *testing.T) {
	before := runtime.GOMAXPROCS(8)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// thieve starts thieves that steal until over is set and nothing is left, several items at once now and then if d is a
// Batcher. If d has receivers, they receive instead. It returns a function that waits for them and returns the items
// that each got, in order, and how often they lost.
func thieve(
	d interface{ Steal() (*item, deque.Outcome) }, thieves int, over *xatomic.Bool, receivers ...*deque.PDQS[item],
) (wait func() (got [][]*item, lost int)) {
	var wg sync.WaitGroup
	got := make([][]*item, thieves)
	losses := make([]int, thieves)
	batcher, _ := d.(deque.Batcher[item])
	steal := func(id int, into []*item, n int) (int, deque.Outcome) {
		if batcher != nil && n%2 == 0 {
			return batcher.StealBatch(into[:1+n/2%len(into)], deque.Batch(n%3))
		}
		one := d.Steal
		if len(receivers) > 0 {
			one = receivers[id].Receive
		}
		it, outcome := one()
		if it == nil {
			return 0, outcome
		}
		into[0] = it
		return 1, outcome
	}
	for id := range thieves {
		wg.Go(func() {
			into := make([]*item, 5)
			for n := 0; ; n++ {
				last := over.Load() // before the steal: nothing is pushed after it
				count, outcome := steal(id, into, n)
				switch {
				case outcome == deque.Stolen:
					for _, it := range into[:count] {
						it.taken++
						got[id] = append(got[id], it)
					}
				case outcome == deque.Lost:
					losses[id]++
				case last:
					return
				default:
					runtime.Gosched()
				}
			}
		})
	}
	return func() ([][]*item, int) {
		wg.Wait()
		lost := 0
		for _, n := range losses {
			lost += n
		}
		return got, lost
	}
}

// TestStress stresses a deque that may grow, and whose indices wrap.
func TestStress(t *testing.T) {
	crowd(t)
	for _, thieves := range []int{1, 2, 4} {
		for _, grow := range []bool{false, true} {
			t.Run(fmt.Sprintf("thieves=%d,grow=%v", thieves, grow), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
				var s stress
				grown := 0
				n := testkit.Scale(30000)
				round := func(r int) {
					size := 2
					if !grow {
						size = 1 << 15 // no index comes round, so no slot can be found occupied
					}
					// The indices wrap somewhere on the way, at the very beginning in every other round.
					start := wrap - 3
					if r%2 == 1 {
						start = wrap - uint64(rng.IntN(n))
					}
					d := deque.NewChaseLevAt[item](size, start)
					s.round(t, chaseLev(d), thieves, n, rng)
					grown += d.Generation()
					d.CheckRest()
				}
				testkit.Within(t, 2*testkit.Patience, func() {
					rounds(t, 6, round, func() error {
						switch {
						case s.popped == 0 || s.stolen == 0 || s.lost == 0 && runtime.NumCPU() > 1:
							return fmt.Errorf("%v", &s)
						case grow != (grown > 0):
							return fmt.Errorf("grew %d times", grown)
						}
						return nil
					})
				})
				t.Logf("%v, %d times grown", &s, grown)
			})
		}
	}
}

// TestLastItems lets owner and thieves meet at the last items over and over: one, two or three items, popped at once.
func TestLastItems(t *testing.T) {
	crowd(t)
	for count := 1; count <= 3; count++ {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			popped, stolen := 0, 0
			testkit.Within(t, 2*testkit.Patience, func() {
				rounds(t, 10, func(int) {
					d := deque.NewAt[item](8, wrap-3)
					var over xatomic.Bool
					wait := thieve(d, 2, &over)
					items := make([]item, count*testkit.Scale(20000))
					for i := 0; i < len(items); i += count {
						for j := range count {
							items[i+j].number = i + j
							d.Push(&items[i+j])
						}
						for it := d.Pop(); it != nil; it = d.Pop() {
							it.taken++
							popped++
						}
						if !d.IsEmpty() {
							t.Fatal("Pop found nothing, and there was something")
						}
					}
					over.Store(true)
					got, _ := wait()
					for _, its := range got {
						stolen += len(its)
					}
					requireOnce(t, items)
				}, func() error {
					if popped == 0 || stolen == 0 {
						return fmt.Errorf("%d popped, %d stolen", popped, stolen)
					}
					return nil
				})
			})
			t.Logf("%d popped, %d stolen", popped, stolen)
		})
	}
}

// TestSPSC: the owner only pushes and one thief steals. All items arrive in order, though the ring grows meanwhile.
func TestSPSC(t *testing.T) {
	crowd(t)
	n := testkit.Scale(300000)
	d := deque.NewAt[item](2, wrap-3)
	testkit.Within(t, testkit.Patience, func() {
		var over xatomic.Bool
		wait := thieve(d, 1, &over)
		for i := range n {
			d.Push(&item{number: i})
		}
		over.Store(true)
		got, _ := wait()
		require.Len(t, got[0], n)
		for i, it := range got[0] {
			if it.number != i {
				t.Fatalf("item %d arrived as number %d", it.number, i)
			}
		}
	})
	require.Positive(t, d.Generation(), "the ring never grew")
}

// TestStampede: many thieves and the owner empty a full deque at once. Some lose a race, but hardly ever on one core.
func TestStampede(t *testing.T) {
	crowd(t)
	const thieves = 8
	n := testkit.Scale(50000)
	popped, stolen, lost := 0, 0, 0
	testkit.Within(t, testkit.Patience, func() {
		rounds(t, 5, func(int) {
			d := deque.NewAt[item](2, wrap-uint64(n/2))
			items := make([]item, n)
			for i := range items {
				d.Push(&items[i])
			}
			over := new(xatomic.Bool)
			over.Store(true)
			wait := thieve(d, thieves, over)
			for range n {
				it := d.Pop()
				if it == nil {
					break
				}
				it.taken++
				popped++
			}
			got, losses := wait()
			lost += losses
			for _, its := range got {
				stolen += len(its)
			}
			requireOnce(t, items)
			require.Zero(t, d.Occupied())
		}, func() error {
			if popped == 0 || stolen == 0 || lost == 0 && runtime.NumCPU() > 1 {
				return fmt.Errorf("%d popped, %d stolen, %d lost", popped, stolen, lost)
			}
			return nil
		})
	})
	t.Logf("%d popped, %d stolen, %d lost", popped, stolen, lost)
}

// TestWatchers: any thread may call Len and IsEmpty, and Len is never above the number of pushed items or below zero.
func TestWatchers(t *testing.T) {
	crowd(t)
	d := deque.NewAt[item](2, wrap-3)
	n := testkit.Scale(100000)
	var over xatomic.Bool
	testkit.Within(t, testkit.Patience, func() {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for !over.Load() {
					if l := d.Len(); l < 0 || l > n {
						t.Errorf("Len is %d", l)
						return
					}
					d.IsEmpty()
				}
			})
		}
		wait := thieve(d, 1, &over)
		for i := range n {
			d.Push(&item{number: i})
			if i%3 == 2 {
				d.Pop()
			}
		}
		over.Store(true)
		wait()
		wg.Wait()
	})
	require.True(t, d.IsEmpty())
	require.Zero(t, d.Len())
}
