package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"

	"golang.org/x/perf/benchfmt"
)

// benchText returns the content of a file in the Go benchmark format. It converts results in format json, which do not
// describe the machine.
func benchText(name string) ([]byte, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, BadInput("%v", err)
	}
	if !bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) {
		return b, nil
	}
	var text bytes.Buffer
	out := &benchLines{out: benchfmt.NewWriter(&text), units: make(map[string]bool)}
	for d := json.NewDecoder(bytes.NewReader(b)); ; {
		var raw json.RawMessage
		if err := d.Decode(&raw); errors.Is(err, io.EOF) {
			return text.Bytes(), nil
		} else if err != nil {
			return nil, BadInput("%s: %v", name, err)
		}
		line, values, err := jsonLine(raw)
		if err != nil {
			return nil, BadInput("%s: %v", name, err)
		}
		if err := out.line(line, values); err != nil {
			return nil, err
		}
	}
}

// jsonLine returns the benchmark name and the figures of a Result or a DequeResult.
func jsonLine(raw json.RawMessage) (name string, values []Metric, err error) {
	var d DequeResult
	if err := json.Unmarshal(raw, &d); err != nil {
		return "", nil, err
	}
	if d.Experiment != "" {
		return d.benchName(), d.Metrics, nil
	}
	var r Result
	if err := json.Unmarshal(raw, &r); err != nil {
		return "", nil, err
	}
	if r.Workload == "" {
		return "", nil, errors.New("an object is no result of wsbench")
	}
	return benchName(&r), r.values(), nil
}
