package replay

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// TestBusyCores: how many processors were busy between two looks at the kernel's times.
func TestBusyCores(t *testing.T) {
	stat := func(text string) ticks {
		return readTicks(fstest.MapFS{"proc/stat": {Data: []byte(text)}})
	}
	const cpus = "cpu0 0 0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\nintr 1 2 3 4 5 6 7 8 9\n"
	for _, tt := range []struct {
		before, after string
		want          float64
	}{
		{"cpu 10 0 0 100 0 0 0 0 0 0\n" + cpus, "cpu 10 0 0 130 10 0 0 0 0 0\n" + cpus, 0},
		{"cpu 10 0 0 100 0 0 0 0 0 0\n" + cpus, "cpu 20 5 5 120 0 0 0 0 0 0\n" + cpus, 1},
		{"cpu 10 0 0 100 0 0 0 0 0 0\n" + cpus, "cpu 20 5 5 100 0 5 5 10 9 9\n" + cpus, 2},
	} {
		busy := stat(tt.after).busySince(stat(tt.before))
		require.NotNil(t, busy)
		require.InDelta(t, tt.want, *busy, 1e-9, tt.after)
		b := &beginning{BusyCores: busy}
		require.Equal(t, tt.want > 1, b.Busy(2), "more than half of two cores")
	}
	none := readTicks(fstest.MapFS{})
	require.Nil(t, none.busySince(none))
	require.False(t, new(beginning).Busy(2))
	same := stat("cpu 1 1 1 1 1 1 1 1 1 1\n" + cpus)
	require.Nil(t, same.busySince(same), "no tick passed")
}

// TestBeginnings: the first measurement of each experiment says on what it began, and the report says so, too.
func TestBeginnings(t *testing.T) {
	x, y := experiment("000/x", "fast 100", "slow 300"), experiment("001/y", "fast 100", "fast 200")
	r := fakeReplay(t, x, y)
	require.NoError(t, r.Begin(context.Background()))
	var begun []bool
	for line := range strings.Lines(read(t, r, recordsFile)) {
		var rec record
		require.NoError(t, json.Unmarshal([]byte(line), &rec))
		begun = append(begun, rec.Begun != nil)
		if rec.Begun != nil {
			require.Equal(t, uint64(42), rec.Begun.Seed)
		}
	}
	require.Equal(t, []bool{true, false, true}, begun)
	const beginnings = 3 // 001/y has a measurement of 000/x, with its beginning
	require.Equal(t, beginnings, strings.Count(read(t, r, ReportFile), "Begun: 20"))

	s, err := openStore(r.Dir)
	require.NoError(t, err)
	busy := 2 * float64(s.manifest.Cores)
	for _, rec := range s.records {
		if rec.Begun != nil {
			rec.Begun.BusyCores = &busy
		}
	}
	require.NoError(t, r.report(t.Context(), s))
	require.NoError(t, s.close())
	require.Equal(t, beginnings, strings.Count(read(t, r, ReportFile), "It began on a busy machine"))
}
