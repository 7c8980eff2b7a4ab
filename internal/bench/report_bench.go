package bench

import (
	"fmt"
	"io"
	"strconv"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"
)

// pkgPath is the value of the pkg key of the Go benchmark format.
const pkgPath = "github.com/magpie-go/magpie/cmd/wsbench"

// benchReport writes the Go benchmark format, one line per repetition.
type benchReport[R any] struct {
	*benchLines
	tell func(*R) (name string, values []Metric)
}

func (b benchReport[R]) Add(results []R) error {
	for i := range results {
		if err := b.line(b.tell(&results[i])); err != nil {
			return err
		}
	}
	return nil
}

func (b benchReport[R]) Close() error { return nil }

// benchLines are lines of the Go benchmark format.
type benchLines struct {
	out    *benchfmt.Writer
	config []benchfmt.Config
	units  map[string]bool // the units whose metadata is written
}

func newBenchLines(w io.Writer, env *Environment) *benchLines {
	b := &benchLines{out: benchfmt.NewWriter(w), units: make(map[string]bool)}
	for _, c := range [][2]string{
		{"goos", env.GOOS},
		{"goarch", env.GOARCH},
		{"pkg", pkgPath},
		{"cpu", env.CPU},
		{"kernel", env.Kernel},
		{"gomaxprocs", strconv.Itoa(env.GOMAXPROCS)},
		{"go", env.Go},
		{"commit", env.Commit},
	} {
		if c[1] != "" {
			b.config = append(b.config, benchfmt.Config{Key: c[0], Value: []byte(c[1]), File: true})
		}
	}
	return b
}

// line writes one repetition of the benchmark of that name.
func (b *benchLines) line(name string, values []Metric) error {
	line := &benchfmt.Result{Config: b.config, Name: benchfmt.Name(name), Iters: 1}
	for _, m := range values {
		if err := b.declare(m.Name); err != nil {
			return err
		}
		line.Values = append(line.Values, benchfmt.Value{Value: m.Value, Unit: m.Name})
	}
	return b.out.Write(line)
}

// declare writes a unit's metadata before the unit is first used.
func (b *benchLines) declare(unit string) error {
	if b.units[unit] || better[unit] == "" {
		return nil
	}
	b.units[unit] = true
	_, tidy := benchunit.Tidy(1, unit)
	return b.out.Write(&benchfmt.UnitMetadata{
		UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: tidy, Key: "better"},
		OrigUnit:        unit,
		Value:           better[unit],
	})
}

func (r *Result) benchLine() (name string, values []Metric) { return benchName(r), r.values() }

// benchName returns the name of a result's benchmark, without the word Benchmark, which the writer adds.
func benchName(r *Result) string {
	kind := "Run"
	if r.isProbe() {
		kind = "Probe"
	}
	name := fmt.Sprintf("%s/workload=%s/engine=%s", kind, r.Workload, r.Engine)
	if r.Policy != None {
		name += fmt.Sprintf("/policy=%s/deque=%s/forks=%s", r.Policy, r.Deque, r.Forks)
	}
	name += fmt.Sprintf("/workers=%d/n=%d", r.Workers, r.N)
	if r.Inputs != "" {
		name += "/" + r.Inputs
	}
	if r.Whole {
		name += "/window=whole"
	}
	if r.Pinned {
		name += "/pinned=true"
	}
	if r.isDivision() {
		if r.Queue != None {
			name += "/queue=" + r.Queue
		}
		name += fmt.Sprintf("/tasks=%d", r.Tasks)
	}
	return name
}
