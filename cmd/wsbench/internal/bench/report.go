package bench

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
)

// A Report writes results of type R in one format.
type Report[R Record] struct{ to format }

// A format writes records.
type format interface {
	add(Record) error
	close() error // writes the rest
}

// Formats lists the formats of a report.
func Formats() []string { return []string{"text", "bench", "json"} }

// NewReport returns a report in one of [Formats] on w. Notes, if not nil, returns lines about all rows, which follow
// the tables of format text.
func NewReport[R Record](
	name string, w io.Writer, env *environment.Environment, notes func([]Row) []string,
) (*Report[R], error) {
	switch name {
	case "text":
		return &Report[R]{&textFormat{w: w, env: env, notes: notes}}, nil
	case "bench":
		return &Report[R]{newBenchFormat(w, env)}, nil
	case "json":
		return &Report[R]{jsonFormat{json.NewEncoder(w)}}, nil
	}
	return nil, unknownFormat(name, Formats())
}

// Add takes the results of one workload, probe or experiment.
func (r *Report[R]) Add(results []R) error {
	for _, result := range results {
		if err := r.to.add(result); err != nil {
			return err
		}
	}
	return nil
}

// Close writes the rest.
func (r *Report[R]) Close() error { return r.to.close() }

func unknownFormat(format string, known []string) error {
	return input.Unknown("format", format, known)
}

// CheckFormat returns an [input.Error] if known does not contain format.
func CheckFormat(format string, known []string) error {
	if slices.Contains(known, format) {
		return nil
	}
	return unknownFormat(format, known)
}

// jsonFormat writes one object per line and repetition.
type jsonFormat struct{ *json.Encoder }

func (j jsonFormat) add(r Record) error { return j.Encode(r) }
func (j jsonFormat) close() error       { return nil }
