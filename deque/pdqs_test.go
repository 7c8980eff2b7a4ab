package deque_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/stretchr/testify/require"
)

var (
	_ deque.Queue[item]    = (*deque.PDQS[item])(nil)
	_ deque.Receiver[item] = (*deque.PDQS[item])(nil)
)

// ringing returns two deques of which the first tries to deal at every operation.
func ringing[T any](keep int) (d, other *deque.PDQS[T]) {
	g := deque.NewPDQSGroup[T](2, keep, 0)
	g.Queue(0).AlwaysRing()
	return g.Queue(0), g.Queue(1)
}

// TestPDQS: an owner that waits gets the oldest item, the owner of the items pops the newest.
func TestPDQS(t *testing.T) {
	d, other := ringing[int](0)
	all := numbers(4)
	require.True(t, d.Wanted())
	require.Nil(t, pop(d))
	require.Equal(t, deque.Shown, d.Push(all[0]), "nobody waits, and somebody may sleep")
	require.False(t, d.Wanted())
	require.Equal(t, deque.Shown, d.Push(all[1]))
	require.Equal(t, deque.Shown, d.Push(all[2]))
	require.Equal(t, deque.Shown, d.Poll())
	p, outcome := other.Receive()
	require.Nil(t, p)
	require.Equal(t, deque.NotReady, outcome)

	p, outcome = d.Steal()
	require.Nil(t, p)
	require.Equal(t, deque.Empty, outcome)
	require.False(t, d.Ask())
	require.Zero(t, d.Len())

	other.Wait()
	require.Equal(t, deque.Nothing, d.Poll(), "dealt")
	require.Same(t, all[0], other.Dealt())
	require.Equal(t, deque.Shown, d.Poll(), "who has an item does not wait")
	require.Same(t, all[2], pop(d))
	p, outcome = other.Withdraw()
	require.Same(t, all[0], p)
	require.Equal(t, deque.Stolen, outcome)
	require.Same(t, all[1], pop(d))
	require.Nil(t, pop(d))
	other.Wait()
	d.Push(all[3])
	require.True(t, d.Wanted(), "dealt at once")
	require.Nil(t, pop(d))
	p, _ = other.Withdraw()
	require.Same(t, all[3], p)
}

// TestPDQSKeep: the items that the owner keeps are not dealt, and no alarm is Shown.
func TestPDQSKeep(t *testing.T) {
	d, other := ringing[int](1)
	other.Wait()
	require.Equal(t, deque.Nothing, d.Push(new(int)))
	require.Equal(t, deque.Nothing, d.Poll())
	require.Nil(t, other.Dealt())
	require.True(t, d.Wanted())
	require.Equal(t, deque.Nothing, d.Push(new(int)), "dealt")
	require.NotNil(t, other.Dealt())
	require.Equal(t, deque.Nothing, d.Poll())
	require.NotNil(t, pop(d))
}

// TestPDQSAlone: in a group of one, the owner's deque works as a private one.
func TestPDQSAlone(t *testing.T) {
	d := deque.NewPDQSGroup[int](1, 0, 0).Queue(0)
	d.AlwaysRing()
	all := numbers(10)
	for _, p := range all {
		require.Equal(t, deque.Shown, d.Push(p))
	}
	require.Equal(t, deque.Shown, d.Poll())
	for _, p := range slices.Backward(all) {
		require.Same(t, p, pop(d))
	}
	_, outcome := d.Receive()
	require.Equal(t, deque.NotReady, outcome)
}

// TestPDQSAlarms: alarms have the right mean and distribution, choose all other members alike, and are the same in each
// group.
func TestPDQSAlarms(t *testing.T) {
	const n, draws = 5, 10000
	for _, mean := range []int{1, 4, 16, 1000} {
		g, same := deque.NewPDQSGroup[int](n, 0, mean), deque.NewPDQSGroup[int](n, 0, mean)
		for i := range n {
			delays := g.Queue(i).Delays(draws)
			sum := 0
			for _, delay := range delays {
				sum += delay + 1 // and the operation at which it rings
			}
			require.GreaterOrEqual(t, slices.Min(delays), 0)
			require.LessOrEqual(t, slices.Max(delays), 37*mean)
			require.InEpsilon(t, float64(mean)+0.5, float64(sum)/draws, 0.1)
			require.Equal(t, delays, same.Queue(i).Delays(draws))

			var times [n]int
			for _, other := range g.Queue(i).Others(draws) {
				times[other]++
			}
			require.Zero(t, times[i])
			for other := range times {
				require.True(t, other == i || times[other] > draws/n, "member %d: %v", i, times)
			}
		}
		require.NotEqual(t, g.Queue(0).Delays(10), g.Queue(1).Delays(10))
	}
	require.Zero(t, deque.Exponential(math.MaxUint64, 1000))
	require.Equal(t, 36736, deque.Exponential(0, 1000), "the logarithm of 0 is infinite")

	d, rings := deque.NewPDQSGroup[int](2, 0, 10).Queue(0), 0
	for range draws {
		if d.Push(new(int)) == deque.Shown {
			rings++
		}
		if d.Poll() == deque.Shown {
			rings++
		}
	}
	require.InEpsilon(t, 2*draws/10.5, rings, 0.1)
}

// TestPDQSWithoutSize: items of size zero may all have one address, but not that of waiting.
func TestPDQSWithoutSize(t *testing.T) {
	d, other := ringing[struct{}](0)
	for range 3 {
		other.Wait()
		d.Push(new(struct{}{}))
		p, outcome := other.Withdraw()
		require.Equal(t, deque.Stolen, outcome)
		require.NotNil(t, p)
		_, outcome = other.Receive()
		require.Equal(t, deque.NotReady, outcome)
	}
}

// TestPDQSKeepsItsSize: the deque does not grow if the owner deals all that it pushes.
func TestPDQSKeepsItsSize(t *testing.T) {
	d, other := ringing[int](0)
	p := new(int)
	for range 10 {
		d.Push(p)
	}
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		d.Push(p)
		other.Wait()
		d.Poll()
		other.Withdraw()
	}))
	require.Equal(t, 10, d.Private())
}

func TestPDQSRetention(t *testing.T) {
	d, other := ringing[heavy](0)
	requireNothingRetained(t, d, func() {
		other.Wait()
		d.Poll()
		other.Withdraw()
	})
}

// TestPDQSStress: the owners of several deques push, pop and wait, and every pushed item comes out exactly once.
func TestPDQSStress(t *testing.T) {
	crowd(t)
	for n := 2; n <= 4; n++ {
		t.Run(fmt.Sprintf("members=%d", n), func(t *testing.T) {
			seed := testkit.Seed(t)
			sum := make([]dealings, n)
			testkit.Within(t, 2*testkit.Patience, func() {
				rounds(t, 4, func(r int) {
					g := deque.NewPDQSGroup[item](n, r%2, 1+r%20)
					all := make([]item, testkit.Scale(20000))
					var left xatomic.Int64
					left.Store(int64(len(all)))
					var wg sync.WaitGroup
					for id := range n {
						mine := all[id*len(all)/n : (id+1)*len(all)/n]
						if r%4 == 3 { // one pushes all
							mine = all
							if id != 0 {
								mine = nil
							}
						}
						wg.Go(func() {
							sum[id].round(g.Queue(id), mine, &left, rand.New(rand.NewPCG(seed, uint64(r*n+id))))
						})
					}
					wg.Wait()
					for id := range n {
						require.Zero(t, g.Queue(id).Occupied())
					}
					requireOnce(t, all)
				}, func() error {
					for id, s := range sum {
						if s.popped == 0 || s.received < 20 || s.notReady == 0 || s.told == 0 {
							return fmt.Errorf("member %d: %+v", id, s)
						}
					}
					return nil
				})
			})
			t.Logf("%+v", sum)
		})
	}
}

// dealings count the actions of one member.
type dealings struct{ popped, received, notReady, told int }

// round lets the owner of d push all its items, now and then popping, and then pop and receive until no items are left.
func (s *dealings) round(d *deque.PDQS[item], mine []item, left *xatomic.Int64, rng *rand.Rand) {
	for i, bursts := 0, 0; ; {
		for burst := rng.IntN(1 << rng.IntN(8)); burst > 0 && i < len(mine); burst-- {
			if d.Push(&mine[i]) == deque.Shown {
				s.told++
			}
			i++
		}
		for pops := rng.IntN(1 << rng.IntN(8)); pops > 0; pops-- {
			it := pop(d)
			if it == nil {
				var outcome deque.Outcome
				if it, outcome = d.Receive(); outcome == deque.NotReady {
					s.notReady++
					if left.Load() == 0 {
						return
					}
					runtime.Gosched()
					break
				}
				s.received++
			} else {
				s.popped++
			}
			it.taken++
			left.Add(-1)
		}
		if bursts++; bursts%16 == 0 {
			runtime.Gosched()
		}
	}
}

// FuzzPDQS runs a tape of bytes against slices. The first byte chooses how many items the owners keep. Each of the
// others is an operation of one of three owners, some of them repeated. The begin and the end of a wait are operations
// of their own.
func FuzzPDQS(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 13, 8, 0, 18, 4, 4, 4})
	f.Add([]byte{0, 0, 1, 13, 14, 0, 1, 18, 19, 2, 2, 6, 5, 4, 13, 12, 17})
	f.Add([]byte{1, 0, 14, 0, 0, 0, 19, 1, 12, 13, 240, 0, 0, 17, 18})
	f.Fuzz(func(t *testing.T, tape []byte) {
		if len(tape) == 0 || len(tape) > 2000 {
			return
		}
		const n = 3
		keep := int(tape[0] % 3)
		g := deque.NewPDQSGroup[int](n, keep, 1+int(tape[0]/3)%4)
		var programs [n]privateProgram
		var waits, dealt [n]bool
		for i := range programs {
			programs[i] = privateProgram{t: t, keep: keep}
		}
		// settle finds the owner to which i has dealt, and checks that it has got the oldest item.
		settle := func(i int) {
			for j := range n {
				if got := g.Queue(j).Dealt(); got != nil && !dealt[j] {
					require.True(t, waits[j] && j != i)
					require.Greater(t, len(programs[i].list), keep)
					programs[i].stolen(got, deque.Stolen)
					dealt[j] = true
				}
			}
			require.Equal(t, len(programs[i].list), g.Queue(i).Private())
		}
		for _, b := range tape[1:] {
			i := int(b) % n
			d, p := g.Queue(i), &programs[i]
			for range 1 + int(b)/16 {
				switch b / n % 5 {
				case 0:
					p.push(d)
				case 1:
					p.pop(d)
				case 2:
					d.Poll()
				case 3:
					if !waits[i] {
						d.Wait()
						waits[i], dealt[i] = true, false
					}
				case 4:
					if waits[i] {
						got, outcome := d.Withdraw()
						require.Equal(t, dealt[i], got != nil)
						require.Equal(t, dealt[i], outcome == deque.Stolen)
						waits[i], dealt[i] = false, false
					}
				}
				settle(i)
			}
			p.look(d)
		}
		for i := range programs {
			waits[i] = false
			g.Queue(i).Withdraw()
		}
		for i := range programs {
			programs[i].finish(g.Queue(i))
		}
	})
}

// TestPDQSDealsToWhoIsThere: no item is dealt to a queue that Group.Queue has not made yet; otherwise alarms would be
// in vain.
func TestPDQSDealsToWhoIsThere(t *testing.T) {
	g, err := deque.NewGroup[int](deque.KindPDQS, 8, deque.Options{})
	require.NoError(t, err)
	d, other := g.Queue(0).(*deque.PDQS[int]), g.Queue(1).(*deque.PDQS[int])
	d.AlwaysRing()
	for range 100 {
		other.Wait()
		d.Push(new(int))
		_, outcome := other.Withdraw()
		require.Equal(t, deque.Stolen, outcome)
	}
}
