package bench

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
)

// A Report writes results of type R in one format.
type Report[R any] interface {
	// Add takes the results of one workload, probe or experiment.
	Add([]R) error
	// Close writes the rest.
	Close() error
}

// Formats lists the formats of a report.
func Formats() []string { return []string{"text", "bench", "json"} }

// NewReport returns a report in one of [Formats] on w. Notes are lines after the tables of format text.
func NewReport(format string, w io.Writer, env *Environment, notes []string) (Report[Result], error) {
	return newReport(format, w, env, notes, style[Result]{writeResults, (*Result).benchLine})
}

// NewDequeReport is [NewReport] for experiments with deques.
func NewDequeReport(format string, w io.Writer, env *Environment, notes []string) (Report[DequeResult], error) {
	return newReport(format, w, env, notes, style[DequeResult]{writeExperiments, (*DequeResult).benchLine})
}

// A style has what the formats need for results of type R.
type style[R any] struct {
	text  func(*strings.Builder, []R)
	bench func(*R) (name string, values []Metric)
}

func newReport[R any](format string, w io.Writer, env *Environment, notes []string, s style[R]) (Report[R], error) {
	switch format {
	case "text":
		return &textReport[R]{w: w, env: env, notes: notes, tables: s.text}, nil
	case "bench":
		return benchReport[R]{newBenchLines(w, env), s.bench}, nil
	case "json":
		return jsonReport[R]{json.NewEncoder(w)}, nil
	}
	return nil, unknownFormat(format, Formats())
}

func unknownFormat(format string, known []string) error {
	return BadInput("no format %q: there are %s", format, join(known))
}

// CheckFormat returns an [InputError] if known does not contain format.
func CheckFormat(format string, known []string) error {
	if slices.Contains(known, format) {
		return nil
	}
	return unknownFormat(format, known)
}

// jsonReport writes one object per line and repetition.
type jsonReport[R any] struct{ *json.Encoder }

func (j jsonReport[R]) Add(results []R) error {
	for i := range results {
		if err := j.Encode(&results[i]); err != nil {
			return err
		}
	}
	return nil
}

func (j jsonReport[R]) Close() error { return nil }
