// Package wire holds what the submitters and the workers of a queue write to each other: messages and records. All of
// them are JSON with a version.
package wire

import (
	"encoding/json"
	"time"
)

// Version is the version of the wire format that this code writes. It reads all versions up to it.
const Version = 1

// A Kind is what a message asks for.
type Kind string

const (
	// Start asks a worker to begin a run: to create its state, and to publish the partitions that wait for no other.
	Start Kind = "start"
	// Part asks a worker to run a partition.
	Part Kind = "part"
)

// A Message is an entry of the work queue. It may be delivered any number of times.
type Message struct {
	V     int    `json:"v"`
	Kind  Kind   `json:"kind"`
	Run   string `json:"run"`
	Part  int    `json:"part"`            // index of Plan.Parts; of Part
	Plan  string `json:"plan"`            // content hash of the plan in the object store
	Start *Begin `json:"start,omitempty"` // of Start
}

// Begin is what a state begins with.
type Begin struct {
	Name     string        `json:"name"`
	Parts    int           `json:"parts"`
	Deadline time.Duration `json:"deadline,omitempty"` // from the server's time of the Start message; 0: none
}

// A Phase is how far a run is.
type Phase string

// A run begins as Running, and each of the others is final.
const (
	Running   Phase = "running"
	Done      Phase = "done"
	Failed    Phase = "failed"
	Cancelled Phase = "cancelled"
)

// A State is the record of a run. Its changes are made by compare-and-set, from Running to a final phase.
type State struct {
	V     int      `json:"v"`
	Phase Phase    `json:"phase"`
	Plan  string   `json:"plan"`
	Begin Begin    `json:"begin"`
	Error *Failure `json:"error,omitempty"` // of Failed and Cancelled
}

// A Failure says why a run has failed.
type Failure struct {
	Part   int    `json:"part"` // -1: none
	Task   string `json:"task,omitempty"`
	Worker string `json:"worker,omitempty"`
	Text   string `json:"text"`
	Poison bool   `json:"poison,omitempty"` // the partition was given up: a copy of its message is a dead letter
}

// An Output is the record of the results of a partition: the values that other partitions or the submitter need. It is
// created once; the first writer wins.
type Output struct {
	V      int           `json:"v"`
	Part   int           `json:"part"`
	Worker string        `json:"worker"`
	Values map[int]Value `json:"values,omitempty"` // by the index of the task in the graph
	Took   time.Duration `json:"took"`
}

// A Value is the encoded result of a call.
type Value struct {
	Data   json.RawMessage `json:"data,omitempty"`   // as the codec JSON wrote it
	Bytes  []byte          `json:"bytes,omitempty"`  // as another codec wrote it
	Object string          `json:"object,omitempty"` // its key in the object store, if it is large
	Absent bool            `json:"absent,omitempty"` // the task did not run: a condition chose otherwise
}

// A Plan is a graph cut into partitions. It is stored once, under the hash of its bytes.
type Plan struct {
	V     int             `json:"v"`
	Graph json.RawMessage `json:"graph"` // as cluster.Graph is encoded; the protocol does not look into it
	Parts []PlanPart      `json:"parts"`
}

// A PlanPart is one partition. Quotients of plans are acyclic.
type PlanPart struct {
	Tasks []int  `json:"tasks"`           // indices in the graph
	Preds []int  `json:"preds,omitempty"` // partitions whose outputs it waits for, in ascending order
	Succs []int  `json:"succs,omitempty"` // partitions that wait for its output, in ascending order
	Class string `json:"class"`           // the hash of the functions that a worker must have; part of the subject
}

// A Marks is the dependency record of a partition, or of the end of a run: which of the predecessors have an output.
// Marks are only ever added, by compare-and-set.
type Marks struct {
	V    int    `json:"v"`
	N    int    `json:"n"` // how many predecessors there are
	Bits []byte `json:"bits"`
}
