package notifier_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/notifier"
	"github.com/stretchr/testify/require"
)

// A group is goroutines that are each locked to a thread.
type group struct{ sync.WaitGroup }

func (g *group) start(f func()) {
	g.Go(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		f()
	})
}

func (g *group) wait() { g.Wait() }

// A fakeQueue stands for a scheduler's queue: it has only a length.
type fakeQueue struct{ n xatomic.Int64 }

const fakeQueueSize = 10

func (q *fakeQueue) push() bool {
	for {
		switch n := q.n.Load(); {
		case n >= fakeQueueSize:
			return false
		case q.n.CompareAndSwap(n, n+1):
			return true
		}
	}
}

func (q *fakeQueue) pop() bool {
	for {
		switch n := q.n.Load(); {
		case n == 0:
			return false
		case q.n.CompareAndSwap(n, n-1):
			return true
		}
	}
}

func (q *fakeQueue) isEmpty() bool { return q.n.Load() == 0 }

// audit checks words until stop is called, and once at least.
func audit(t *testing.T, n *notifier.Notifier) (stop func()) {
	var over xatomic.Bool
	var g group
	words := 0
	g.Go(func() {
		for ; words == 0 || !over.Load(); words++ {
			if err := n.Check(); err != nil {
				t.Error(err)
				return
			}
			runtime.Gosched()
		}
	})
	return func() {
		over.Store(true)
		g.wait()
		require.Positive(t, words)
	}
}

// TestStress is the stress test of Eigen's EventCount: producers push to several queues and notify, consumers look at
// all queues before they sleep. The numbers match, so a lost wake-up hangs. The epochs wrap at the start.
func TestStress(t *testing.T) {
	for _, test := range []struct {
		producers, consumers int
		count                int // of one Notify; 0: NotifyAll
	}{
		{1, 1, 1}, {1, 4, 1}, {4, 1, 1}, {4, 4, 1}, {4, 4, 2}, {3, 3, 0},
	} {
		t.Run(fmt.Sprintf("producers=%d,consumers=%d,notify=%d", test.producers, test.consumers, test.count),
			func(t *testing.T) {
				const start = 1<<notifier.EpochBits - 3
				seed := testkit.Seed(t)
				slept, cancelled, forwarded := uint64(0), xatomic.Int64{}, xatomic.Int64{}
				for round := range 3 {
					perProducer := testkit.Scale(6000) / test.producers / test.consumers * test.consumers
					perConsumer := perProducer * test.producers / test.consumers
					n := notifier.New(test.consumers)
					n.StartEpochs(start)
					queues := make([]fakeQueue, 10)
					stop := audit(t, n)
					within(t, n, func() {
						var threads group
						for id := range test.consumers {
							rng := rand.New(rand.NewPCG(seed, uint64(round<<8|id)))
							threads.start(func() {
								for taken := 0; taken < perConsumer; {
									if queues[rng.IntN(len(queues))].pop() {
										taken++
										continue
									}
									n.Prepare(id)
									empty := true
									for i := range queues {
										empty = empty && queues[i].isEmpty()
									}
									if !empty {
										cancelled.Add(1)
										if n.Cancel(id) {
											forwarded.Add(1)
										}
										continue
									}
									n.Commit(id)
								}
							})
						}
						if round == 0 {
							// The consumers find nothing, and sleep. Later they may be too busy for that, all the time.
							until(n.HasSleeper)
						}
						for id := range test.producers {
							rng := rand.New(rand.NewPCG(seed, uint64(round<<8|128|id)))
							threads.start(func() {
								for made := 0; made < perProducer; {
									if !queues[rng.IntN(len(queues))].push() {
										runtime.Gosched()
										continue
									}
									made++
									if test.count == 0 {
										n.NotifyAll()
									} else {
										n.Notify(test.count)
									}
									if rng.IntN(128) == 0 {
										// Let them empty the queues and sleep.
										for range 1 + rng.IntN(100) {
											runtime.Gosched()
										}
									}
								}
							})
						}
						threads.wait()
					})
					stop()
					for w := range test.consumers {
						slept += n.Sleeps(w, start)
					}
					require.Equal(t, notifier.Fields{}, n.Fields(), "everybody has left")
					for i := range queues {
						require.True(t, queues[i].isEmpty())
					}
				}
				require.Positive(t, slept, "nobody ever slept")
				t.Logf("%d slept, %d cancelled, %d of those with a notification", slept, cancelled.Load(),
					forwarded.Load())
			})
	}
}

// TestEveryNotificationCounts: tasks that need each other. In each round as many waiters are notified, one by one, as
// must come to a meeting, and every Notify that returns 1 must bring one more. If a notification is spent on a waiter
// that has left, or two on one waiter, the meeting is short and the test hangs.
func TestEveryNotificationCounts(t *testing.T) {
	const waiters = 4
	meetings := testkit.Scale(8000)
	n := notifier.New(waiters)
	var tokens, present, over xatomic.Int64
	var cancelled xatomic.Int64
	stop := audit(t, n)
	seed := testkit.Seed(t)
	within(t, n, func() {
		var threads group
		for w := range waiters {
			rng := rand.New(rand.NewPCG(seed, uint64(w)))
			threads.start(func() {
				for over.Load() == 0 {
					n.Prepare(w)
					notified := false
					switch {
					case over.Load() != 0 || rng.IntN(3) == 0:
						cancelled.Add(1)
						notified = n.Cancel(w)
					default:
						n.Commit(w)
						notified = true
					}
					if notified {
						present.Add(1)
					}
				}
			})
		}
		until(n.HasSleeper) // nobody notifies, so one does: without this they may find notifications each time
		for range meetings {
			// present must become exactly the sum of Notify's results.
			woken := n.Notify(1 + int(tokens.Load()%3))
			tokens.Add(int64(woken))
			if woken == 0 {
				runtime.Gosched()
			}
			until(func() bool { return present.Load() >= tokens.Load() })
		}
		over.Store(1)
		done := make(chan struct{})
		go func() {
			threads.wait()
			close(done)
		}()
		for {
			select {
			case <-done:
				return
			default:
				tokens.Add(int64(n.NotifyAll()))
				runtime.Gosched()
			}
		}
	})
	stop()
	require.Equal(t, tokens.Load(), present.Load(), "notifications that Notify counted, and those that arrived")
	slept := uint64(0)
	for w := range waiters {
		slept += n.Sleeps(w, 0)
	}
	require.Positive(t, slept, "nobody ever slept")
	require.Positive(t, cancelled.Load())
	t.Logf("%d notified, %d slept, %d cancelled", tokens.Load(), slept, cancelled.Load())
}
