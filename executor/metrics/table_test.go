package metrics

import (
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/stretchr/testify/require"
)

// The quota is told while there is one. The machine of the test may have none.
func TestQuota(t *testing.T) {
	read := func(s executor.Stats, name string) Value {
		var sample Sample
		rows[name].read(&s, &sample)
		return sample.Value
	}
	with := executor.Stats{Quota: host.QuotaStats{CPUs: 1.5, Workers: 1.125, Throttled: 7}}
	require.Equal(t, 1.5, read(with, "/magpie/quota/limit:cpus").Float64())
	require.Equal(t, 1.125, read(with, "/magpie/quota/workers:cpus").Float64())
	require.EqualValues(t, 7, read(with, "/magpie/quota/throttled:periods").Uint64())
	for name, r := range rows {
		require.Equal(t, read(with, name).Kind() != KindBad, read(with, name).Kind() == r.Kind, name)
	}
	for _, name := range []string{"limit:cpus", "workers:cpus", "throttled:periods"} {
		name = "/magpie/quota/" + name
		require.Equal(t, KindBad, read(executor.Stats{}, name).Kind(), name)
	}
}
