// Package left has the counter by which a run finds its end.
//
// A [Count] counts units: items that exist and are not done, and workers that may still bring what they have counted.
// The rules are three.
//
//   - A unit is counted in before it is counted out.
//   - Only a holder of a unit counts others in. It holds its own until they are counted.
//   - A holder may hand its unit on, as a task that has ended does to one that it has made ready. It may also keep a
//     unit that has ended, and count out several at once.
//
// So the count is 0 only when nobody holds a unit, and then nobody can count one in: 0 is the end. The end is seen
// once, by the caller whose Out comes to 0. Everything before the other calls of Out happens before that one returns.
package left

import "github.com/magpie-go/magpie/internal/xatomic"

// A Count is the number of units that are left. Its zero value is one that has ended. All methods may be called from
// any thread.
type Count struct{ n xatomic.Int64 }

// Start begins a count of n units, of which there is at least one. The count has ended, or has never begun, and nobody
// else starts it.
func (c *Count) Start(n int64) {
	old := c.n.Swap(n)
	check(old == 0 && n > 0, old)
}

// In counts n units in. The caller holds another.
func (c *Count) In(n int64) {
	now := c.n.Add(n)
	check(now > n && n > 0, now)
}

// TryIn counts one unit in, for a caller that holds none, or returns false if the count has ended.
func (c *Count) TryIn() bool {
	for {
		n := c.n.Load()
		if n == 0 {
			return false
		}
		if c.n.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Out counts n units out, of which there is at least one. It reports whether that is the end; a caller that holds
// another unit need not ask.
func (c *Count) Out(n int64) (ended bool) {
	now := c.n.Add(-n)
	check(now >= 0 && n > 0, now)
	return now == 0
}

// Load is the number of units counted in and not out.
func (c *Count) Load() int64 { return c.n.Load() }
