//go:build modelcheck

package gat

import (
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A machine has a table in plain memory, and locks in place of the kernel's.
type machine struct {
	t          table
	owners     [1 + slots]xatomic.Uint32 // by byte: the process that has locked it, or 0
	processors uint32
	time       xatomic.Uint64
	processes  uint32
}

// A process has one job. It may die before each of its steps, if mayDie.
type process struct {
	member
	m      *machine
	number uint32
	mayDie bool
	isDead bool
}

// death is what a dying process panics with.
type death struct{}

func newMachine(processors uint32) *machine { return &machine{processors: processors} }

func (m *machine) process() *process {
	m.processes++
	p := &process{m: m, number: m.processes}
	p.member = member{t: &m.t, locks: p, now: m.time.Load, before: p.look,
		terms: terms{pid: p.number, processors: m.processors, cycle: 1, boot: [2]uint64{1, 2}, weight: 1}}
	return p
}

func (p *process) try(b int) (bool, error) {
	w := &p.m.owners[b]
	return w.CompareAndSwap(0, p.number) || w.Load() == p.number, nil
}

func (p *process) free(b int) error { p.m.owners[b].Store(0); return nil }

func (p *process) held(b int) (bool, error) {
	o := p.m.owners[b].Load()
	return o != 0 && o != p.number, nil
}

func (p *process) anyHeld() (bool, error) {
	for i := range slots {
		if held, _ := p.held(life(i)); held {
			return true, nil
		}
	}
	return false, nil
}

// look checks the machine, and draws whether the process dies.
func (p *process) look() {
	p.m.check()
	if p.mayDie && model.Choose(2) == 1 {
		panic(death{})
	}
}

// check checks what holds at any time. It is called before each step of any process.
func (m *machine) check() {
	sum := uint32(0)
	if m.t.magic.Peek() != magic || m.t.version.Peek() != version {
		return // nobody reads it
	}
	for i := range slots {
		sum += m.t.vectors[m.t.published.Peek()&1][i].Peek()
	}
	model.Assert(sum <= m.processors, "%d of %d processors are allotted", sum, m.processors)
	for i := range slots {
		if m.owners[rebalancing].Peek() != 0 || m.t.states[i].Peek() != free {
			continue
		}
		model.Assert(m.owners[life(i)].Peek() == 0, "slot %d is free, and its byte is locked", i)
		model.Assert(m.t.vectors[m.t.published.Peek()&1][i].Peek() == 0, "free slot %d is allotted processors", i)
	}
}

// run runs f as the process. If it dies its locks are freed.
func (p *process) run(f func()) {
	defer func() {
		switch r := recover(); r {
		case nil:
			p.m.check()
		case death{}:
			p.isDead = true
			p.close()
		default:
			panic(r)
		}
	}()
	f()
}

// close frees byte 0 last. The kernel frees all bytes at once: others find byte 0 free only after the rest.
func (p *process) close() {
	for b := slots; b >= 0; b-- {
		p.m.owners[b].CompareAndSwap(p.number, 0)
	}
}

// begin joins, waiting for byte 0.
func (p *process) begin() {
	for {
		p.step()
		if ok, _ := p.try(rebalancing); ok {
			break
		}
		model.Spin()
	}
	err := p.enter()
	model.Assert(err == nil, "join: %v", err)
	_ = p.unlock()
}

// want publishes a desire.
func (p *process) want(desire uint32) int {
	a, err := p.update(desire, desire, 1000)
	model.Assert(err == nil, "update: %v", err)
	model.Assert(a <= int(desire), "allotment %d, desire %d", a, desire)
	return a
}

// A share is what a process desires, and what it is to be allotted in the end.
type share struct {
	p      *process
	desire uint32
	want   int
}

// settle has each process update twice, as within two cycles, and checks their allotments.
func settle(shares ...share) {
	model.Calm(func() {
		for range 2 {
			for _, s := range shares {
				s.p.want(s.desire)
			}
		}
		for _, s := range shares {
			a := s.p.want(s.desire)
			model.Assert(a == s.want, "process %d: allotment %d, want %d", s.p.number, a, s.want)
		}
	})
}

// pair returns two processes whose jobs have joined and desire this much.
func (m *machine) pair(a, b uint32) (*process, *process) {
	p, q := m.process(), m.process()
	model.Calm(func() {
		p.begin()
		q.begin()
		p.want(a)
		q.want(b)
	})
	return p, q
}

// TestModelUpdate: two jobs change their desires at the same time. One of them may find byte 0 locked.
func TestModelUpdate(t *testing.T) {
	busy := 0
	model.CheckStates(t, func() {
		m := newMachine(4)
		a, b := m.pair(1, 1)
		join := model.Go(func() { b.want(4) })
		a.want(3)
		join()
		if a.isDue || b.isDue {
			busy++
		}
		a.want(3)
		b.want(4)
		model.Assert(m.t.allotment(a.slot) == 2 && m.t.allotment(b.slot) == 2, "a desire was forgotten")
	})
	model.Reached(t, busy, "a job finds byte 0 locked")
}

// TestModelUpdateDeath: a job dies at any step of an update. The other has all processors within two cycles.
func TestModelUpdateDeath(t *testing.T) {
	holds := 0
	model.CheckStates(t, func() {
		m := newMachine(4)
		a, b := m.pair(1, 3)
		b.mayDie = true
		join := model.Go(func() { b.run(func() { b.want(4) }) })
		a.want(4)
		join()
		if b.isDead {
			a.want(4)
			model.Assert(a.want(4) == 4, "the dead job's processors are lost")
			model.Assert(m.t.states[b.slot].Peek() == free, "the dead job's slot is lost")
			if a.updates > 3 {
				holds++
			}
			return
		}
		b.mayDie = false
		settle(share{a, 4, 2}, share{b, 4, 2})
	})
	model.Reached(t, holds, "a job dies")
}

// TestModelLeaveDeath: the same of a job that leaves.
func TestModelLeaveDeath(t *testing.T) {
	model.CheckStates(t, func() {
		m := newMachine(4)
		a, b := m.pair(1, 3)
		b.mayDie = true
		join := model.Go(func() {
			b.run(func() { _ = b.leave() })
			b.close()
		})
		a.want(4)
		join()
		a.want(4)
		model.Assert(a.want(4) == 4, "the processors of the job that left are lost")
		model.Assert(m.t.states[b.slot].Peek() == free, "the slot of the job that left is lost")
	})
}

// TestModelJoinDeath: a job dies at any step of a join, while another updates. A third finds a slot.
func TestModelJoinDeath(t *testing.T) {
	model.CheckStates(t, func() {
		m := newMachine(3)
		a := m.process()
		model.Calm(a.begin)
		b, c := m.process(), m.process()
		b.mayDie = true
		join := model.Go(func() { b.run(b.begin) })
		a.want(3)
		join()
		b.mayDie = false
		model.Calm(c.begin)
		if b.isDead {
			settle(share{a, 3, 2}, share{c, 2, 1})
			model.Assert(c.slot == 1, "the dead job's slot is lost")
			return
		}
		settle(share{a, 3, 1}, share{b, 2, 1}, share{c, 2, 1})
	})
}

// TestModelFormatDeath: two jobs join a table of another version. One of them dies at any step.
func TestModelFormatDeath(t *testing.T) {
	model.CheckStates(t, func() {
		m := newMachine(3)
		m.t.magic.Store(magic)
		m.t.version.Store(9)
		m.t.states[1].Store(9)
		m.t.vectors[0][2].Store(9)
		a, b := m.process(), m.process()
		b.mayDie = true
		join := model.Go(func() { b.run(b.begin) })
		a.begin()
		join()
		b.mayDie = false
		if b.isDead {
			settle(share{a, 3, 3})
			return
		}
		settle(share{a, 1, 1}, share{b, 3, 2})
	})
}

// TestModelRead: a job reads its allotment while another rebalances twice, and dies. It reads what was published.
func TestModelRead(t *testing.T) {
	latest := 0
	model.CheckStates(t, func() {
		m := newMachine(4)
		a, b := m.pair(0, 4)
		g := m.t.published.Peek()
		a.mayDie = true
		join := model.Go(func() {
			a.run(func() {
				a.want(1)
				a.want(2)
			})
		})
		got := m.t.allotment(b.slot)
		published := m.t.published.Load()
		// The job has 4 in generation g, 3 in the next, and 2 in the one after.
		model.Assert(got >= 2 && uint64(4-got) <= published-g, "allotment %d in generation %d", got, published-g)
		join()
		if got == 2 {
			latest++
		}
	})
	model.Reached(t, latest, "the second rebalance is read")
}

// TestModelSnapshot: a viewer reads the table while a job joins, updates and dies. The sum is right.
func TestModelSnapshot(t *testing.T) {
	seen := 0
	model.CheckStates(t, func() {
		m := newMachine(3)
		var a, b *process
		viewer := m.process()
		model.Calm(func() {
			a, b = m.process(), m.process()
			a.begin()
			a.want(3)
		})
		b.mayDie = true
		join := model.Go(func() {
			b.run(func() {
				b.begin()
				b.want(3)
			})
		})
		s, err := m.t.snapshot(viewer, 0)
		model.Assert(err == nil, "%v", err)
		sum := 0
		for _, j := range s.Jobs {
			sum += j.Allotment
			model.Assert(j.PID == int(a.number) || j.PID == int(b.number), "slot %d is half written", j.Slot)
		}
		model.Assert(sum <= 3, "%d of 3 processors in a snapshot", sum)
		join()
		seen = max(seen, len(s.Jobs))
	})
	model.Reached(t, max(0, seen-1), "both jobs are seen")
}

// TestModelStopped: a job is stopped at any step of an update until its heartbeat is old. Others go on. When it goes on
// and has updated, it has its place again.
func TestModelStopped(t *testing.T) {
	model.CheckStates(t, func() {
		m := newMachine(4)
		a, b := m.pair(2, 1)
		join := model.Go(func() { b.want(3) })
		m.time.Store(3e9)
		a.want(4)
		join()
		settle(share{a, 4, 2}, share{b, 3, 2})
	})
}

// TestModelRandom: three processes do what is drawn, and one of them may die.
func TestModelRandom(t *testing.T) {
	model.CheckRandom(t, testkit.Scale(20000), testkit.Seed(t), func() {
		m := newMachine(3)
		life := func(p *process) func() {
			return func() {
				p.begin()
				for range 2 {
					p.want(uint32(model.Choose(4)))
				}
				if model.Choose(2) == 1 {
					_ = p.leave()
					p.isDead = true
					p.close()
				}
			}
		}
		a, b, c := m.process(), m.process(), m.process()
		c.mayDie = true
		join1 := model.Go(func() { b.run(life(b)) })
		join2 := model.Go(func() { c.run(life(c)) })
		a.run(life(a))
		join1()
		join2()
		c.mayDie = false
		live := 0
		for _, p := range []*process{a, b, c} {
			if p.isDead {
				continue
			}
			live++
			for range 3 {
				p.want(3)
			}
		}
		for _, p := range []*process{a, b, c} {
			if !p.isDead && live != 2 {
				model.Assert(p.want(3) == 3/live, "process %d has not its share of %d", p.number, live)
			}
		}
		if live == 0 {
			p := m.process()
			p.terms.processors++ // nobody is there who could disagree
			m.processors++
			p.begin()
			model.Assert(p.want(9) == 4, "the slot or the processors of dead jobs are lost")
		}
	})
}
