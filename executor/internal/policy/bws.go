package policy

// The policies bws-… are mbws-role with stand-ins for the kernel support of document 004 (Algorithm 2, lines 18 and
// 19): a thief that meets a busy victim without a core gives its own core up, and does nothing else in this attempt.
// None of them is the document's BWS, whose kernel knows that a victim has no core, and gives it the thief's.

// A standIn says how a thief tells that a victim has no core, besides that the victim was on the thief's CPU last, and
// how it gives its core up.
type standIn struct {
	clock bool // the thief also looks at the victim's clock
	pull  bool // if the clock stands still, the thief has the victim moved to its own CPU
}

func newBWSSame(m Machine, o Options) Policy  { return newBWS(m, o, standIn{}) }
func newBWSClock(m Machine, o Options) Policy { return newBWS(m, o, standIn{clock: true}) }
func newBWSPull(m Machine, o Options) Policy  { return newBWS(m, o, standIn{clock: true, pull: true}) }

func newBWS(m Machine, o Options, s standIn) Policy {
	p := newMBWS(m, o).(*mbws)
	p.standIn = &s
	return p
}

// giveCore gives the thief's core to a busy victim that has none, and reports whether it did. A look at the clock takes
// microseconds, so the thief looks at one attempt of several.
func (s *standIn) giveCore(t *mbwsThief, victim int) bool {
	switch {
	case t.threads.Preempted(victim, SameCPU):
	case !s.clock || t.failed%clockInterval != 0 || !t.threads.Preempted(victim, StoppedClock):
		return false
	case s.pull:
		return t.threads.Pull(victim)
	}
	t.threads.YieldTo(victim)
	return true
}
