package gat

import (
	"fmt"
	"slices"
	"time"

	"github.com/magpie-go/magpie/internal/allot"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// locks are the bytes of the file that one open file description can lock.
type locks interface {
	// try locks a byte if no other description has locked it, and reports whether it is locked now.
	try(b int) (bool, error)
	// free unlocks a byte.
	free(b int) error
	// held reports whether another description has locked a byte.
	held(b int) (bool, error)
	// anyHeld reports whether another description has locked any byte from 1 on.
	anyHeld() (bool, error)
}

// rebalancing is the byte that is locked by who changes more than its own figures.
const rebalancing = 0

// life returns the byte that the job in a slot has locked.
func life(slot int) int { return 1 + slot }

// updatesPerRebalance is how many updates of a job cause at least one rebalance. The number is the guide's.
const updatesPerRebalance = 10

// terms are those of a job and of its table.
type terms struct {
	pid                    uint32
	processors             uint32
	cycle                  uint64
	boot                   [2]uint64
	name                   [nameWords]uint64
	weight, minimum, limit uint32
}

// A member is a job's part in the protocol. One thread at a time uses it.
type member struct {
	t      *table
	locks  locks
	now    func() uint64 // nanoseconds of the monotonic clock
	before func()        // is called before each step that others can see; a test ends the job there. It may be nil.
	terms  terms

	slot    int
	id      uint64
	updates int
	isDue   bool // a rebalance is due, and byte 0 was locked
}

// step is called before each store to the table and each change of a lock.
func (m *member) step() {
	if m.before != nil {
		m.before()
	}
}

// set32 stores v, unless the word has it already. It is for words that only the caller may write.
func (m *member) set32(w *xatomic.Uint32, v uint32) {
	if w.Load() != v {
		m.step()
		w.Store(v)
	}
}

// set64 is set32 for the larger words.
func (m *member) set64(w *xatomic.Uint64, v uint64) {
	if w.Load() != v {
		m.step()
		w.Store(v)
	}
}

// lock tries to lock byte 0.
func (m *member) lock() (bool, error) {
	m.step()
	ok, err := m.locks.try(rebalancing)
	if ok {
		m.set32(&m.t.holder, m.terms.pid)
	}
	return ok, err
}

func (m *member) unlock() error {
	m.step()
	return m.locks.free(rebalancing)
}

// enter makes the table if need be and joins it. The caller holds byte 0, and has checked that the file is a table of
// some version, or empty.
func (m *member) enter() error {
	if !m.t.isValid(m.terms.boot) {
		live, err := m.locks.anyHeld()
		if err != nil {
			return err
		}
		if live {
			return fmt.Errorf("%w, and jobs use it", ErrForeign)
		}
		m.format()
	}
	m.set32(&m.t.holder, m.terms.pid) // not before: another version may have another word there
	return m.join()
}

// isValid reports whether a table of this version was made since the machine booted.
func (t *table) isValid(boot [2]uint64) bool {
	return t.magic.Load() == magic && t.version.Load() == version && t.size.Load() == uint32(size) &&
		t.boot[0].Load() == boot[0] && t.boot[1].Load() == boot[1]
}

// format makes an empty table. Until its last step the table is not valid, and if the job dies the next one begins
// anew. The slots' other words are written when the slots are taken.
func (m *member) format() {
	t := m.t
	m.set64(&t.magic, 0)
	for i := range slots {
		m.set32(&t.states[i], free)
		m.set32(&t.vectors[0][i], 0)
		m.set32(&t.vectors[1][i], 0)
	}
	m.set64(&t.joins, 0)
	m.set64(&t.published, 0)
	m.set32(&t.version, version)
	m.set32(&t.size, uint32(size))
	m.set64(&t.boot[0], m.terms.boot[0])
	m.set64(&t.boot[1], m.terms.boot[1])
	m.set64(&t.magic, magic)
}

// join takes a slot. The caller holds byte 0. It rebalances before, to free the slots of dead jobs. The new job desires
// nothing yet, so no rebalance is needed after.
func (m *member) join() error {
	t := m.t
	m.slot = -1 // none is the caller's own
	isLive, err := m.survey()
	if err != nil {
		return err
	}
	p, c := t.processors.Load(), t.cycle.Load()
	agrees := p == m.terms.processors && c == m.terms.cycle
	if !agrees && slices.Contains(isLive[:], true) {
		return fmt.Errorf("%w: the table has %d processors and a cycle of %v, this job %d and %v; "+
			"give all jobs the same, or another table, or end the other jobs first", ErrTerms,
			p, time.Duration(c), m.terms.processors, time.Duration(m.terms.cycle))
	}
	if err := m.rebalance(); err != nil {
		return err
	}
	m.set32(&t.processors, m.terms.processors)
	m.set64(&t.cycle, m.terms.cycle)
	slot, err := m.take()
	if err != nil {
		return err
	}
	m.fill(&t.jobs[slot])
	m.slot = slot
	m.set32(&t.states[slot], used) // last: whoever reads used finds the words that fill wrote
	return nil
}

// take locks the byte of a free slot. If the job dies before the slot is marked as used, the kernel frees the byte, and
// the slot is free as before.
func (m *member) take() (slot int, err error) {
	for i := range slots {
		if m.t.states[i].Load() != free {
			continue
		}
		m.step()
		if ok, err := m.locks.try(life(i)); ok || err != nil {
			return i, err
		}
		// A process that is no job of this table has locked the byte of a free slot.
	}
	return 0, fmt.Errorf("%w: %d jobs use the table", ErrFull, slots)
}

// fill writes what is known of the job when it joins. It desires nothing yet.
func (m *member) fill(s *slot) {
	m.id = m.t.joins.Load() + 1
	m.set64(&m.t.joins, m.id) // before the other words, so that a reader sees that they change
	m.set64(&s.id, m.id)
	m.set32(&s.pid, m.terms.pid)
	m.set32(&s.weight, m.terms.weight)
	m.set32(&s.minimum, m.terms.minimum)
	m.set32(&s.limit, m.terms.limit)
	for i, w := range m.terms.name {
		m.set64(&s.name[i], w)
	}
	m.set32(&s.stopped, 0)
	m.set32(&s.desire, 0)
	m.set32(&s.usage, 0)
	m.set32(&s.efficiency, 0)
	m.set64(&s.heartbeat, m.now())
}

// survey finds the slots of live jobs. The caller holds byte 0, so nobody takes or gives back a slot meanwhile.
func (m *member) survey() (isLive [slots]bool, err error) {
	for i := range slots {
		if m.t.states[i].Load() == free {
			continue
		}
		if isLive[i], err = m.isAlive(i); err != nil {
			return isLive, err
		}
	}
	return isLive, nil
}

// isAlive reports whether a slot has a live job. A description does not see its own locks.
func (m *member) isAlive(slot int) (bool, error) {
	if slot == m.slot {
		return true, nil
	}
	return m.locks.held(life(slot))
}

// rebalance computes the allotments of the live jobs and publishes them if any has changed. The caller holds byte 0.
//
// Only then does it free the slots of dead jobs. If it freed them before, and died, nothing would tell the others that
// processors are allotted to nobody: they would find out at a tenth update only. For the same reason the marks of jobs
// that count as stopped are set before and taken back after.
func (m *member) rebalance() error {
	isLive, err := m.survey()
	if err != nil {
		return err
	}
	v, stopped := m.allotments(&isLive)
	for i := range slots {
		if stopped[i] {
			m.set32(&m.t.jobs[i].stopped, 1)
		}
	}
	m.publish(v)
	for i := range slots {
		if isLive[i] && !stopped[i] {
			m.set32(&m.t.jobs[i].stopped, 0)
		}
		if !isLive[i] {
			m.set32(&m.t.states[i], free)
		}
	}
	return nil
}

// allotments computes the vector from what the table has now, and says which jobs it counts as stopped.
func (m *member) allotments(isLive *[slots]bool) (v [slots]uint32, stopped [slots]bool) {
	var jobs []allot.Job
	now := m.now()
	for i := range slots {
		if !isLive[i] {
			continue
		}
		s := &m.t.jobs[i]
		j := s.job(i)
		if stopped[i] = isStopped(s.heartbeat.Load(), now, m.terms.cycle); stopped[i] {
			j.Desire = min(j.Desire, j.Minimum)
		}
		jobs = append(jobs, j)
	}
	for i, a := range allot.WaterFill(int(m.terms.processors), jobs) {
		v[jobs[i].Key] = uint32(a)
	}
	return v, stopped
}

// publish makes v the active vector.
func (m *member) publish(v [slots]uint32) {
	t := m.t
	g := t.published.Load()
	if t.hasVector(g, &v) {
		return
	}
	for i := range slots {
		m.set32(&t.vectors[(g+1)&1][i], v[i])
	}
	m.set64(&t.published, g+1)
}

// hasVector reports whether the vector of generation g has these allotments.
func (t *table) hasVector(g uint64, allotments *[slots]uint32) bool {
	for i := range slots {
		if t.vectors[g&1][i].Load() != allotments[i] {
			return false
		}
	}
	return true
}

// job returns what decides the allotment of the job in slot i.
func (s *slot) job(i int) allot.Job {
	return allot.Job{
		Key:     uint64(i),
		Desire:  count(&s.desire),
		Weight:  count(&s.weight),
		Minimum: count(&s.minimum),
		Limit:   count(&s.limit),
	}
}

// count returns a figure of the table, whatever was written there.
func count(w *xatomic.Uint32) int { return int(min(w.Load(), maxCount)) }

// isStopped reports whether a job with this heartbeat has missed its updates.
func isStopped(heartbeat, now, cycle uint64) bool {
	return heartbeat < now && now-heartbeat > max(uint64(2*time.Second), 4*min(cycle, 1<<60))
}

// update publishes the job's figures and rebalances if need be. It returns the job's allotment.
func (m *member) update(desire, usage, efficiency uint32) (allotment int, err error) {
	if err := m.check(); err != nil {
		return 0, err
	}
	t, s := m.t, &m.t.jobs[m.slot]
	m.updates++
	m.isDue = m.isDue || desire != s.desire.Load() || m.updates%updatesPerRebalance == 0 || s.stopped.Load() != 0
	m.set64(&s.heartbeat, m.now())
	m.set32(&s.usage, usage)
	m.set32(&s.efficiency, efficiency)
	m.set32(&s.desire, desire)
	if !m.isDue {
		if m.isDue, err = m.isNextDead(); err != nil {
			return 0, err
		}
	}
	if m.isDue {
		if err := m.tryRebalance(); err != nil {
			return 0, err
		}
	}
	return min(t.allotment(m.slot), int(desire)), nil
}

// check reports whether the table is one that the job has joined, and has the job.
func (m *member) check() error {
	t := m.t
	switch {
	case !t.isValid(m.terms.boot):
		return fmt.Errorf("%w: its header was overwritten", ErrLost)
	case t.processors.Load() != m.terms.processors || t.cycle.Load() != m.terms.cycle:
		return fmt.Errorf("%w: its processors or its cycle were overwritten", ErrLost)
	case t.states[m.slot].Load() != used || t.jobs[m.slot].id.Load() != m.id:
		return fmt.Errorf("%w: the job's slot was overwritten", ErrLost)
	}
	return nil
}

// isNextDead reports whether the next slot in use, after the job's own, is that of a dead job.
func (m *member) isNextDead() (bool, error) {
	for d := 1; d < slots; d++ {
		i := (m.slot + d) % slots
		if m.t.states[i].Load() != free {
			alive, err := m.isAlive(i)
			if err != nil || !alive {
				return !alive, err
			}
			if m.t.jobs[i].desire.Load() != 0 {
				return false, nil
			}
			// The job is idle: it does not update, and watches no other.
		}
	}
	return false, nil
}

// tryRebalance rebalances unless byte 0 is locked. Then the rebalance that is going on may have read the job's desire
// before this update stored it, so another one stays due.
func (m *member) tryRebalance() error {
	ok, err := m.lock()
	m.isDue = !ok
	if !ok || err != nil {
		return err
	}
	if err := m.rebalance(); err != nil {
		return err
	}
	return m.unlock()
}

// leave gives up the allotment and frees the slot, if byte 0 can be locked. If not, the slot is that of a dead job as
// soon as the caller closes the description, which frees the slot's byte.
func (m *member) leave() error {
	if m.check() != nil {
		return nil // there is nothing to leave
	}
	ok, err := m.lock()
	if !ok || err != nil {
		return err
	}
	m.set32(&m.t.jobs[m.slot].desire, 0)
	if err := m.rebalance(); err != nil {
		return err
	}
	m.set32(&m.t.states[m.slot], free) // after the rebalance, as there
	m.step()
	if err := m.locks.free(life(m.slot)); err != nil { // before byte 0: a free slot can be taken
		return err
	}
	return m.unlock()
}

// allotment returns what the active vector has for a slot. Any thread.
//
// Between the first load and the second, two rebalances may go by, the second of which writes to the vector that was
// active. It has stored published before, so the third load tells.
func (t *table) allotment(slot int) int {
	for {
		g := t.published.Load()
		a := count(&t.vectors[g&1][slot])
		if t.published.Load() == g {
			return a
		}
	}
}
