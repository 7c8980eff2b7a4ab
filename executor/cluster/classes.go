package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A class is a set of functions. A partition's message goes to the class of what the partition calls, and a worker
// takes the messages of a class only if it has all of its functions.
type class struct {
	V         int                  `json:"v"`
	Functions map[string]Signature `json:"functions"`
}

// A notice is what a worker says of itself, again and again. The server removes it a while after the last time.
type notice struct {
	V         int                  `json:"v"`
	Worker    string               `json:"worker"`
	ID        string               `json:"id"` // of the Worker, whatever its name is
	Functions map[string]Signature `json:"functions"`
	Slots     int                  `json:"slots"`
	Busy      int                  `json:"busy"` // slots in use
	Done      int64                `json:"done"` // messages handled
	Running   []Running            `json:"running,omitempty"`
}

// notesVersion is the version of classes and notices. A reader leaves out those of later versions.
const notesVersion = 1

const (
	classKeys  = "c.*"
	workerKeys = "w.*"
)

func classKey(name string) string  { return "c." + name }
func workerKey(name string) string { return "w." + name }

// classOf returns the class of some functions of a graph.
func (g *Graph) classOf(functions []int32) class {
	c := class{notesVersion, map[string]Signature{}}
	for _, f := range functions {
		c.Functions[g.prototypes[f].name] = g.prototypes[f].signature
	}
	return c
}

// name is the hash of the functions.
func (c class) name() string {
	words := []string{"class"}
	for name, s := range c.Functions {
		words = append(words, name+" "+string(s))
	}
	slices.Sort(words[1:])
	return hashText(words...)
}

// isCovered reports whether all functions of the class are among those.
func (c class) isCovered(functions map[string]Signature) bool {
	for name, s := range c.Functions {
		if functions[name] != s {
			return false
		}
	}
	return true
}

// coverage returns nil if one of the workers covers the class. Otherwise its error says which functions no worker has.
func (c class) coverage(workers []notice) error {
	for _, w := range workers {
		if c.isCovered(w.Functions) {
			return nil
		}
	}
	var missing []error
	var names []string
	for name, want := range c.Functions {
		names = append(names, name)
		m := &MissingError{Function: name, Want: want}
		has := false
		for _, w := range workers {
			if s := w.Functions[name]; s == want {
				has = true
			} else if s != "" {
				m.Have = s
			}
		}
		if !has {
			missing = append(missing, m)
		}
	}
	if len(missing) == 0 {
		slices.Sort(names)
		return fmt.Errorf("cluster: no worker has all the functions of one partition: %s", strings.Join(names, ", "))
	}
	return errors.Join(missing...)
}

// decodeNotice returns the notice of a worker. ok is false for what is none of this version.
func decodeNotice(value []byte) (n notice, ok bool) {
	err := json.Unmarshal(value, &n)
	return n, err == nil && n.V == notesVersion
}
