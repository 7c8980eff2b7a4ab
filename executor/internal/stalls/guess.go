package stalls

import "time"

// Where no thread can tell what another one does, a watch goes by the whole executor. Items wait, and for a while no
// worker has got on. If the process has hardly used a processor meanwhile, nothing computes, so all tasks sleep.
// Otherwise some may, beside something that computes.
const (
	// stallTime is how long no worker has got on when all count as asleep. Each time in a row that all do is half as
	// long as the time before, so that many tasks that wait for each other do not take long.
	stallTime = 100 * time.Millisecond
	// A process in which nothing computes uses a hardly-th part of a processor at most. Arbitrary.
	hardly = 4
	// patience is how long no worker has got on when one of them counts as asleep, although something computes. A
	// worker tells that it gets on after some dozens of tasks. If these compute for so long on all workers, there is
	// one thread too many for each patience.
	patience = 50 * stallTime
)

// A guess is what a watch knows since items wait and no worker looks for any.
type guess struct {
	since time.Time     // no worker has got on since
	used  time.Duration // the processor time of the process then
	times uint          // how often in a row all counted as asleep
}

// guesses tells the host of workers that may sleep in a task. now is the time of the look. The caller holds mu.
func (w *Watch) guesses(now time.Time) {
	g := &w.guess
	used := system.process()
	still := func(i int) bool { return w.workers[i].Doing == InTask && !w.seen[i].asleep }
	some := false
	for i := range w.workers {
		if still(i) {
			some = true
			if w.seen[i].still == 0 {
				g.since = now
			}
		}
	}
	if !some || g.since.IsZero() || g.since == now {
		g.since, g.used = now, used
		return
	}
	quiet := now.Sub(g.since)
	all := quiet >= max(stallTime>>g.times, 2*period) && used-g.used <= quiet/hardly
	if !all && quiet < patience {
		return
	}
	for i := range w.workers {
		if still(i) {
			w.seen[i].asleep = true
			w.host.Sleeps(i)
			if !all {
				break
			}
		}
	}
	if all {
		g.times = min(g.times+1, 10)
	}
	g.since, g.used = now, used
}
