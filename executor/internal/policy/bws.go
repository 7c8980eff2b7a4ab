package policy

// The policies bws-… are mbws with stand-ins for the kernel support of document 004 (Algorithm 2, lines 18 and 19): a
// thief that meets a busy victim without a core gives its own core up, and does nothing else in this attempt. They differ
// in how a thief tells that the victim has no core, and in how it gives its core up. None of them is the document's BWS,
// whose kernel knows the one and does the other.

func newBWSSame(m Machine, o Options) Policy { return makeMBWS(m, o, (*mbwsThief).yieldOnSameCPU) }

func newBWSClock(m Machine, o Options) Policy { return makeMBWS(m, o, (*mbwsThief).yieldByClock) }

func newBWSPull(m Machine, o Options) Policy { return makeMBWS(m, o, (*mbwsThief).pull) }

// yieldOnSameCPU yields to a victim that was on the thief's CPU last.
func (t *mbwsThief) yieldOnSameCPU(victim int) bool {
	if !t.h.Preempted(victim, SameCPU) {
		return false
	}
	t.h.YieldTo(victim)
	return true
}

// yieldByClock also yields if the victim's clock stands still. That takes microseconds to find out, so the thief does it
// at one attempt of several.
func (t *mbwsThief) yieldByClock(victim int) bool {
	if t.yieldOnSameCPU(victim) {
		return true
	}
	if t.failed%clockInterval != 0 || !t.h.Preempted(victim, StoppedClock) {
		return false
	}
	t.h.YieldTo(victim)
	return true
}

// pull has a victim whose clock stands still moved to the thief's CPU.
func (t *mbwsThief) pull(victim int) bool {
	if t.yieldOnSameCPU(victim) {
		return true
	}
	return t.failed%clockInterval == 0 && t.h.Preempted(victim, StoppedClock) && t.h.Pull(victim)
}
