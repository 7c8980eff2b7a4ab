package bench

import (
	"encoding/json"
	"io"
	"slices"
)

// A Report writes results in one format.
type Report interface {
	// Add takes the results of one workload or probe.
	Add([]Result) error
	// Close writes what waits for the end.
	Close() error
}

// Formats lists the formats of a report.
func Formats() []string { return []string{"text", "bench", "json"} }

// NewReport returns a report in one of [Formats] on w. Notes are lines that follow the tables of format text.
func NewReport(format string, w io.Writer, env *Environment, notes []string) (Report, error) {
	switch format {
	case "text":
		return &textReport{w: w, env: env, notes: notes}, nil
	case "bench":
		return newBenchReport(w, env), nil
	case "json":
		return jsonReport{json.NewEncoder(w)}, nil
	}
	return nil, unknownFormat(format, Formats())
}

func unknownFormat(format string, known []string) error {
	return BadInput("no format %q: there are %s", format, join(known))
}

// CheckFormat reports a format that is none of those known.
func CheckFormat(format string, known []string) error {
	if slices.Contains(known, format) {
		return nil
	}
	return unknownFormat(format, known)
}

// jsonReport writes one object per line and repetition.
type jsonReport struct{ *json.Encoder }

func (j jsonReport) Add(results []Result) error {
	for i := range results {
		if err := j.Encode(&results[i]); err != nil {
			return err
		}
	}
	return nil
}

func (j jsonReport) Close() error { return nil }
