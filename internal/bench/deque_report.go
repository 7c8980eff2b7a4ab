package bench

import (
	"encoding/json"
	"io"
)

// A DequeReport writes the results of experiments with deques in one format.
type DequeReport interface {
	// Add takes the results of one experiment.
	Add([]DequeResult) error
	// Close writes what waits for the end.
	Close() error
}

// NewDequeReport returns a report in one of [Formats] on w. Notes are lines that follow the tables of format text.
func NewDequeReport(format string, w io.Writer, env *Environment, notes []string) (DequeReport, error) {
	switch format {
	case "text":
		return &dequeText{w: w, env: env, notes: notes}, nil
	case "bench":
		return dequeBench{newBenchReport(w, env)}, nil
	case "json":
		return dequeJSON{json.NewEncoder(w)}, nil
	}
	return nil, unknownFormat(format, Formats())
}

// dequeBench writes the Go benchmark format, one line per repetition.
type dequeBench struct{ *benchReport }

func (b dequeBench) Add(results []DequeResult) error {
	for i := range results {
		if err := b.line(results[i].benchName(), results[i].Metrics); err != nil {
			return err
		}
	}
	return nil
}

// dequeJSON writes one object per line and repetition.
type dequeJSON struct{ *json.Encoder }

func (j dequeJSON) Add(results []DequeResult) error {
	for i := range results {
		if err := j.Encode(&results[i]); err != nil {
			return err
		}
	}
	return nil
}

func (j dequeJSON) Close() error { return nil }
