package spares

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A state of a spare, as its host sees it.
type state int

const (
	threadless state = iota
	serving
	standing
	ending
)

func (s state) String() string {
	return [...]string{"threadless", "serving", "standing by", "ending"}[s]
}

// A yard is a Host that only notes where its spares are.
type yard struct {
	t       testing.TB
	l       Ledger
	failing bool // threads are not to be had
	refused bool // nor is there room for them
	log     []string

	mu     sync.Mutex // guards what follows: Look is called by a timer
	spares []state
	sent   int
	woken  int // calls of WakeAll
}

func newYard(t testing.TB, limit int) *yard {
	y := &yard{t: t}
	y.l.Init(y, limit, time.Second)
	return y
}

func (y *yard) note(format string, args ...any) { y.log = append(y.log, fmt.Sprintf(format, args...)) }

func (y *yard) check(ok bool, format string, args ...any) {
	if !ok {
		y.t.Helper()
		y.t.Fatalf("%s\nspares %v\n%q", fmt.Sprintf(format, args...), y.spares, y.log)
	}
}

// Make implements Host.
func (y *yard) Make(spare int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.check(spare == len(y.spares), "spare %d is made, want %d", spare, len(y.spares))
	y.check(spare < y.l.Limit(), "too many spares")
	y.spares = append(y.spares, threadless)
}

// Send implements Host.
func (y *yard) Send(spare int, hasThread bool) {
	want := threadless
	if hasThread {
		want = standing
	}
	y.mu.Lock()
	y.sent++
	y.check(y.spares[spare] == want, "spare %d is sent, thread %v, and is %v", spare, hasThread, y.spares[spare])
	failed := !hasThread && y.failing
	refused := !hasThread && y.refused
	if !failed && !refused {
		y.spares[spare] = serving
	}
	y.mu.Unlock()
	switch {
	case refused:
		y.l.Refused(spare)
	case failed:
		y.l.Failed(spare)
	}
}

// Discharge implements Host.
func (y *yard) Discharge(spare int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	s := y.spares[spare]
	y.check(s == standing || s == serving, "spare %d is discharged, and is %v", spare, s)
	y.spares[spare] = ending
}

// WakeAll implements Host.
func (y *yard) WakeAll() {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.woken++
}

// leave has a spare look whether it is to leave.
func (y *yard) leave(spare int) bool {
	if !y.l.Leave(spare) {
		return false
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.spares[spare] == serving {
		y.spares[spare] = standing
	}
	return true
}

// gone ends the thread of a spare.
func (y *yard) gone(spare int) {
	y.mu.Lock()
	y.check(y.spares[spare] == ending, "spare %d ends and is %v", spare, y.spares[spare])
	y.spares[spare] = threadless
	y.mu.Unlock()
	y.l.Gone(spare)
}

// states are those of all spares.
func (y *yard) states() []state {
	y.mu.Lock()
	defer y.mu.Unlock()
	return slices.Clone(y.spares)
}

// all are the spares in a state.
func (y *yard) all(s state) (spares []int) {
	for i, is := range y.states() {
		if is == s {
			spares = append(spares, i)
		}
	}
	return spares
}

// agree checks that ledger and host agree, and I9: as many spares as are due are in service, or as there may be
// without those whose threads are about to end.
func (y *yard) agree(blocked, asleep int) {
	y.t.Helper()
	c := y.l.Counts()
	want := Counts{Blocked: blocked, Asleep: asleep, Serving: len(y.all(serving)), Standby: len(y.all(standing))}
	y.check(c == want, "counts, want %+v", want)
	due := 0
	if blocked > 0 {
		due = min(blocked+asleep, y.l.Limit())
	}
	y.check(y.l.HasSurplus() == (c.Serving > due), "surplus, %d are due", due)
	if !y.failing {
		y.check(c.Serving >= min(due, y.l.Limit()-len(y.all(ending))), "too few in service, %d are due (I9)", due)
	}
}

// TestLedger: what a few workers do, and where the spares are then. A step is an operation, with the spare's number
// if it is a spare's, and the spares made, in their order: s serving, b standing by, e ending, - without a thread.
func TestLedger(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit int
		steps string
	}{
		{"one blocks", 2, "block=s unblock=s leave0=b block=s leave0=s"},
		{"nobody blocks", 2, "sleep= sleep= wake="},
		{"one sleeps while another blocks", 3, "block=s sleep=ss wake=ss leave1=sb leave0=sb sleep=ss"},
		{"one blocks while others sleep", 3,
			"sleep= sleep= block=sss unblock=sss leave1=sbs leave0=bbs leave2=bbb block=sss"},
		{"no more than the limit", 1, "block=s block=s sleep=s unblock=s leave0=s unblock=s leave0=b"},
		{"no spares", 0, "block= sleep= unblock= wake="},
		{"the last on standby is called first", 2,
			"block=s block=ss unblock=ss unblock=ss leave0=bs leave1=bb block=bs unblock=bs leave1=bb block=bs"},
		{"a surplus spare that is idle ends", 1, "block=s unblock=s look=s leave0=e gone0=- block=s"},
		{"one on standby that is idle ends", 1, "block=s unblock=s leave0=b look=b look=e block=e gone0=s"},
		{"one that stands in stays", 1, "block=s look=s look=s look=s"},
		{"no thread is to be had", 2, "fail= block=- block=- unblock=- mend=- block=ss"},
		{"one that sleeping workers call up stays on standby", 2, "block=s look=s sleep=ss wake=ss leave1=sb sleep=ss"},
		{"closed", 2, "block=s block=ss unblock=ss leave0=bs unblock=bs close=es leave1=es gone0=-s look=-s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			y := newYard(t, c.limit)
			blocked, asleep := 0, 0
			for _, step := range strings.Fields(c.steps) {
				y.note("%s", step)
				op, want, _ := strings.Cut(step, "=")
				spare := 0
				if i := strings.IndexAny(op, "0123456789"); i >= 0 {
					spare, op = int(op[i]-'0'), op[:i]
				}
				switch op {
				case "block":
					blocked++
					y.l.Block()
				case "unblock":
					blocked--
					y.l.Unblock()
				case "sleep":
					asleep++
					y.l.Sleep()
				case "wake":
					asleep--
					y.l.Wake()
				case "leave":
					y.leave(spare)
				case "gone":
					y.gone(spare)
				case "look":
					y.l.Look()
				case "close":
					y.l.Close()
				case "fail", "mend":
					y.failing = op == "fail"
				default:
					t.Fatalf("there is no operation %s", op)
				}
				got := ""
				for _, is := range y.states() {
					got += string("-sbe"[is])
				}
				require.Equal(t, want, got, "after %q", y.log)
				if op != "mend" { // the next call makes up for it
					y.agree(blocked, asleep)
				}
			}
		})
	}
}

// TestRandom: whatever workers and spares do, in service are as many spares as are due, or as are to be had (I9).
// After a refusal no thread is asked for, however many workers block, until CallUp. Threads on standby serve.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, 4)
		y.l.Block()
		y.l.Unblock()
		require.True(t, y.l.Leave(0))
		y.spares[0] = standing
		y.refused = true
		for range 4 {
			y.l.Block()
		}
		require.Equal(t, Counts{Blocked: 4, Serving: 1}, y.l.Counts())
		require.Equal(t, 3, y.sent, "the first, the one on standby, the one that is refused")
		y.l.CallUp()
		require.Equal(t, 4, y.sent, "the refusal goes on")
		y.l.Unblock()
		y.l.Block()
		require.Equal(t, 4, y.sent)
		y.refused = false
		y.l.CallUp()
		require.Equal(t, Counts{Blocked: 4, Serving: 4}, y.l.Counts())
		y.l.Close()
	})
}

func TestRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	sent, ended := 0, 0
	for range testkit.Scale(500) {
		y := newYard(t, rng.IntN(5))
		fails := rng.IntN(3) == 0
		blocked, asleep := 0, 0
		pick := func(from []int) int { return from[rng.IntN(len(from))] }
		for range rng.IntN(100) {
			switch op := rng.IntN(9); {
			case op == 0:
				y.note("block")
				blocked++
				y.failing = y.failing && fails // a call-up tries again
				y.l.Block()
			case op == 1 && blocked > 0:
				y.note("unblock")
				blocked--
				y.l.Unblock()
			case op == 2:
				y.note("sleep")
				asleep++
				y.l.Sleep()
			case op == 3 && asleep > 0:
				y.note("wake")
				asleep--
				y.l.Wake()
			case op <= 5 && len(y.all(serving)) > 0:
				spare := pick(y.all(serving))
				y.note("leave %d", spare)
				y.check(y.l.HasSurplus() == y.leave(spare), "a surplus spare stays, or another leaves")
			case op == 6 && len(y.all(ending)) > 0:
				spare := pick(y.all(ending))
				y.note("gone %d", spare)
				y.gone(spare)
				ended++
			case op == 7:
				y.note("look")
				y.l.Look()
			case op == 8 && fails:
				y.note("fails")
				y.failing = true
			}
			y.agree(blocked, asleep)
		}
		// All surplus spares leave, and no more.
		for y.l.HasSurplus() {
			y.check(y.leave(pick(y.all(serving))), "a surplus spare stays")
		}
		y.agree(blocked, asleep)
		for ; asleep > 0; asleep-- {
			y.l.Wake()
		}
		for ; blocked > 0; blocked-- {
			y.l.Unblock()
		}
		for y.l.HasSurplus() {
			y.leave(pick(y.all(serving)))
		}
		y.check(len(y.all(serving)) == 0, "nobody blocks, and spares are in service")
		y.l.Close()
		y.check(len(y.all(standing)) == 0, "closed, and spares stand by")
		for _, spare := range y.all(ending) {
			y.gone(spare)
		}
		y.agree(0, 0)
		sent += y.sent
	}
	require.NotZero(t, sent)
	require.NotZero(t, ended)
}

// TestIdle: a spare that nobody needs stays for the time that the ledger was told, at least, and then its thread
// ends. While somebody blocks now and then it stays.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, 2)
		once := func() {
			y.l.Block()
			y.l.Unblock()
			y.leave(0)
		}
		wait := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		once()
		for range 10 {
			wait(900 * time.Millisecond)
			require.Equal(t, []state{standing}, y.states(), "used less than the idle time ago")
			once()
		}
		last := time.Now()
		for y.states()[0] == standing {
			wait(100 * time.Millisecond)
		}
		require.Equal(t, ending, y.states()[0])
		require.GreaterOrEqual(t, time.Since(last), time.Second)
		require.LessOrEqual(t, time.Since(last), 2100*time.Millisecond)
		y.gone(0)
		wait(10 * time.Second)
		require.False(t, y.l.willLook, "there is no spare with a thread, and another look")
		once()
		require.Equal(t, []state{standing}, y.states())
		wait(3 * time.Second)
		require.Equal(t, []state{ending}, y.states(), "the second thread")
		y.gone(0)
	})
}

// TestIdleAsleep: a surplus spare that sleeps among the workers is woken, to leave, and ends.
func TestIdleAsleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, 1)
		y.l.Block()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		require.Zero(t, y.woken, "no spare is surplus")
		y.l.Unblock()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		require.NotZero(t, y.woken)
		require.True(t, y.leave(0))
		require.Equal(t, ending, y.states()[0])
		y.gone(0)
		y.l.Close()
	})
}

// TestClose: after Close nothing goes by time, and no spare leaves.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, 2)
		y.l.Block()
		y.l.Block()
		y.l.Unblock()
		y.l.Unblock()
		y.leave(0)
		y.l.Close()
		require.Equal(t, []state{ending, serving}, y.states())
		require.False(t, y.l.Leave(1), "it ends as other workers do")
		y.l.Look()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Zero(t, y.woken)
		require.Equal(t, []state{ending, serving}, y.states())
	})
}
