package lane

import (
	"fmt"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/stretchr/testify/require"
)

type item struct{ number int }

// A variant is one way to make the lanes of an executor's workers.
type variant struct {
	Options
	alone bool
}

func (v variant) String() string {
	alone, forks := "shared", "private"
	if v.alone {
		alone = "alone"
	}
	if v.ForksPushed {
		forks = "pushed"
	}
	begging := ""
	if v.Begging {
		begging = "/begging"
	}
	return fmt.Sprintf("%v/%s/%s/%v%s", v.Kind, alone, forks, v.Batch, begging)
}

// variants has every kind of deque, alone and shared, with pushed and private forks, and each batch that the kind has.
// Where owners deal, thieves beg or do not.
func variants() (all []variant) {
	for _, k := range deque.Kinds() {
		for _, alone := range []bool{false, true} {
			for _, pushed := range []bool{false, true} {
				for batch := deque.One; batch <= deque.Block && (batch == deque.One || k.Batches()); batch++ {
					o := Options{Kind: k, ForksPushed: pushed, Batch: batch, Enough: 3}
					all = append(all, variant{o, alone})
					if o.Begging = k.Receives(); o.Begging {
						all = append(all, variant{o, alone})
					}
				}
			}
		}
	}
	return all
}

// small returns v with small queues, as random chooses: what can overflow does.
func (v variant) small(random func(int) int) variant {
	v.Capacity = 1 + random(8)
	if v.Kind.Blocks() {
		v.BlockSize = random(4)
	}
	return v
}

// A pupil is the lane of a worker, with a list that knows what the lane has. A thief may be asleep: it has asked, and
// has not been told since.
type pupil struct {
	t      testing.TB
	v      variant
	maker  *Maker[item]
	l      *Lane[item]
	thief  *Lane[item] // that of the worker that steals
	list   []*item     // the oldest first
	open   bool        // KeepOpen
	asleep bool
	pushed int
	marks  int // what Mark is to be

	shown, refused, stolen int
}

func newPupil(t testing.TB, v variant) *pupil {
	m, err := NewMaker[item](2, v.Options)
	require.NoError(t, err)
	p := &pupil{t: t, v: v, maker: m, l: new(Lane[item]), thief: new(Lane[item])}
	m.Init(p.l, 0, v.alone)
	m.Init(p.thief, 1, false)
	p.rest()
	return p
}

func (p *pupil) check(ok bool, format string, args ...any) {
	if !ok {
		p.t.Helper()
		p.t.Fatalf("%v, capacity %d, blocks of %d: %s", p.v, p.v.Capacity, p.v.BlockSize, fmt.Sprintf(format, args...))
	}
}

// own does an operation of the owner's and acts on its effect. answers says that it is one of those that answer
// requests.
func (p *pupil) own(name string, answers bool, op func() deque.Effect) deque.Effect {
	asleep := p.asleep
	effect := op()
	if effect == deque.Shown {
		p.shown++
		p.asleep = false
		p.check(p.v.Kind.Hides() || len(p.list) > 0, "%s shows an empty lane", name)
	}
	p.check(!p.asleep || p.l.Len() == 0, "%s does not tell a thief that sleeps of %d items", name, p.l.Len())
	if asleep && answers && p.v.Kind.Asks() && len(p.list) > 0 {
		p.check(effect == deque.Shown, "%s does not answer a request (L1)", name)
	}
	p.rest()
	return effect
}

// rest checks what holds after each operation.
func (p *pupil) rest() {
	l := p.l
	p.check(l.Mark() == uint64(p.marks), "the mark is %d, want %d", l.Mark(), p.marks)
	p.check(l.Len() <= len(p.list), "thieves see %d of %d items", l.Len(), len(p.list))
	p.check(l.IsAlone() == p.v.alone, "alone")
	p.check(!p.v.PushesForks() || l.Demand(), "forks are pushed, and there is no demand")
	p.check(!p.asleep || !p.v.Kind.Asks() || l.Demand(), "a thief has asked, and there is no demand (L1)")
	switch {
	case p.v.alone && !p.v.Kind.FIFO():
		p.check(l.Len() == 0, "thieves see %d items of a worker that is alone", l.Len())
	case !p.v.Kind.Hides():
		p.check(l.Len() == len(p.list), "thieves see %d of %d items", l.Len(), len(p.list))
	}
}

func (p *pupil) push() deque.Effect {
	it := &item{p.pushed}
	p.pushed++
	effect := p.own("a push", true, func() deque.Effect {
		effect := p.l.Push(it)
		if effect != deque.Refused {
			p.list = append(p.list, it)
			p.marks++
		}
		return effect
	})
	if effect == deque.Refused {
		p.refused++
		p.check(p.v.Kind.FIFO(), "a push was refused")
	}
	if !p.v.alone && !p.v.Kind.Hides() {
		p.check(effect == deque.Shown, "a push that thieves see tells %v", effect)
	}
	if !p.v.alone && p.open && !p.v.Kind.FIFO() {
		p.check(effect == deque.Shown && p.l.Len() == len(p.list), "an open lane hides something")
	}
	return effect
}

func (p *pupil) pop() *item {
	var it *item
	p.own("a pop", true, func() (effect deque.Effect) {
		it, effect = p.l.Pop(0)
		p.check(effect != deque.Refused, "a pop was refused")
		if len(p.list) == 0 {
			p.check(it == nil, "popped from an empty lane")
			return effect
		}
		i := len(p.list) - 1
		if p.v.Kind.FIFO() {
			i = 0
		}
		p.check(it == p.list[i], "popped %v, want %v", it, p.list[i])
		p.remove(i)
		p.marks--
		return effect
	})
	return it
}

func (p *pupil) remove(i int) { p.list = slices.Delete(p.list, i, i+1) }

func (p *pupil) poll() {
	asleep := p.asleep
	effect := p.own("a poll", true, p.l.Poll)
	p.check(effect != deque.Refused, "a poll was refused")
	if asleep && p.v.Begging && len(p.list) > 0 {
		p.check(effect == deque.Shown && p.l.Len() == len(p.list), "a poll leaves a thief begging (L1)")
	}
}

func (p *pupil) expose() {
	effect := p.own("an exposure", false, p.l.Expose)
	want := deque.Nothing
	switch {
	case !p.v.Kind.Hides() || p.v.alone:
	case p.v.Kind.FIFO():
		want = deque.Refused
	default:
		p.check(p.l.Len() == len(p.list), "after Expose thieves see %d of %d items", p.l.Len(), len(p.list))
		if len(p.list) > 0 {
			want = deque.Shown
		}
	}
	p.check(effect == want, "Expose tells %v, want %v", effect, want)
}

func (p *pupil) keepOpen(open bool) {
	p.l.KeepOpen(open)
	p.open = open && p.v.Kind.Hides() && (!p.v.alone || p.v.Kind.FIFO())
	p.rest()
}

func (p *pupil) share() {
	if !p.v.alone {
		return
	}
	p.l.Share(p.maker.Enough())
	p.v.alone = false
	p.rest()
	if !p.v.Kind.FIFO() {
		p.check(p.l.Len() == len(p.list), "after Share thieves see %d of %d items", p.l.Len(), len(p.list))
	}
	if !p.v.Kind.Asks() && p.l.Len() == 0 {
		p.check(p.l.Demand(), "after Share there is nothing to steal and no demand")
	}
}

// take takes an item out of the list that a thief has, and returns where it was.
func (p *pupil) take(it *item) (at int) {
	at = slices.Index(p.list, it)
	p.check(at >= 0, "stolen what is not there")
	p.remove(at)
	p.stolen++
	return at
}

// steal is a steal of one item, or as many as the thief's lane is made for.
func (p *pupil) steal(many bool) {
	if p.v.alone {
		return
	}
	length, wasOpen := p.l.Len(), !p.l.open.IsEmpty()
	var first *item
	var rest []*item
	var outcome deque.Outcome
	if many {
		first, rest, outcome = p.thief.StealFrom(p.l)
	} else {
		first, outcome = p.l.Steal()
	}
	p.check((first != nil) == (outcome == deque.Stolen), "item and outcome %v", outcome)
	p.check((first != nil) == (length > 0), "of %d items a steal is %v", length, outcome)
	p.check(outcome != deque.Lost, "a steal was lost, and there is no other thread")
	p.check(len(rest) < max(1, length), "%d more of %d", len(rest), length)
	p.check(p.v.Batch != deque.One && many && !wasOpen || rest == nil, "a steal of one item took %d more", len(rest))
	if first != nil {
		at := p.take(first)
		p.check(at == 0 || p.v.Kind.Hides() && !wasOpen, "stolen the item at %d", at)
		oldest := slices.Clone(rest)
		if !p.v.Kind.FIFO() {
			slices.Reverse(oldest)
		}
		for _, it := range oldest {
			p.check(p.take(it) == at, "a batch is not in the owner's order")
		}
		clear(rest)
	}
	if !p.v.PushesForks() && p.l.Len() == 0 && (first != nil || p.v.Kind.Asks()) {
		p.check(p.l.Demand(), "a steal has left nothing, and there is no demand")
	}
	p.rest()
}

// ask is a thief that looks a last time and, if there is nothing, sleeps.
func (p *pupil) ask() {
	length := p.l.Len()
	found := p.l.Ask()
	p.check(found == (length > 0), "of %d items Ask says %v", length, found)
	if !found && !p.v.alone {
		p.asleep = true
	}
	if !found && p.v.Kind.Asks() {
		p.check(p.l.Demand(), "a thief has asked, and there is no demand")
	}
	p.rest()
}

// answer is the owner's publication of n forks.
func (p *pupil) answer(n int) {
	p.l.Answer()
	p.check(p.l.Demand() == p.v.PushesForks(), "after Answer there is demand: %v", p.l.Demand())
	asleep := p.asleep
	p.asleep = false // there may be no demand before Answered
	for range n {
		p.push()
	}
	if p.asleep = asleep && p.l.Len() == 0; p.asleep && n > 0 && p.v.Kind.Asks() {
		p.check(p.v.alone, "forks pushed, and the thief that asked sees nothing (L1)")
	}
	p.l.Answered()
	p.rest()
}

func (p *pupil) noteEmpty() {
	p.l.NoteEmpty()
	if p.l.Len() == 0 && !p.v.alone && !p.v.Kind.Asks() {
		p.check(p.l.Demand(), "there is nothing to steal and no demand")
	}
	p.check(!p.l.IsWanted() || p.l.Demand(), "wanted without demand")
	p.rest()
}

// finish pops what is left.
func (p *pupil) finish() {
	for p.pop() != nil {
	}
	p.check(len(p.list) == 0, "%d items are lost", len(p.list))
	p.check(p.l.Len() == 0 && !p.l.Ask(), "thieves see something in an empty lane")
}

// A script is a list of operations, taken one after the other.
const (
	opPush = iota
	opPushMany
	opPop
	opPopMany
	opPoll
	opExpose
	opKeepOpen
	opClose
	opShare
	opSteal
	opStealMany
	opAsk
	opAnswer
	opNoteEmpty
	ops
)

func (p *pupil) do(op, n int) {
	switch op {
	case opPush:
		p.push()
	case opPushMany:
		for range n {
			p.push()
		}
	case opPop:
		p.pop()
	case opPopMany:
		for range n {
			p.pop()
		}
	case opPoll:
		p.poll()
	case opExpose:
		p.expose()
	case opKeepOpen, opClose:
		p.keepOpen(op == opKeepOpen)
	case opShare:
		p.share()
	case opSteal, opStealMany:
		p.steal(op == opStealMany)
	case opAsk:
		p.ask()
	case opAnswer:
		p.answer(n)
	case opNoteEmpty:
		p.noteEmpty()
	}
}
