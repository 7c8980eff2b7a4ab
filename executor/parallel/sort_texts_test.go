package parallel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/testkit"
)

type name string

// TestSortTexts: Sort agrees with slices.Sort for strings of all kinds.
func TestSortTexts(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
		for kind := range 14 {
			for range testkit.Scale(4) {
				n := 1 + rng.IntN(1<<(1+rng.IntN(12)))
				if rng.IntN(16) == 0 {
					n <<= 5
				}
				s := texts(rng, kind, n)
				want := slices.Sorted(slices.Values(s))
				require.NoError(t, parallel.Sort(t.Context(), o, s))
				require.True(t, slices.Equal(want, s), "kind %d, %d strings", kind, n)
			}
		}
	})
}

// texts returns n strings of a kind from 0 to 13.
func texts(rng *rand.Rand, kind, n int) []name {
	long := strings.Repeat("long prefix ", 40)
	tree := []string{""}
	s := make([]name, n)
	for i := range s {
		x := ""
		switch kind {
		case 0: // numbers
			x = fmt.Sprint(rng.Uint64())
		case 1: // short ones, also empty
			x = letters(rng, rng.IntN(4), 3)
		case 2: // NULs and the greatest byte
			x = strings.NewReplacer("a", "\x00", "b", "\xff").Replace(letters(rng, rng.IntN(30), 3))
		case 3: // nothing but NULs
			x = strings.Repeat("\x00", rng.IntN(20))
		case 4: // ends of every length after a prefix of every length
			x = long[:rng.IntN(20)] + letters(rng, rng.IntN(10), 2)
		case 5: // one long prefix
			x = long + letters(rng, rng.IntN(12), 26)
		case 6: // each is a prefix of the next
			x = long[:rng.IntN(len(long))]
		case 7: // few distinct
			x = long + string(rune('a'+rng.IntN(5)))
		case 8: // all equal
			x = long
		case 9: // ascending
			x = fmt.Sprintf("%09d", i/3)
		case 10: // descending
			x = fmt.Sprintf("%09d", (n-i)/3)
		case 11: // few out of place
			x = fmt.Sprintf("%09d", i)
		case 12: // branches of a tree
			x = tree[rng.IntN(len(tree))]
			if len(tree) < 300 {
				x += letters(rng, rng.IntN(20), 2)
				tree = append(tree, x)
			}
			x += letters(rng, rng.IntN(3), 26)
		case 13: // one kind for a half, the other for the rest
			x = fmt.Sprint(rng.Uint64())
			if i%2 == 0 {
				x = long[:rng.IntN(len(long))]
			}
		}
		s[i] = name(x)
	}
	if kind >= 9 && kind <= 11 {
		for range rng.IntN(8) {
			i, j := rng.IntN(n), rng.IntN(n)
			s[i], s[j] = s[j], s[i]
		}
	}
	return s
}

// letters returns a string of n of the first letters.
func letters(rng *rand.Rand, n, of int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a' + byte(rng.IntN(of))
	}
	return string(b)
}

// A Sort of strings that is cancelled loses none of them.
func TestSortTextsCancelled(t *testing.T) {
	sortCancelled(t, func(rng *rand.Rand, n int) []name { return texts(rng, rng.IntN(14), n) })
}

// A Grain of any size is allowed.
func TestSortGrain(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
		for _, grain := range []int{1, math.MaxInt - 1, math.MaxInt} {
			o.Grain = grain
			s, texts := numbers(rng, 1000, 1<<30), texts(rng, 0, 1000)
			require.NoError(t, parallel.Sort(t.Context(), o, s))
			require.True(t, slices.IsSorted(s))
			require.NoError(t, parallel.Sort(t.Context(), o, texts))
			require.True(t, slices.IsSorted(texts))
		}
	})
}

// Numbers of which few are out of place, in either direction.
func TestSortNearlySorted(t *testing.T) {
	onEach(t, func(t *testing.T, o parallel.Options) {
		rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
		for range testkit.Scale(40) {
			n, of := 300+rng.IntN(5000), 1+rng.IntN(100)
			s := numbers(rng, n, of*n/50+1)
			slices.Sort(s)
			if rng.IntN(2) == 0 {
				slices.Reverse(s)
			}
			for range rng.IntN(6) {
				i, j := rng.IntN(n), rng.IntN(n)
				s[i], s[j] = s[j], s[i]
			}
			if rng.IntN(4) == 0 { // two sorted parts
				i := rng.IntN(n)
				s = append(s[i:n:n], s[:i]...)
			}
			want := slices.Sorted(slices.Values(s))
			require.NoError(t, parallel.Sort(t.Context(), o, s))
			require.Equal(t, want, s)
		}
	})
}
