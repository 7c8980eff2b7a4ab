package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"

	"golang.org/x/perf/benchfmt"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
)

// benchText returns the content of a file in the Go benchmark format. It converts results in format json, which do not
// describe the machine.
func benchText(name string) ([]byte, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, input.Errorf("%v", err)
	}
	if !bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) {
		return b, nil
	}
	var text bytes.Buffer
	out := &benchFormat{out: benchfmt.NewWriter(&text), units: make(map[string]bool)}
	for d := json.NewDecoder(bytes.NewReader(b)); ; {
		var raw json.RawMessage
		if err := d.Decode(&raw); errors.Is(err, io.EOF) {
			return text.Bytes(), nil
		} else if err != nil {
			return nil, input.Errorf("%s: %v", name, err)
		}
		r, err := ReadRecord(raw)
		if err != nil {
			return nil, input.Errorf("%s: %v", name, err)
		}
		if err := out.add(r); err != nil {
			return nil, err
		}
	}
}
