package bench

import (
	"io"
	"strconv"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"

	"github.com/magpie-go/magpie/cmd/internal/environment"
)

// pkgPath is the value of the pkg key of the Go benchmark format.
const pkgPath = "github.com/magpie-go/magpie/cmd/wsbench"

// benchFormat writes the Go benchmark format, one line per repetition.
type benchFormat struct {
	out    *benchfmt.Writer
	config []benchfmt.Config
	units  map[string]bool // the units whose metadata is written
}

func newBenchFormat(w io.Writer, env *environment.Environment) *benchFormat {
	b := &benchFormat{out: benchfmt.NewWriter(w), units: make(map[string]bool)}
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

func (b *benchFormat) add(r Record) error {
	line := r.Row().benchResult()
	line.Config = b.config
	for _, v := range line.Values {
		if err := b.declare(v.Unit); err != nil {
			return err
		}
	}
	return b.out.Write(line)
}

func (b *benchFormat) close() error { return nil }

// declare writes a unit's metadata before the unit is first used.
func (b *benchFormat) declare(unit string) error {
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
