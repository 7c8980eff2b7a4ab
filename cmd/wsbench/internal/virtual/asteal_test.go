package virtual

import (
	"testing"

	"github.com/magpie-go/magpie/internal/allot"
	"github.com/stretchr/testify/require"
)

// aSteal is the rule of Agrawal, Leiserson, He and Hsu, "Adaptive Work-Stealing with Parallelism Feedback" (2008). A
// job that wastes its processors divides its desire by ρ, and one that uses all that it desired multiplies it. Unlike
// WSAP it goes by the time spent, not by the outcome of attempts, and by the allotment, not by the usage.
type aSteal struct {
	Efficiency allot.Permille // δ: a cycle is efficient if this share of the allotted time was busy. 800 is usual.
	Response   allot.Permille // ρ, above 1000. From 1500 to 2000 is usual.
}

// Next rounds a smaller desire down and a larger one up, so that a small ρ changes a small desire, too.
func (r aSteal) Next(desire int, c allot.Count) int {
	if r.Response <= 1000 {
		panic("the response of aSteal is not above 1000 thousandths")
	}
	desire = max(desire, 1)
	switch {
	case c.Busy*1000 < c.Length*int64(r.Efficiency)*int64(c.Allotment):
		return max(1, int(int64(desire)*1000/int64(r.Response)))
	case c.Allotment >= desire:
		return int((int64(desire)*int64(r.Response) + 999) / 1000)
	default: // efficient and deprived
		return desire
	}
}

func TestASteal(t *testing.T) {
	rule := aSteal{Efficiency: 800, Response: 1500}
	busy := func(allotment int, share int64) allot.Count {
		return allot.Count{Allotment: allotment, Length: 5e6, Busy: share * 5e4 * int64(allotment)}
	}
	for name, c := range map[string]struct {
		desire int
		count  allot.Count
		next   int
	}{
		"efficient and satisfied":       {8, busy(8, 80), 12},
		"efficient and deprived":        {8, busy(6, 80), 8},
		"inefficient":                   {8, busy(8, 79), 5},
		"inefficient and deprived":      {8, busy(6, 79), 5},
		"the smallest desire grows":     {1, busy(1, 100), 2},
		"a small desire shrinks":        {2, busy(2, 50), 1},
		"the smallest does not":         {1, busy(1, 0), 1},
		"more than desired is no lack":  {4, busy(6, 90), 6},
		"before the first cycle: as 1":  {0, busy(1, 90), 2},
		"a whole quotient is not below": {3, busy(3, 0), 2},
	} {
		require.Equal(t, c.next, rule.Next(c.desire, c.count), name)
	}
	require.Panics(t, func() { aSteal{Efficiency: 800, Response: 1000}.Next(1, allot.Count{}) })
}
