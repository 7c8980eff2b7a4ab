//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/replay"
	"github.com/magpie-go/magpie/internal/testkit"
)

// TestService measures for a moment. The fields of format json are those that are documented.
func TestService(t *testing.T) {
	t.Setenv(beMain, "1") // for the processes of the measurement
	ms := 50
	testkit.Fits(t, func() (wrong string) { // on a busy machine a background may get nothing done in so short a time
		stdout, stderr, status := wsbench(strings.Fields(fmt.Sprintf("service -seconds %v -rounds 2 "+
			"-background none,magpie -load pure,allocating -task 100us -format json", float64(ms)/1000))...)
		require.Zero(t, status, stderr)
		decoder := json.NewDecoder(strings.NewReader(stdout))
		var names []string
		for decoder.More() {
			var c map[string]any
			require.NoError(t, decoder.Decode(&c))
			name := c["case"].(string)
			names = append(names, c["load"].(string)+" "+c["task"].(string)+" "+name)
			require.EqualValues(t, 2, c["rounds"])
			require.EqualValues(t, ms, c["requests"])
			require.EqualValues(t, 500, c["rate_per_s"])
			for _, field := range strings.Fields("p50_us p90_us p99_us p999_us max_us gomaxprocs") {
				require.Positive(t, c[field], field)
			}
			if name == "none" {
				require.Zero(t, c["background_per_s"])
			} else if c["background_per_s"] == 0.0 {
				wrong = name + " got nothing done"
			}
			for _, field := range strings.Fields("gc_per_s gc_pause_p50_us gc_pause_p99_us gc_pause_max_us late_p99_us") {
				require.Contains(t, c, field)
			}
			require.Len(t, c["rounds_p99_us"], 2)
		}
		require.Equal(t, []string{
			"pure 100µs none", "pure 100µs magpie", "allocating 100µs none", "allocating 100µs magpie",
		}, names)
		ms = min(2*ms, 10_000)
		return wrong
	})
}

// TestServiceFiles writes the table and the figure to files.
func TestServiceFiles(t *testing.T) {
	if replay.FindDrawer() == nil {
		t.Skip("there is no wsfigures")
	}
	t.Setenv(beMain, "1")
	dir := t.TempDir()
	table, figure := filepath.Join(dir, "table"), filepath.Join(dir, "figure.svg")
	stdout, stderr, status := wsbench("service", "-seconds", "0.05", "-rounds", "1", "-background", "none,errgroup",
		"-load", "pure", "-o", table, "-svg", figure)
	require.Zero(t, status, stderr)
	require.Empty(t, stdout)
	text, err := os.ReadFile(table)
	require.NoError(t, err)
	require.Contains(t, string(text), "\nerrgroup ")
	drawn, err := os.ReadFile(figure)
	require.NoError(t, err)
	require.Contains(t, string(drawn), "</svg>")
	require.Contains(t, string(drawn), "errgroup")
}
