// Package left has the counter by which a run detects its end.
//
// A [Count] counts units: items that exist and are not done, and workers that may still bring items that they have
// counted. There are three rules.
//
//   - A unit is counted in before it is counted out.
//   - Only a thread that holds a unit counts other units in. It holds its own until they are counted.
//   - A thread may hand its unit on: a task that has ended hands it to a task that it has made ready. A thread may
//     also keep the unit of an item that is done, and count out several at once.
//
// So at 0 no thread holds a unit, and no thread can count one in: 0 is the end. One call of Out brings the count to 0
// and reports the end. Everything before the other calls of Out happens before that call returns.
package left

import "github.com/magpie-go/magpie/internal/xatomic"

// A Count is the number of units that are left. Its zero value is a count that has ended. Any thread may call its
// methods.
type Count struct{ n xatomic.Int64 }

// Start begins a count of n units, n > 0. The count has ended, or has never begun, and no other thread starts it.
func (c *Count) Start(n int64) {
	old := c.n.Swap(n)
	check(old == 0 && n > 0, old)
}

// In counts n units in, n > 0. The caller holds another unit.
func (c *Count) In(n int64) {
	now := c.n.Add(n)
	check(now > n && n > 0, now)
}

// TryIn counts one unit in for a caller that holds none. It returns false if the count has ended.
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

// Out counts n units out, n > 0, and reports whether that is the end. A caller that holds another unit may ignore the
// result.
func (c *Count) Out(n int64) (ended bool) {
	now := c.n.Add(-n)
	check(now >= 0 && n > 0, now)
	return now == 0
}

// Load returns the number of units counted in and not yet out.
func (c *Count) Load() int64 { return c.n.Load() }
