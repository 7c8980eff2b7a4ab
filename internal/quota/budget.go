// Package quota divides a CPU quota between the workers of a process's executors and the rest of the process.
//
// Under a quota the kernel stops the whole process when it has used up its CPU time for a period. Workers that compute
// all the time use it up, whatever their priority, and the handlers of requests are stopped with them. A [Budget] says
// how many workers may be awake, so that a share of the quota stays for the rest of the process. It has no clock and
// reads nothing: the caller tells it what happened. A [Ledger] is the Budget of a process, with both.
package quota

import (
	"math"
	"slices"
	"time"
)

// A Budget is the CPU time that the workers of several executors may use. It fills at a rate, the workers' share of the
// quota, and empties by what they use. Each executor that has work has a [Part]. The rate is divided evenly between
// the parts. What a part has no room for goes to a reserve, from which any part takes what it needs. So a part that
// uses less than it may leaves the rest to the others. The zero value has no quota. It is not safe for concurrent use.
type Budget struct {
	cpus    float64       // the quota; meaningless while period is 0
	period  time.Duration // 0 while there is no quota
	ease    float64       // the part of the workers' share that they may use now, see Throttled
	reserve float64       // nanoseconds of CPU time; negative for a debt that a part has left behind
	parts   []*Part
}

// A Part is what one executor may use of a Budget.
type Part struct {
	// Host is the share of the quota that stays for the rest of the process, above 0 and below 1. Of several parts the
	// largest counts. It is constant.
	Host float64
	// Cycle is the time from one call of Next to the next, as it should be. It is constant.
	Cycle time.Duration

	left float64 // nanoseconds of CPU time; negative after tasks that took longer than they might
	may  float64 // what its workers may use of it in the cycle that goes on, and have perhaps used
}

// Arbitrary choices. When the process was throttled although workers kept to their share, the rest of the process, or
// another process of the group, needs more than its share. The workers then give way quickly and come back slowly.
const (
	giveWay  = 0.7  // of what they had
	comeBack = 0.02 // of their share, in each period
	least    = 0.05 // of their share: they always make some progress

	longestDebt = time.Second // of the workers' share
)

// Join adds a part, which begins with nothing of its own.
func (b *Budget) Join(p *Part) {
	p.left, p.may = 0, 0
	b.parts = append(b.parts, p)
}

// Leave takes out a part whose executor has no work. What it has left goes to the reserve, and so does its debt.
func (b *Budget) Leave(p *Part) {
	if i := slices.Index(b.parts, p); i >= 0 {
		b.parts = slices.Delete(b.parts, i, i+1)
		b.reserve += p.left
	}
}

// SetQuota tells the quota in CPUs, and its period. +Inf CPUs mean that there is none.
func (b *Budget) SetQuota(cpus float64, period time.Duration) {
	switch {
	case math.IsInf(cpus, 1) || period <= 0:
		b.period, b.reserve = 0, 0
	case b.period == 0:
		b.cpus, b.period, b.ease = cpus, period, 1
		b.reserve = b.most()
		for _, p := range b.parts {
			p.left, p.may = 0, 0
		}
	default:
		b.cpus, b.period = cpus, period
	}
}

// Limited reports whether there is a quota.
func (b *Budget) Limited() bool { return b.period != 0 }

// Rate returns how many workers of all parts together may be awake on average, in CPUs; +Inf without a quota.
func (b *Budget) Rate() float64 {
	if !b.Limited() {
		return math.Inf(1)
	}
	return b.ease * (1 - b.host()) * b.cpus
}

func (b *Budget) host() (host float64) {
	for _, p := range b.parts {
		host = max(host, p.Host)
	}
	return host
}

// Throttled tells, for about each period, whether the process was throttled in it.
func (b *Budget) Throttled(throttled bool) {
	if throttled {
		b.ease = max(b.ease*giveWay, least)
	} else {
		b.ease = min(b.ease+comeBack, 1)
	}
}

// most returns what the reserve holds at most: half of the host's share of a period, so that a burst of the workers in
// one period leaves the host the other half, but enough for one part to use all that the others leave. With ten parts
// and more that is more than the host's share: if all begin to work at once, the process may be throttled in one
// period.
func (b *Budget) most() float64 {
	most := b.host() * b.cpus * float64(b.period) / 2
	parts := float64(len(b.parts))
	for _, p := range b.parts {
		// The others leave 1 - 1/parts of the rate. That comes in a cycle, and what is there then is to be so large
		// that a part's part of it is as much: parts times as large.
		most = max(most, (1-1/parts)*(1+parts)*b.Rate()*float64(p.Cycle))
	}
	return most
}

// Next ends a cycle of p, in which its workers have used so much CPU time. lasted is the time since the last call of
// Next for any part. It returns how many of p's workers may be awake in its next cycle, which may be 0, and not more
// than workers.
func (b *Budget) Next(p *Part, lasted, used time.Duration, workers int) int {
	if !b.Limited() {
		return workers
	}
	parts := float64(len(b.parts))
	p.left, p.may = p.left-float64(used), 0
	b.fill(b.Rate() * float64(lasted))
	b.draw(p)
	p.left = max(p.left, -b.Rate()/parts*float64(longestDebt))

	// Each part counts on its part of the reserve only, or together they might use more than there is.
	left := p.left + b.reserve/parts
	const round = 1e-9 // else a rate of exactly 1 might be 0.999…
	n := min(max(int(left/float64(p.Cycle)+b.Rate()/parts+round), 0), workers)
	p.may = float64(n) * float64(p.Cycle)
	return n
}

// fill divides an income evenly between the parts. What a part has no room for goes to the reserve.
func (b *Budget) fill(income float64) {
	if b.reserve < 0 {
		paid := min(income, -b.reserve)
		b.reserve += paid
		income -= paid
	}
	each := income / float64(len(b.parts))
	for _, p := range b.parts {
		got := min(each, p.room())
		p.left += got
		b.reserve += each - got
	}
	b.reserve = min(max(b.reserve, -b.Rate()*float64(longestDebt)), b.most())
}

// room returns how much more the part can hold; it is negative if its workers have used less than they might. A part
// holds what one worker uses in a cycle, so that one with a share of less than a worker comes to a worker too.
func (p *Part) room() float64 { return float64(p.Cycle) + p.may - p.left }

// draw pays the part's debt from the reserve.
func (b *Budget) draw(p *Part) {
	drawn := min(max(-p.left, 0), max(b.reserve, 0))
	p.left += drawn
	b.reserve -= drawn
}
