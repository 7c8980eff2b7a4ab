package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/atomicfile"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/switches"
)

// A record is a measurement that has been made: a line of the file of records.
type record struct {
	Key      string        `json:"key"`
	Programs []programRuns `json:"programs"`
	Computed []computedRow `json:"computed,omitempty"`
	Refused  string        `json:"refused,omitempty"` // why it cannot be made on this machine
	TookNS   int64         `json:"took_ns"`           // all of it, with the preparation
	At       time.Time     `json:"at"`                // the end
	Begun    *beginning    `json:"begun,omitempty"`   // of an experiment, if this was its first measurement

	Unrecorded string `json:"unrecorded,omitempty"` // why the switches of a co-run were not recorded
}

// programRuns are the results of one program of a measurement.
type programRuns struct {
	Program
	Results []json.RawMessage `json:"results"` // as wsbench wrote them

	// Switches are those of a co-run from its begin to the last result, with what the program does between repetitions.
	// They are nil if they cannot be recorded.
	Switches *switches.Counts `json:"switches,omitempty"`

	Turns []turn `json:"turns,omitempty"` // of a measurement with rounds: one for each result
}

// A manifest says which replay a directory has. It is written first, so that a directory can always be resumed.
type manifest struct {
	Experiments []string                 `json:"experiments"`
	Full        bool                     `json:"full"`
	Reps        int                      `json:"reps"`
	Seed        uint64                   `json:"seed"`
	Unit        time.Duration            `json:"unit_ns,omitempty"`
	Cores       int                      `json:"cores"`
	Env         *environment.Environment `json:"environment"`
	Begun       time.Time                `json:"begun"`
}

const (
	manifestFile = "replay.json"
	recordsFile  = "results.jsonl"
)

// A store keeps what has been measured in a directory.
type store struct {
	dir      string
	manifest manifest
	records  map[string]*record
	file     *os.File
}

// createStore makes a store in a directory that is new or empty.
func createStore(dir string, m manifest) (*store, error) {
	switch entries, err := os.ReadDir(dir); {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, input.Errorf("%v: choose another directory with -o", err)
		}
	case err != nil:
		return nil, input.Errorf("%v: choose another directory with -o", err)
	case slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == manifestFile }):
		return nil, input.Errorf("%s has a replay: go on with it by -resume %[1]s, or choose another directory "+
			"with -o",
			dir)
	case len(entries) > 0:
		return nil, input.Errorf("%s is not empty: choose another directory with -o", dir)
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := writeFile(filepath.Join(dir, manifestFile), append(text, '\n')); err != nil {
		return nil, input.Errorf("%v: choose another directory with -o", err)
	}
	return openStore(dir)
}

// openStore opens the store of a replay that was begun before.
func openStore(dir string) (*store, error) {
	s := &store{dir: dir, records: make(map[string]*record)}
	text, err := os.ReadFile(filepath.Join(dir, manifestFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, input.Errorf("%s has no replay to resume: begin one with wsbench replay ID… -o %[1]s", dir)
	case err != nil:
		return nil, input.Errorf("%v", err)
	}
	err = json.Unmarshal(text, &s.manifest)
	if err == nil && s.manifest.Env == nil {
		err = errors.New("it does not say which machine was measured")
	}
	if err != nil {
		return nil, input.Errorf("%s: %v: the replay cannot be resumed", filepath.Join(dir, manifestFile), err)
	}
	name := filepath.Join(dir, recordsFile)
	if s.file, err = os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644); err != nil {
		return nil, input.Errorf("%v", err)
	}
	if err := lockFile(s.file); err != nil {
		return nil, errors.Join(input.Errorf("%s is in use by another replay: wait for its end (%v)", dir, err),
			s.file.Close())
	}
	if err := s.read(); err != nil {
		return nil, errors.Join(err, s.file.Close())
	}
	return s, nil
}

// read reads the records. The last line may be cut off, by a crash or a full disk: it is dropped, and its measurement
// is made again. Another line that is wrong is an error, for nobody knows how much else is.
func (s *store) read() error {
	r := bufio.NewReader(s.file)
	end := int64(0)
	for number := 1; ; number++ {
		line, err := r.ReadBytes('\n')
		switch {
		case err == io.EOF:
			if len(line) > 0 {
				if err := s.file.Truncate(end); err != nil {
					return err
				}
			}
			_, err := s.file.Seek(end, io.SeekStart)
			return err
		case err != nil:
			return err
		}
		var rec record
		if err := json.Unmarshal(line, &rec); err != nil {
			return input.Errorf("%s: line %d is damaged (%v): remove that line, and its measurement is made again",
				s.file.Name(), number, err)
		}
		s.records[rec.Key] = &rec
		end += int64(len(line))
	}
}

// add keeps a record: when add returns, a crash does not lose it.
func (s *store) add(r *record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := s.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("keeping a result: %w", err)
	}
	if err := s.file.Sync(); err != nil {
		return fmt.Errorf("keeping a result: %w", err)
	}
	s.records[r.Key] = r
	return nil
}

func (s *store) close() error { return s.file.Close() }

// data returns what the store has of the measurements.
func (s *store) data(o Options, measurements []*Measurement) (*Data, error) {
	d := &Data{Options: o, Env: s.manifest.Env}
	seen := make(map[string]bool)
	for _, m := range measurements {
		rec := s.records[m.Key()]
		if rec == nil || seen[m.Key()] {
			continue
		}
		seen[m.Key()] = true
		if rec.Refused != "" {
			d.Refused = appendNew(d.Refused, rec.Refused)
		}
		if rec.Begun != nil {
			d.Begun = append(d.Begun, rec.Begun)
		}
		if rec.Unrecorded != "" {
			d.Unrecorded = appendNew(d.Unrecorded, rec.Unrecorded)
		}
		for _, row := range rec.Computed {
			d.Rows = append(d.Rows, row.row())
		}
		for i, p := range rec.Programs {
			n := float64(len(p.Results))
			for rep, line := range p.Results {
				// The tags are those of the plan: they may have changed since.
				row, err := parseRow(line, m.Programs[i].Tags)
				if err != nil {
					return nil, fmt.Errorf("%s: %s: %w", filepath.Join(s.dir, recordsFile), rec.Key, err)
				}
				if s := p.Switches; s != nil {
					row.Figures = append(row.Figures,
						bench.Metric{Name: "switches", Value: float64(s.Total) / n},
						bench.Metric{Name: "to-thief-switches", Value: float64(s.ToThief) / n},
						bench.Metric{Name: "external-switches", Value: float64(s.External) / n},
						bench.Metric{Name: "lost-switch-records", Value: float64(s.Lost) / n})
				}
				if rep < len(p.Turns) {
					row.Figures = append(row.Figures, p.Turns[rep].metrics()...)
				}
				d.add(row)
			}
		}
	}
	return d, nil
}

// writeFile replaces a file by one with that content.
func writeFile(name string, content []byte) error {
	f, err := atomicfile.Create(name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, bytes.NewReader(content)); err != nil {
		return errors.Join(err, f.Abandon())
	}
	return f.Commit()
}

// quote returns a command as one would type it.
func quote(args []string) string { return strings.Join(args, " ") }
