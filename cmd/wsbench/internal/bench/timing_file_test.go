package bench

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
)

// TestTimingOfFile: a circuit from a file runs on every engine. Its name is part of the results' inputs.
func TestTimingOfFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my  adder.bench")
	require.NoError(t, os.WriteFile(path, []byte("INPUT(a)\nINPUT(b)\nOUTPUT(s)\nOUTPUT(c)\n"+
		"s = XOR(a, b)\nc = AND(a, b)\n"), 0o666))
	for _, changes := range []string{"resize", "any"} {
		s, results := session(Engines()...)
		s.Workloads = []*workloads.Workload{timing}
		s.N, s.Reps = 30, 1
		s.Params = map[string]string{"circuit": path, "corners": "2", "changes": changes}
		require.NoError(t, s.Run(context.Background()))
		require.NotEmpty(t, *results)
		for _, r := range *results {
			require.Equal(t, "circuit=my_adder.bench/corners=2/changes="+changes, r.Inputs)
			require.Equal(t, 30, r.Tasks)
			require.True(t, r.Verified)
		}
	}
}
