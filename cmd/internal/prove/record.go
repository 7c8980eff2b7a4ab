package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A record is the work that a layer has done so far.
type record struct {
	Layer   string    `json:"layer"`
	Commit  string    `json:"commit,omitempty"` // it holds for this one only; "" if the tree had other changes
	Machine string    `json:"machine"`
	Seed    uint64    `json:"seed"` // of the first piece; those of later pieces follow it
	Pieces  uint64    `json:"pieces"`
	Begun   time.Time `json:"begun"`
	Latest  time.Time `json:"latest"`
	Seconds float64   `json:"seconds"` // of work
	Done    int64     `json:"done"`
	Also    counts    `json:"also,omitempty"`  // other units that the tests say they have proved
	Parts   int       `json:"parts,omitempty"` // the number of parts to do; 0 if it is not known
	Results []part    `json:"results,omitempty"`
}

type counts map[string]int64

// A part is the result of one model program, or of one part of a command.
type part struct {
	Name    string  `json:"name"`
	Done    int64   `json:"done"` // schedules of a program, or units of a command
	States  int64   `json:"states,omitempty"`
	Seconds float64 `json:"seconds"`
}

func (r *record) has(name string) bool {
	for _, p := range r.Results {
		if p.Name == name {
			return true
		}
	}
	return false
}

// enter adds a part.
func (r *record) enter(p part) {
	r.Results = append(r.Results, p)
	r.Done += p.Done
	r.Seconds += p.Seconds
	r.Latest = now()
}

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

func (r *record) isComplete(y *layer) bool {
	if y.goal == 0 {
		return r.Parts > 0 && len(r.Results) >= r.Parts
	}
	return r.Done >= y.goal
}

// holdsFor reports whether the record is of the tree that has this commit. A tree without a commit has no records.
func (r *record) holdsFor(commit string) bool { return r != nil && commit != "" && r.Commit == commit }

// named describes the tree that has this commit.
func named(commit string) string {
	if commit == "" {
		return "a tree that is not committed"
	}
	return "commit " + commit
}

func recordFile(dir, layer string) string { return filepath.Join(dir, layer+".json") }

// load returns the layer's record in dir, or nil if it has none.
func load(dir, layer string) (*record, error) {
	text, err := os.ReadFile(recordFile(dir, layer))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &record{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, &fs.PathError{Op: "read", Path: recordFile(dir, layer), Err: err}
	}
	return r, nil
}

// save replaces the layer's record in one step, so that an interrupted save loses nothing.
func (r *record) save(dir string) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return replaceFile(recordFile(dir, r.Layer), append(text, '\n'))
}

func replaceFile(name string, text []byte) error {
	temp := name + ".new"
	if err := os.WriteFile(temp, text, 0o666); err != nil {
		return err
	}
	return os.Rename(temp, name)
}
