package replay

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/switches"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"
)

func read(t *testing.T, r *Replay, name string) string {
	text, err := os.ReadFile(filepath.Join(r.Dir, name))
	require.NoError(t, err)
	return string(text)
}

// TestReplay makes a replay of two experiments that share a measurement, and reads everything that it leaves.
func TestReplay(t *testing.T) {
	r := fakeReplay(t, experiment("000/x", "fast 100", "slow 300"), experiment("001/y", "fast 100", "refused 1"))
	var steps []Progress
	r.Step = func(p Progress) { steps = append(steps, p) }
	require.NoError(t, r.Begin(context.Background()))

	require.Len(t, steps, 3, "a shared measurement is made once")
	for i, p := range steps {
		require.Equal(t, i, p.Done)
		require.Equal(t, 3, p.Total)
		require.Positive(t, p.Left)
	}
	require.Equal(t, 3*time.Second, steps[0].Left)

	page := read(t, r, ReportFile)
	for _, want := range []string{
		"nothing &lt;at all&gt;", "It takes at most 100 ns.", "fast 100, slow 300", "bws-same: no rseq here",
		"Nothing is not drawn",
		`class="held"`, `class="cannot-show"`,
	} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, `class="not-held"`)
	require.NotContains(t, page, "http://")

	var verdicts []map[string]any
	require.NoError(t, json.Unmarshal([]byte(read(t, r, VerdictsFile)), &verdicts))
	require.Len(t, verdicts, 4)
	require.Equal(t, map[string]any{
		"id": "000/x small", "place": "here", "says": "It takes at most 100 ns.", "needs_cores": 1.0,
		"outcome": "held", "decided_by": "measured", "found": "fast 100, slow 300",
	}, verdicts[0])
	require.Equal(t, "machine", verdicts[3]["decided_by"])
	require.Regexp(t, `^4 claims, by what decided them:\n +0  exact .*\n +3  measured (.*\n)+ +1  machine .*\n$`,
		r.Summary())

	rows, err := csv.NewReader(strings.NewReader(read(t, r, "000-x.csv"))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 5)
	require.Contains(t, rows[0], "circuit")
	require.Contains(t, rows[0], "queue-steals")

	lines := benchfmt.NewReader(strings.NewReader(read(t, r, "results.txt")), "results.txt")
	n := 0
	for lines.Scan() {
		switch result := lines.Result().(type) {
		case *benchfmt.Result:
			n++
			require.Contains(t, string(result.Name), "/replay=00")
			require.NotEmpty(t, result.Values)
		case *benchfmt.SyntaxError:
			t.Error(result)
		}
	}
	require.Equal(t, 6, n)
	require.Equal(t, -1, lines.Units().GetBetter("sec/op"))
}

// TestCSV: each table names a file that is there. Experiments with the same rows name the same, and one without has
// none.
func TestCSV(t *testing.T) {
	r := fakeReplay(t, experiment("000/x", "fast 100"), experiment("001/y", "fast 100"), experiment("001/z",
		"fast 200"), experiment("002/none", "refused 1"))
	require.NoError(t, r.Begin(context.Background()))
	page := read(t, r, ReportFile)
	for name, tables := range map[string]int{"000-x.csv": 2, "001-y.csv": 0, "001-z.csv": 1, "002-none.csv": 0} {
		require.Equal(t, tables, strings.Count(page, `<a href="`+name+`">`), name)
		_, err := os.Stat(filepath.Join(r.Dir, name))
		require.Equal(t, tables > 0, err == nil, name)
	}
}

// TestReport: the report is made again on another machine, and nothing is measured.
func TestReport(t *testing.T) {
	r := fakeReplay(t, fig52Of003, table1)
	e := *table1
	e.plan = func(*Plan) {}
	r.Experiments[1] = &e // nothing of it is measured
	require.NoError(t, r.Begin(context.Background()))
	name := filepath.Join(r.Dir, manifestFile)
	manifest := bytes.ReplaceAll([]byte(read(t, r, manifestFile)), []byte(`"cores": `), []byte(`"cores": 9`))
	require.NoError(t, os.WriteFile(name, manifest, 0o644))
	require.NoError(t, os.Remove(filepath.Join(r.Dir, ReportFile)))
	again := &Replay{Dir: r.Dir}
	require.NoError(t, again.Report(context.Background()))
	require.Equal(t, r.Summary(), again.Summary())
	require.Contains(t, read(t, r, ReportFile), "10 of 10 rows are the document&#39;s")
	require.ErrorContains(t, (&Replay{Dir: t.TempDir()}).Report(context.Background()), "has no replay")
}

// TestResume: a replay that was stopped anywhere goes on with what is missing, and no other.
func TestResume(t *testing.T) {
	whole := []string{"fast 100", "slow 300", "fast 200", "fast 400"}
	for stop := range whole {
		e := experiment("000/x", whole...)
		r := fakeReplay(t, e)
		ctx, cancel := context.WithCancel(context.Background())
		r.Step = func(p Progress) {
			if p.Done == stop {
				cancel()
			}
		}
		require.ErrorIs(t, r.Begin(ctx), context.Canceled)
		_, err := os.Stat(filepath.Join(r.Dir, ReportFile))
		require.ErrorIs(t, err, os.ErrNotExist)

		s, err := openStore(r.Dir)
		require.NoError(t, err)
		require.Len(t, s.records, stop)
		var todo []string
		again := fakeReplay(t, e)
		again.Dir = r.Dir
		again.Step = func(p Progress) { todo = append(todo, p.What) }
		again.Options = Options{Seed: 42, Cores: s.manifest.Cores}
		require.NoError(t, again.run(context.Background(), s))
		require.Len(t, todo, len(whole)-stop)
		require.Contains(t, read(t, again, ReportFile), "fast 200")
	}
}

// TestInterrupt: a measurement in progress is ended, and its process with it.
func TestInterrupt(t *testing.T) {
	r := fakeReplay(t, experiment("000/x", "fast 100", "forever 1"))
	ctx, cancel := context.WithCancel(context.Background())
	r.Step = func(p Progress) {
		if p.Done == 1 {
			time.AfterFunc(50*time.Millisecond, cancel)
		}
	}
	testkit.Within(t, testkit.Patience, func() { require.ErrorIs(t, r.Begin(ctx), context.Canceled) })
}

// TestFailures: a run that fails ends the replay, and what was measured before is kept.
func TestFailures(t *testing.T) {
	for run, want := range map[string]string{
		"wrong 1":      "wsbench run wrong 1 -seed 42: wrong answer: 4 is not 5",
		"unverified 1": "a result that is not verified",
		"silent 1":     "no results",
		"garbage 1":    "not a result",
	} {
		r := fakeReplay(t, experiment("000/x", "fast 100", run))
		err := r.Begin(context.Background())
		require.ErrorContains(t, err, want)
		var bad *input.Error
		require.False(t, errors.As(err, &bad))
		require.Len(t, strings.Split(strings.TrimSpace(read(t, r, recordsFile)), "\n"), 1)
	}
}

// TestCoRun: all programs begin together, and each is measured often enough while the others run.
func TestCoRun(t *testing.T) {
	e := experiment("004/x")
	plan := func(programs ...string) func(*Plan) {
		return func(p *Plan) {
			var all []Program
			for i, args := range programs {
				all = append(all, p.program(map[string]string{"process": string(rune('1' + i))}, "run "+args))
			}
			p.together(time.Second, all...)
		}
	}
	e.plan = plan("slow 300", "fast 100", "fast 100")
	reps := e.measurements(Options{Cores: 2})[0].Reps
	var r *Replay
	testkit.Fits(t, func() string { // on a busy machine the fast program may not get to its second result in time
		r = fakeReplay(t, e)
		require.NoError(t, r.Begin(context.Background()))
		var rec record
		require.NoError(t, json.Unmarshal([]byte(read(t, r, recordsFile)), &rec))
		require.Len(t, rec.Programs, 3)
		if n := len(rec.Programs[0].Results); n != reps {
			require.Greater(t, n, reps)
			return fmt.Sprintf("the slow program went on for %d results, until the fast ones had theirs", n)
		}
		if n := len(rec.Programs[1].Results); n <= reps {
			return fmt.Sprintf("the fast program stopped after %d results, before the slow one", n)
		}
		return ""
	})
	s, err := openStore(r.Dir)
	require.NoError(t, err)
	d, err := s.data(r.Options, e.measurements(r.Options))
	require.NoError(t, err)
	require.Equal(t, []string{"1", "2", "3"}, d.values("process"))

	for bad, want := range map[string]string{"deserter 1": "ended early", "refused 1": ""} {
		e.plan = plan("fast 100", bad)
		r := fakeReplay(t, e)
		if err := r.Begin(context.Background()); want != "" {
			require.ErrorContains(t, err, want)
		} else {
			require.NoError(t, err)
			require.Contains(t, read(t, r, ReportFile), "no rseq here")
		}
	}
}

// TestSwitches: the switches of a co-run are recorded, and divided by the repetitions. Where that is not permitted, the
// programs are measured all the same, and the report says once why.
func TestSwitches(t *testing.T) {
	e := experiment("004/x")
	e.plan = func(p *Plan) {
		p.together(time.Second, p.program(nil, "run slow 300"), p.program(nil, "run fast 100"))
		p.together(time.Second, p.program(nil, "run fast 300"), p.program(nil, "run fast 100"))
	}
	data := func(r *Replay) *Data {
		require.NoError(t, r.Begin(context.Background()))
		s, err := openStore(r.Dir)
		require.NoError(t, err)
		d, err := s.data(r.Options, e.measurements(r.Options))
		require.NoError(t, err)
		require.NoError(t, s.close())
		return d
	}
	t.Run("permitted", func(t *testing.T) {
		recording, err := recordSwitches()
		if err != nil {
			t.Skip(err)
		}
		require.NoError(t, recording.Stop())
		d := data(fakeReplay(t, e))
		require.Empty(t, d.Unrecorded)
		for _, r := range d.Rows {
			switches, _ := r.Figure("switches")
			require.Positive(t, switches)
		}
		// The fakes sleep and do not compute: they switch seldom.
		require.Less(t, d.where("workload=slow").stat("switches").Mean, 1e5)
	})
	t.Run("refused", func(t *testing.T) {
		defer func(was func() (*switches.Recording, error)) { recordSwitches = was }(recordSwitches)
		recordSwitches = func() (*switches.Recording, error) { return nil, errors.New("not here: ask for it") }
		r := fakeReplay(t, e)
		d := data(r)
		require.Equal(t, []string{"not here: ask for it"}, d.Unrecorded)
		require.NotEmpty(t, d.Rows)
		require.Zero(t, d.stat("switches").N)
		require.Equal(t, 1, strings.Count(read(t, r, ReportFile), "not here: ask for it"))
	})
}

// TestDirectory: a directory that cannot be used is refused before anything is measured, and nothing in it is lost.
func TestDirectory(t *testing.T) {
	begin := func(r *Replay) error { return r.Begin(context.Background()) }
	resume := func(r *Replay) error { return r.Resume(context.Background()) }
	replayed := func(r *Replay) {
		require.NoError(t, r.Begin(context.Background()))
	}
	for _, tt := range []struct {
		name    string
		prepare func(*Replay)
		run     func(*Replay) error
		want    string
	}{
		{"a file", func(r *Replay) { require.NoError(t, os.WriteFile(r.Dir, nil, 0o644)) }, begin,
			"choose another directory with -o"},
		{"an empty manifest", func(r *Replay) {
			replayed(r)
			require.NoError(t, os.WriteFile(filepath.Join(r.Dir, manifestFile), []byte("{}"), 0o644))
		}, resume, "does not say which machine was measured"},
		{"in use", func(r *Replay) {
			replayed(r)
			s, err := openStore(r.Dir)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, s.close()) })
		}, resume, "is in use by another replay"},
		{"not empty", func(r *Replay) {
			require.NoError(t, os.MkdirAll(r.Dir, 0o755))
			require.NoError(t, os.WriteFile(r.Dir+"/precious", nil, 0o644))
		}, begin, "is not empty"},
		{"a replay", replayed, begin, "go on with it by -resume"},
		{"nothing to resume", func(*Replay) {}, resume, "has no replay to resume"},
		{"manifest cut in half", func(r *Replay) {
			replayed(r)
			require.NoError(t, os.Truncate(filepath.Join(r.Dir, manifestFile), 20))
		}, resume, "cannot be resumed"},
		{"damaged line", func(r *Replay) {
			replayed(r)
			name := filepath.Join(r.Dir, recordsFile)
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(name, append([]byte("half of a li\n"), text...), 0o644))
		}, resume, "line 1 is damaged"},
		{"another machine", func(r *Replay) {
			replayed(r)
			name := filepath.Join(r.Dir, manifestFile)
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			text = bytes.Replace(text, []byte(`"cores": `), []byte(`"cores": 9`), -1)
			require.NoError(t, os.WriteFile(name, text, 0o644))
		}, resume, "has measurements of another machine"},
	} {
		r := fakeReplay(t, experiment("000/x", "fast 100"))
		tt.prepare(r)
		err := tt.run(r)
		var bad *input.Error
		require.ErrorAs(t, err, &bad, tt.name)
		require.ErrorContains(t, err, tt.want, tt.name)
	}
}

// TestHalfALine: the last line may be cut off. It is dropped, and measured again.
func TestHalfALine(t *testing.T) {
	e := experiment("000/x", "fast 100", "slow 300")
	r := fakeReplay(t, e)
	require.NoError(t, r.Begin(context.Background()))
	name := filepath.Join(r.Dir, recordsFile)
	info, err := os.Stat(name)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(name, info.Size()-30))
	s, err := openStore(r.Dir)
	require.NoError(t, err)
	require.Len(t, s.records, 1)
	require.NoError(t, r.run(context.Background(), s))
	s, err = openStore(r.Dir)
	require.NoError(t, err)
	require.Len(t, s.records, 2)
}

func TestDryRun(t *testing.T) {
	var b strings.Builder
	require.NoError(t, DryRun(&b, Experiments(), Options{Cores: 2, Seed: 42}))
	out := b.String()
	require.Contains(t, out, "  wsbench run chain -policy adaptive-published,adaptive,mbws,abp,abp+yields=each "+
		"-verbatim -workers 1 ")
	require.Contains(t, out, "\n        & run ")
	require.Contains(t, out, "which is made already")
	require.Regexp(t, `\d+ measurements, about \d+m`, out)
}

// TestDrawer: figures are drawn by a command that reads JSON, and are part of the page.
func TestDrawer(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "draw")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\ncat >$2/input.json\n"+
		"printf '<?xml version=\"1.0\"?>\\n<svg><text>drawn</text></svg>' >$2/000-x.svg\n"), 0o755))
	r := fakeReplay(t, experiment("000/x", "fast 100", "slow 300"))
	r.Drawer = Drawer{script}
	require.NoError(t, r.Begin(context.Background()))
	page := read(t, r, ReportFile)
	require.Contains(t, page, "<figure><svg><text>drawn</text></svg>")
	require.NotContains(t, page, "<?xml")
	var input struct{ Figures []*Figure }
	require.NoError(t, json.Unmarshal([]byte(read(t, r, "input.json")), &input))
	require.Equal(t, "000-x", input.Figures[0].File)
	require.Equal(t, 300.0, input.Figures[0].Series[1].Points[0].Y)

	r = fakeReplay(t, experiment("000/x", "fast 100"))
	r.Drawer = Drawer{"false"}
	require.ErrorContains(t, r.Begin(context.Background()), "drawing the figures: false")
	r = fakeReplay(t, experiment("000/x", "fast 100"))
	r.Drawer = Drawer{"true"}
	require.ErrorContains(t, r.Begin(context.Background()), "the drawer made no 000-x.svg")
}
