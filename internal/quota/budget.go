// Package quota divides a CPU quota between the workers of an executor and the rest of the process.
//
// Under a quota the kernel stops the whole process when it has used up its CPU time for a period. Workers that compute
// all the time use it up, whatever their priority, and the handlers of requests are stopped with them. A [Budget] says
// how many workers may be awake, so that a share of the quota stays for the rest of the process. It has no clock and
// reads nothing: the caller tells it what happened.
package quota

import (
	"math"
	"time"
)

// A Budget is the CPU time that workers may use. It fills at a rate, the workers' share of the quota, and empties by
// what they use. The zero value has no quota. It is not safe for concurrent use.
type Budget struct {
	// Host is the share of the quota that stays for the rest of the process, above 0 and below 1. It is constant.
	Host float64
	// Cycle is the time from one call of Next to the next, as it should be. It is constant.
	Cycle time.Duration

	cpus   float64       // the quota; meaningless while period is 0
	period time.Duration // 0 while there is no quota
	ease   float64       // the part of the workers' share that they may use now, see Throttled
	left   float64       // nanoseconds of CPU time; negative after tasks that took longer than they might
}

// Arbitrary choices. When the process was throttled although workers kept to their share, the rest of the process, or
// another process of the group, needs more than its share. The workers then give way quickly and come back slowly.
const (
	giveWay  = 0.7  // of what they had
	comeBack = 0.02 // of their share, in each period
	least    = 0.05 // of their share: they always make some progress

	longestDebt = time.Second // of the workers' share
)

// SetQuota tells the quota in CPUs, and its period. +Inf CPUs mean that there is none.
func (b *Budget) SetQuota(cpus float64, period time.Duration) {
	switch {
	case math.IsInf(cpus, 1) || period <= 0:
		*b = Budget{Host: b.Host, Cycle: b.Cycle}
	case b.period == 0:
		b.cpus, b.period, b.ease = cpus, period, 1
		b.left = b.most()
	default:
		b.cpus, b.period = cpus, period
	}
}

// Limited reports whether there is a quota.
func (b *Budget) Limited() bool { return b.period != 0 }

// Rate returns how many workers may be awake on average, in CPUs; +Inf without a quota.
func (b *Budget) Rate() float64 {
	if !b.Limited() {
		return math.Inf(1)
	}
	return b.ease * (1 - b.Host) * b.cpus
}

// Throttled tells, for about each period, whether the process was throttled in it.
func (b *Budget) Throttled(throttled bool) {
	if throttled {
		b.ease = max(b.ease*giveWay, least)
	} else {
		b.ease = min(b.ease+comeBack, 1)
	}
}

// most returns what the budget holds at most: half of the host's share of a period, so that a burst of the workers in
// one period leaves the host the other half, and what one worker uses in a cycle.
func (b *Budget) most() float64 {
	return max(b.Host*b.cpus*float64(b.period)/2, float64(b.Cycle))
}

// Next ends a cycle that has lasted so long, and in which the workers have used so much CPU time. It returns how many
// of them may be awake in the next cycle, which may be 0, and not more than workers.
func (b *Budget) Next(lasted, used time.Duration, workers int) int {
	if !b.Limited() {
		return workers
	}
	left := b.left + b.Rate()*float64(lasted) - float64(used)
	b.left = min(max(left, -b.Rate()*float64(longestDebt)), b.most())
	const round = 1e-9 // else a rate of exactly 1 might be 0.999…
	return min(max(int(b.left/float64(b.Cycle)+b.Rate()+round), 0), workers)
}
