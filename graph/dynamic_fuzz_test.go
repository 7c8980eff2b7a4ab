package graph_test

import (
	"math/rand/v2"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/stretchr/testify/require"
)

// A tape is a source of random numbers from bytes, one each. Shorter tapes give smaller programs.
type tape struct{ bytes []byte }

// Uint64 implements rand.Source. The byte is in the upper and in the lower bits, since callers use either. The bit
// below the upper byte is for rand.IntN, which draws again as long as it gets zeros.
func (t *tape) Uint64() uint64 {
	b := uint64(0)
	if len(t.bytes) > 0 {
		b = uint64(t.bytes[0])
		t.bytes = t.bytes[1:]
	}
	return b<<56 | 1<<55 | b
}

// FuzzDynamic draws programs and their faults from a tape.
func FuzzDynamic(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		bytes := make([]byte, rng.IntN(1000))
		for i := range bytes {
			bytes[i] = byte(rng.IntN(256))
		}
		f.Add(bytes)
	}
	ex, err := executor.New(executor.Config{Workers: 2, Threads: host.Threads{OnlyBlocking: true}})
	require.NoError(f, err)
	f.Cleanup(func() { _ = ex.Close() })
	places := []*place{{site: site{"2 workers", ex}}, {site: site{"inline", executor.NewInline(1)}, inline: true}}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		rng := rand.New(&tape{bytes})
		p := randomProgram(rng)
		pl := places[rng.IntN(2)]
		within(t, pl.ex, func() { pl.examine(telling{t, p.String}, rng, p) })
	})
}
