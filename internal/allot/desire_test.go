package allot

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDesireTrace is Fig 6-2 of document 003: 16 processors, η = 0.5, and another job that desires more than 8 all the
// time. Both forms of allotment give the figure's.
func TestDesireTrace(t *testing.T) {
	rows := []struct {
		pure                     uint64 // of 100 attempts
		usage, desire, allotment int
	}{
		{15, 4, 8, 8},
		{45, 8, 16, 8},
		{70, 8, 5, 5},
		{55, 5, 5, 5},
		{50, 5, 10, 8},
		{95, 8, 1, 1},
	}
	rule := WSAP{Efficiency: 500}
	dp := NewIncremental(16)
	other, job := dp.Join(16), dp.Join(4)
	require.Equal(t, rows[0].usage, dp.Allotment(job))
	for i, r := range rows {
		desire := rule.Next(0, Count{Attempts: 100, Pure: r.pure, Usage: r.usage})
		require.Equal(t, r.desire, desire, "interval %d", i+1)
		dp.SetDesire(job, desire)
		require.Equal(t, r.allotment, dp.Allotment(job), "interval %d", i+1)
		require.Equal(t, 16-r.allotment, dp.Allotment(other), "interval %d", i+1)
		require.Equal(t, []int{16 - r.allotment, r.allotment},
			WaterFill(16, []Job{{Key: 0, Desire: 16}, {Key: 1, Desire: desire}}), "interval %d", i+1)
	}
}

func TestWSAP(t *testing.T) {
	for name, c := range map[string]struct {
		efficiency Permille
		count      Count
		desire     int
	}{
		"no attempts":                  {500, Count{Usage: 3}, 6},
		"no attempts, not whole":       {750, Count{Usage: 1}, 2},
		"at the target":                {750, Count{Attempts: 4, Pure: 1, Usage: 6}, 8},
		"above the target, whole":      {750, Count{Attempts: 5, Pure: 2, Usage: 5}, 4}, // 0.6/0.75·5
		"above the target, rounded up": {750, Count{Attempts: 1000, Pure: 399, Usage: 5}, 5},
		"only purely unsuccessful":     {500, Count{Attempts: 7, Pure: 7, Usage: 8}, 1},
		"all workers asleep":           {500, Count{}, 1},
		"η = 1 never grows":            {1000, Count{Attempts: 9, Usage: 8}, 8},
		"η = 1 shrinks":                {1000, Count{Attempts: 8, Pure: 2, Usage: 8}, 6},
		"counters read one by one":     {500, Count{Attempts: 2, Pure: 3, Usage: 8}, 1},
		"many attempts":                {500, Count{Attempts: 1 << 63, Pure: 3 << 61, Usage: 8}, 4},
	} {
		require.Equal(t, c.desire, WSAP{c.efficiency}.Next(1, c.count), name)
	}
	require.Panics(t, func() { WSAP{}.Next(1, Count{}) })
	require.Panics(t, func() { WSAP{1001}.Next(1, Count{}) })
}

// TestWSAPIsExact compares the rule with the document's formula in fractions.
func TestWSAPIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50000 {
		efficiency := Permille(1 + rng.IntN(1000))
		c := Count{Attempts: 1 + rng.Uint64N(1<<rng.IntN(30)), Usage: 1 + rng.IntN(64)}
		c.Pure = rng.Uint64N(c.Attempts + 1)
		if rng.IntN(4) == 0 { // so that many a ratio is exactly 1 − η, and many a result whole
			efficiency, c.Attempts, c.Pure = 250*(1+efficiency%4), 12, c.Pure%13
		}
		eta := big.NewRat(int64(efficiency), 1000)
		useful := new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).SetFrac(
			new(big.Int).SetUint64(c.Pure), new(big.Int).SetUint64(c.Attempts)))
		if useful.Cmp(eta) >= 0 {
			useful.SetInt64(1)
		}
		want := new(big.Rat).Mul(useful.Quo(useful, eta), big.NewRat(int64(c.Usage), 1))
		ceiling := new(big.Int).Add(want.Num(), want.Denom())
		ceiling.Sub(ceiling, big.NewInt(1)).Quo(ceiling, want.Denom())
		require.Equal(t, max(1, int(ceiling.Int64())), WSAP{efficiency}.Next(1, c), "η %d ‰, %+v", efficiency, c)
	}
}

func TestInstant(t *testing.T) {
	require.Equal(t, 7, Instant{}.Next(3, Count{Ready: 7, Attempts: 9, Pure: 9, Usage: 2}))
	require.Equal(t, 1, Instant{}.Next(3, Count{}))
}
