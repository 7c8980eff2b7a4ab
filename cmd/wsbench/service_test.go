//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/replay"
)

// TestService measures for a moment. The fields of format json are those that are documented.
func TestService(t *testing.T) {
	t.Setenv(beMain, "1") // for the processes of the measurement
	stdout, stderr, status := wsbench(strings.Fields(
		"service -seconds 0.05 -rounds 2 -background none,magpie -load pure,gc -task 100us -format json")...)
	require.Zero(t, status, stderr)
	decoder := json.NewDecoder(strings.NewReader(stdout))
	var names []string
	for decoder.More() {
		var c map[string]any
		require.NoError(t, decoder.Decode(&c))
		name := c["case"].(string)
		names = append(names, c["load"].(string)+" "+c["task"].(string)+" "+name)
		require.EqualValues(t, 2, c["rounds"])
		require.EqualValues(t, 50, c["requests"])
		require.EqualValues(t, 500, c["rate_per_s"])
		for _, field := range strings.Fields("p50_us p90_us p99_us p999_us max_us gomaxprocs") {
			require.Positive(t, c[field], field)
		}
		if name == "none" {
			require.Zero(t, c["background_per_s"])
		} else {
			require.Positive(t, c["background_per_s"])
		}
		for _, field := range strings.Fields("gc_per_s gc_pause_p50_us gc_pause_p99_us gc_pause_max_us late_p99_us") {
			require.Contains(t, c, field)
		}
		require.Len(t, c["rounds_p99_us"], 2)
	}
	require.Equal(t, []string{"pure 100µs none", "pure 100µs magpie", "gc 100µs none", "gc 100µs magpie"}, names)
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
