package energy

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// TestUntil: the counters of all packages are summed. One that began again has its range added. Parts of packages, and
// counters of another kind, do not count.
func TestUntil(t *testing.T) {
	of := func(values map[string]string) Reading {
		root := fstest.MapFS{}
		for domain, value := range values {
			root["sys/class/powercap/"+domain+"/energy_uj"] = &fstest.MapFile{Data: []byte(value + "\n")}
			root["sys/class/powercap/"+domain+"/max_energy_range_uj"] = &fstest.MapFile{Data: []byte("10000000\n")}
		}
		return read(root)
	}
	before := of(map[string]string{
		"intel-rapl:0": "1000000", "intel-rapl:1": "9000000", "intel-rapl:0:0": "1", "intel-rapl-mmio:0": "1",
		"dtpm": "1", "intel-rapl:2": "unreadable",
	})
	after := of(map[string]string{
		"intel-rapl:0": "3500000", "intel-rapl:1": "500000", "intel-rapl:0:0": "99", "intel-rapl-mmio:0": "99",
		"dtpm": "99", "intel-rapl:2": "99",
	})
	require.Len(t, before, 2)
	require.InDelta(t, 2.5+1.5, before.Until(after), 1e-9)
	require.Zero(t, Reading{}.Until(after))
	require.Zero(t, before.Until(read(fstest.MapFS{})))
}
