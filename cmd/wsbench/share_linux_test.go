package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/internal/gat"
	"github.com/magpie-go/magpie/internal/testkit"
)

// shareTable makes a table of four processors with these jobs, and returns its path. Each job publishes usage 1 and an
// efficiency of 0.875.
func shareTable(t *testing.T, desires []int, terms ...gat.Terms) string {
	path := filepath.Join(t.TempDir(), "table")
	var jobs []*gat.Job
	for _, terms := range terms {
		j, err := gat.Join(path, 4, time.Hour, terms)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, j.Leave()) })
		jobs = append(jobs, j)
	}
	for i, j := range jobs {
		_, err := j.Update(desires[i], 1, 875)
		require.NoError(t, err)
	}
	return path
}

// TestShareText: the table with fixed figures.
func TestShareText(t *testing.T) {
	path := shareTable(t, []int{7, 4, 0}, gat.Terms{Name: "simulator", Weight: 3, Limit: 9},
		gat.Terms{Name: "indexer", Minimum: 1}, gat.Terms{Name: "idler"})
	stdout, stderr, status := wsbench("share", "-path", path)
	require.Zero(t, status, stderr)
	require.Empty(t, stderr)
	pid := fmt.Sprintf("%7d", os.Getpid())
	require.Equal(t, `PATH: 4 processors, cycle 1h0m0s, 3 jobs, 4 of 4 allotted

slot      pid  name       desire  allotted  usage  efficiency  weight  minimum  maximum  state
   0  PROCESS  simulator       7         3      1       87.5%       3        0        9  running
   1  PROCESS  indexer         4         1      1       87.5%       1        1        -  running
   2  PROCESS  idler           0         0      1       87.5%       1        0        -  idle
`, strings.NewReplacer(path, "PATH", pid, "PROCESS").Replace(stdout))
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	_, _, _ = wsbench("share", "-path", path)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after, "it changes nothing")
}

// TestShareCrowded: with more jobs than processors the sum is above the processors, which the header says.
func TestShareCrowded(t *testing.T) {
	path := shareTable(t, []int{2, 2, 2, 2, 2}, make([]gat.Terms, 5)...)
	stdout, _, status := wsbench("share", "-path", path)
	require.Zero(t, status)
	require.Contains(t, stdout, ", 5 jobs, 5 of 4 allotted\nMore jobs want processors than there are: each has one")
}

// TestShareJSON: the JSON form, once and repeated.
func TestShareJSON(t *testing.T) {
	path := shareTable(t, []int{7}, gat.Terms{Name: "simulator", Weight: 3, Minimum: 2, Limit: 3})
	stdout, stderr, status := wsbench("share", "-path", path, "-format", "json")
	require.Zero(t, status, stderr)
	require.Equal(t, 1, strings.Count(stdout, "\n"))
	var v tableView
	require.NoError(t, json.Unmarshal([]byte(stdout), &v))
	require.Len(t, v.Jobs, 1)
	require.Positive(t, v.Jobs[0].HeartbeatNS)
	v.Jobs[0].HeartbeatNS, v.Generation = 0, 0
	require.Equal(t, tableView{
		Path: path, Found: true, Processors: 4, CycleNS: time.Hour.Nanoseconds(), Allotted: 3, Jobs: []jobView{{
			PID: os.Getpid(), Name: "simulator", Desire: 7, Allotment: 3, Usage: 1, Efficiency: 0.875, Weight: 3,
			Minimum: 2, Maximum: 3, State: "running",
		}},
	}, v)

	var errs strings.Builder
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := lines{left: 5, last: cancel}
	testkit.Within(t, testkit.Patience, func() {
		status = run(ctx, []string{"share", "-path", path, "-format", "json", "-every", "1ms"}, &out, &errs)
	})
	require.Zero(t, status, "an interrupt is its usual end")
	require.Empty(t, errs.String())
	require.LessOrEqual(t, out.left, 0)
	for line := range strings.Lines(out.String()) {
		require.NoError(t, json.Unmarshal([]byte(line), &v))
	}
}

// lines calls last when so many lines are left to be written to it and then were.
type lines struct {
	strings.Builder
	left int
	last func()
}

func (l *lines) Write(p []byte) (int, error) {
	if l.left -= bytes.Count(p, []byte("\n")); l.left <= 0 {
		l.last()
	}
	return l.Builder.Write(p)
}

// TestShareScreen: at a terminal the table is drawn in place.
func TestShareScreen(t *testing.T) {
	path := shareTable(t, []int{1}, gat.Terms{})
	var out strings.Builder
	v := viewer{&out, path, false, true}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, v.watch(ctx, time.Hour))
	require.True(t, strings.HasPrefix(out.String(), screenBegin+screenHome+path))
	require.True(t, strings.HasSuffix(out.String(), screenLineEnd+screenClearRest+screenEnd))
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, null.Close()) }()
	require.False(t, isScreen(null))
	require.False(t, isScreen(&out))
}

// TestShareWithoutTable: no table is no error.
func TestShareWithoutTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", "table")
	for _, args := range [][]string{{}, {"-every", "1h"}} {
		stdout, stderr, status := wsbench(append([]string{"share", "-path", path}, args...)...)
		require.Zero(t, status, stderr)
		require.Equal(t, path+": no table: nothing that shares processors there has run since the machine booted\n", stdout)
	}
	stdout, _, status := wsbench("share", "-path", path, "-format", "json")
	require.Zero(t, status)
	require.JSONEq(t, fmt.Sprintf(`{"path":%q,"found":false,"processors":0,"cycle_ns":0,"generation":0,"allotted":0,
		"jobs":[]}`, path), stdout)
	require.NoFileExists(t, path)
}

// TestShareHostile: a file that is no table is refused in one line with the reason, and left as it is.
func TestShareHostile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	large := make([]byte, 1<<20)
	copy(large, "another program's file")
	require.NoError(t, os.WriteFile(at("short"), []byte("text"), 0o600))
	require.NoError(t, os.WriteFile(at("large"), large, 0o600))
	require.NoError(t, os.WriteFile(at("writable"), large, 0o600))
	require.NoError(t, os.Chmod(at("writable"), 0o666))
	require.NoError(t, os.Symlink(at("large"), at("link")))
	for path, want := range map[string]string{
		at("short"):    "it is too small",
		at("large"):    "another version, or another file",
		at("writable"): "others may write it: chmod 600",
		at("link"):     "a table must not be a symbolic link",
		dir:            "it is not a regular file",
		"/dev/null":    "it is not a regular file",
		"/proc/1/mem":  "",
	} {
		for _, format := range []string{"text", "json"} {
			stdout, stderr, status := wsbench("share", "-path", path, "-format", format, "-every", "1h")
			require.Equal(t, exitBadInput, status, path)
			require.Empty(t, stdout)
			require.Contains(t, stderr, want)
			require.Contains(t, stderr, path)
			require.Equal(t, 1, strings.Count(stderr, "\n"))
			t.Log(stderr)
		}
	}
	left, err := os.ReadFile(at("large"))
	require.NoError(t, err)
	require.Equal(t, large, left)
}

// TestRunShare: a run that shares has its setting and its figures in every format.
func TestRunShare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	args := strings.Fields("run knary -n 5 -reps 2 -workers 2 -engine magpie,serial -share=" + path +
		" -share-weight 2 -share-maximum 2 -share-minimum 0 -share-cycle 1ms -share-processors 2" +
		" -share-desire ready-items -share-efficiency 0.75 -format ")
	stdout, stderr, status := wsbench(append(args, "json")...)
	require.Zero(t, status, stderr)
	require.Empty(t, stderr)
	const setting = "weight=2+maximum=2+cycle=1ms+processors=2+desire=ready-items+efficiency=0.75"
	shared := 0
	for line := range strings.Lines(stdout) {
		var r bench.Result
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		if r.Engine == "serial" {
			require.Nil(t, r.Share)
			continue
		}
		shared++
		require.Equal(t, setting, r.Share.Setting)
		require.Equal(t, path, r.Share.Path)
		// A run that ends before the first cycle may have told the table nothing yet.
		require.True(t, 0 <= r.Share.Desire && r.Share.Desire <= 2, "%+v", r.Share)
		require.True(t, 0 <= r.Share.Allotment && r.Share.Allotment <= 2, "%+v", r.Share)
		require.True(t, 0 <= r.Share.Efficiency && r.Share.Efficiency <= 1)
	}
	require.Equal(t, 2, shared)

	stdout, stderr, status = wsbench(append(args, "text")...)
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, "shared: "+setting)
	require.Regexp(t, `desire +allotted +usage +efficiency +cycles +vs serial +verified\n`, stdout)
	stdout, stderr, status = wsbench(append(args, "bench")...)
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, "/share="+setting+"/")
	require.Contains(t, stdout, " share-allotment")

	for _, what := range []string{"idle -n 1", "chain -n 9 -whole", "sleep -n 4"} {
		stdout, stderr, status = wsbench(strings.Fields(
			"run -reps 1 -workers 1 -share=" + path + " -format json " + what)...)
		require.Zero(t, status, stderr)
		require.Contains(t, stdout, `"share":{"setting":"yes","path":`, what)
	}
	v := viewer{w: io.Discard, path: path}
	found, err := v.show()
	require.NoError(t, err)
	require.True(t, found, "the runs have made the table")
}

// TestRunAlone: a run that asked to share and is alone fails before it measures, and says why.
func TestRunAlone(t *testing.T) {
	path := shareTable(t, []int{1}, gat.Terms{})
	for share, want := range map[string]string{
		path:               "the jobs of a table must agree",
		filepath.Dir(path): "a table must be a regular file",
		"/no/such/table":   "no such file or directory",
	} {
		for _, what := range []string{"fib -n 5", "idle -n 1", "fan -n 5", "fan -n 5 -whole"} {
			stdout, stderr, status := wsbench(strings.Fields("run " + what + " -reps 1 -workers 1 -share=" + share)...)
			require.Equal(t, exitFailed, status)
			require.Empty(t, stdout)
			require.Contains(t, stderr, want)
			require.Contains(t, stderr, "the executor was to share the machine, and is alone")
			require.NotContains(t, stderr, "wrong answer")
			require.Equal(t, 1, strings.Count(stderr, "\n"))
		}
	}
}
