//go:build !modelcheck

package peer

import (
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// record records an actor until the end of the test.
func (a *actor) record(t testing.TB) *Recorder {
	r, err := Record(a.ID())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func TestRecorder(t *testing.T) {
	need(t, SameCPU, Pull, Records)
	all := cpus(t, 1)
	manyPs(t, 2)
	me, v := newActor(t), newActor(t)
	mine, its := me.record(t), v.record(t)

	// A thread that looks at its own record finds that it runs.
	me.do(func() {
		pause(1000)
		for range 100_000 {
			if s := mine.State(); s != Running {
				t.Errorf("the running thread finds itself %v", s)
				return
			}
		}
	})
	v.do(func() {}) // the record begins with the next switch
	testkit.Until(t, "a thread that sleeps is found blocked", func() bool { return its.State() == Blocked })

	// Of two threads on one CPU, the one that looks is running and the other one is not.
	me.pin(t, all[0])
	v.pin(t, all[0])
	defer v.spin()()
	var right, wrong Counts
	me.do(func() {
		seen := 0
		for deadline := time.Now().Add(testkit.Patience); seen < 1000 && time.Now().Before(deadline); {
			switch s := its.State(); s {
			case Preempted:
				seen++
			case Running:
				t.Error("two threads run on one CPU")
				return
			default:
				osthread.Yield()
			}
		}
		if seen < 1000 {
			t.Error("a preempted thread is not found preempted")
		}
		for range 1000 {
			its.Check(&right, func() bool { return me.SharesCPU(&v.Thread) })
		}
		// The runtime may block v's thread for a moment, to give its P to another goroutine. Then the answer is right.
		for deadline := time.Now().Add(testkit.Patience); time.Now().Before(deadline); {
			wrong = Counts{}
			for range 1000 {
				its.Check(&wrong, func() bool { return false })
			}
			if wrong.Checked > 0 && wrong.FalseNegative == wrong.Checked {
				return
			}
		}
	})
	require.Positive(t, right.Checked)
	require.Zero(t, right.FalsePositive+right.FalseNegative)
	require.EqualValues(t, 1000, right.Checked+right.Unknown)
	require.Positive(t, wrong.Checked)
	require.Equal(t, wrong.Checked, wrong.FalseNegative)
}

// An answer that takes until the thread has been switched is not judged.
func TestCheckUnknown(t *testing.T) {
	need(t, SameCPU, Pull, Records)
	v := newActor(t)
	r := v.record(t)
	v.do(func() {}) // the record begins with the next switch
	testkit.Until(t, "a thread that sleeps is found blocked", func() bool { return r.State() == Blocked })
	var counts Counts
	said := r.Check(&counts, func() bool {
		v.do(func() {})
		testkit.Until(t, "a thread that sleeps is found blocked", func() bool { return r.State() == Blocked })
		return true
	})
	require.True(t, said)
	require.Equal(t, Counts{Asked: 1, Preempted: 1, Unknown: 1}, counts)
	// On its way to sleep the thread may have been found blocked already, by a lock of the runtime.
	testkit.Until(t, "an answer is judged", func() bool {
		counts = Counts{Asked: 1, Preempted: 1, Unknown: 1}
		require.False(t, r.Check(&counts, func() bool { return false }))
		return counts.Checked > 0
	})
	require.Equal(t, Counts{Asked: 2, Preempted: 1, Unknown: 1, Checked: 1}, counts)

	require.NoError(t, r.Close())
	require.Equal(t, Unknown, r.State())
	require.NoError(t, r.Close())
	require.True(t, r.Check(&counts, func() bool { return true }))
	require.True(t, (*Recorder)(nil).Check(&counts, func() bool { return true }))
	require.Equal(t, Counts{Asked: 4, Preempted: 3, Unknown: 3, Checked: 1}, counts)
}

// TestRecorderOverwrites has more switches than the ring has room for.
func TestRecorderOverwrites(t *testing.T) {
	need(t, SameCPU, Records)
	v := newActor(t)
	r := v.record(t)
	switches := len(r.ring) / 2 / switchSize
	v.do(func() {
		for range switches {
			pause(1)
			if s := r.State(); s != Running {
				t.Errorf("the running thread finds itself %v", s)
				return
			}
		}
	})
	_, end := r.last()
	require.Greater(t, int(end), len(r.ring)/2, "fewer switches than the ring keeps")
}

// TestAccuracy logs how often the answers of SharesCPU and of Clock agree with the kernel's records, for two spinning
// threads a CPU.
func TestAccuracy(t *testing.T) {
	need(t, SameCPU, Clock, Pull, Records)
	n := 2 * len(cpus(t, 1))
	manyPs(t, n)
	actors, records := make([]*actor, n), make([]*Recorder, n)
	for i := range actors {
		actors[i] = newActor(t)
		records[i] = actors[i].record(t)
	}
	const stands = 2 * time.Microsecond // between two looks at a clock
	type tally struct {
		Counts
		preempted uint64 // by the record alone, before the question
	}
	testkit.Fits(t, func() string { // on a busy machine each answer may take until the thread has been switched
		same, clock := make([]tally, n), make([]tally, n)
		ends := make([]func(), n)
		for i, me := range actors {
			round := 0
			ends[i] = me.begin(func() {
				round++
				other := (i + 1 + round%(n-1)) % n
				v, r := &actors[other].Thread, records[other]
				ask := func(c *tally, f func() bool) {
					if r.State() == Preempted {
						c.preempted++
					}
					r.Check(&c.Counts, f)
				}
				ask(&same[i], func() bool { return me.SharesCPU(v) })
				ask(&clock[i], func() bool {
					before, _ := v.Clock()
					for begin := time.Now(); time.Since(begin) < stands; {
					}
					after, _ := v.Clock()
					return before == after
				})
			})
		}
		time.Sleep(time.Duration(testkit.Scale(1000)) * time.Millisecond)
		for _, end := range ends {
			end()
		}
		for name, all := range map[string][]tally{"SharesCPU": same, "Clock": clock} {
			var sum tally
			for _, c := range all {
				sum.Asked += c.Asked
				sum.Checked += c.Checked
				sum.FalsePositive += c.FalsePositive
				sum.FalseNegative += c.FalseNegative
				sum.Unknown += c.Unknown
				sum.preempted += c.preempted
			}
			share := func(part, whole uint64) float64 { return 100 * float64(part) / float64(max(1, whole)) }
			if sum.Checked == 0 {
				return name + " was asked, and the record judged no answer"
			}
			t.Logf("%-9s asked %d: not judged %.3f%%; of %d judged %.2f%% agree, %.4f%% false positives, "+
				"%.2f%% false negatives; %.2f%% were preempted", name, sum.Asked, share(sum.Unknown, sum.Asked),
				sum.Checked, 100-share(sum.FalsePositive+sum.FalseNegative, sum.Checked),
				share(sum.FalsePositive, sum.Checked),
				share(sum.FalseNegative, sum.Checked), share(sum.preempted, sum.Asked))
			if share(sum.FalsePositive, sum.Checked) >= 20 {
				return name + ": the answers have nothing to do with the records"
			}
		}
		return ""
	})
}
