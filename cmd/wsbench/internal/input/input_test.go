package input

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnknown(t *testing.T) {
	known := []string{"chain", "btree", "dag", "mandelbrot", "fan"}
	for name, want := range map[string]string{
		"btre":       `no workload "btre": did you mean btree? there are chain, btree, dag, mandelbrot, fan`,
		"Chain":      `no workload "Chain": did you mean chain? there are chain, btree, dag, mandelbrot, fan`,
		"hcain":      `no workload "hcain": did you mean chain? there are chain, btree, dag, mandelbrot, fan`,
		"mandlebrto": `no workload "mandlebrto": did you mean mandelbrot? there are chain, btree, dag, mandelbrot, fan`,
		"mandel":     `no workload "mandel": did you mean mandelbrot? there are chain, btree, dag, mandelbrot, fan`,
		"ma":         `no workload "ma": there are chain, btree, dag, mandelbrot, fan`,
		"xx":         `no workload "xx": there are chain, btree, dag, mandelbrot, fan`,
		"":           `no workload "": there are chain, btree, dag, mandelbrot, fan`,
		"spanning":   `no workload "spanning": there are chain, btree, dag, mandelbrot, fan`,
	} {
		require.EqualError(t, Unknown("workload", name, known), want)
	}
	var bad *Error
	require.ErrorAs(t, Unknown("workload", "btre", nil), &bad)
}

// TestDistance: edits of a word are at most as far from it as there are, and the distance is the same both ways.
func TestDistance(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	letter := func() rune { return 'a' + r.Int32N(4) }
	for range 2000 {
		word := make([]rune, r.IntN(8))
		for i := range word {
			word[i] = letter()
		}
		edited, edits := append([]rune(nil), word...), r.IntN(4)
		for range edits {
			switch at := r.IntN(len(edited) + 1); {
			case at == len(edited) || r.IntN(3) == 0:
				edited = append(edited[:at], append([]rune{letter()}, edited[at:]...)...)
			case r.IntN(2) == 0:
				edited = append(edited[:at], edited[at+1:]...)
			default:
				edited[at] = letter()
			}
		}
		d := distance(string(word), string(edited))
		require.LessOrEqual(t, d, edits, "%s, %s", string(word), string(edited))
		require.Equal(t, d, distance(string(edited), string(word)))
		require.Equal(t, d == 0, string(word) == string(edited))
	}
	require.Equal(t, 1, distance("ab", "ba"))
	require.Equal(t, 3, distance("kitten", "sitting"))
}

func TestCount(t *testing.T) {
	for s, want := range map[string]int{
		"7": 7, "-3": -3, "1000000": 1e6, "1_000_000": 1e6, "1e6": 1e6, "2.5e3": 2500, "1E2": 100, "0": 0,
	} {
		n, err := Count(s)
		require.NoError(t, err, s)
		require.Equal(t, want, n, s)
	}
	for _, s := range []string{"", "x", "1.5", "1e-3", "1e300", "NaN", "Inf", "0x10", "1e", "1 000", "_", "0x1p4"} {
		_, err := Count(s)
		require.EqualError(t, err, `"`+s+`" is no whole number`)
	}
}
