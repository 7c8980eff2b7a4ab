// Package wire holds the messages and the records of a queue: what its submitters and workers write to each other. All
// of them are JSON with a version.
package wire

import (
	"encoding/json"
	"strconv"
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
	Part  int    `json:"part,omitempty"`  // index of Plan.Parts; of Part
	Plan  string `json:"plan"`            // content hash of the plan in the object store
	Begin *Begin `json:"begin,omitempty"` // of Start
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

// A State is the record of a run. Its one change is made by compare-and-set, from Running to a final phase.
type State struct {
	V     int       `json:"v"`
	Phase Phase     `json:"phase"`
	Plan  string    `json:"plan,omitempty"` // none if the run was cancelled before it began
	Begin Begin     `json:"begin"`
	Began time.Time `json:"began,omitzero"`  // when the server stored the Start message
	Error *Failure  `json:"error,omitempty"` // of Failed and Cancelled
}

// Final reports whether the state will not change any more.
func (s State) Final() bool { return s.Phase != Running }

// A Reason is a class of failures.
type Reason string

const (
	Task     Reason = "task"     // a function has returned an error or panicked, and no retry is left
	Poison   Reason = "poison"   // workers have died with the partition: its message is a dead letter
	Lost     Reason = "lost"     // the plan or an input cannot be found: the message is a dead letter
	Corrupt  Reason = "corrupt"  // a record cannot be read, or contradicts the plan: the message is a dead letter
	Deadline Reason = "deadline" // the deadline has passed
	Cancel   Reason = "cancel"   // Cancel was called
	Gone     Reason = "gone"     // the Start message has waited too long, or the records of the run were removed
)

// A Failure says why a run has failed or was cancelled.
type Failure struct {
	Reason Reason `json:"reason"`
	Part   int    `json:"part"` // -1: none
	Task   string `json:"task,omitempty"`
	Worker string `json:"worker,omitempty"`
	Text   string `json:"text"`
}

// An Output is the record of the results of a partition: the values that other partitions or the submitter need. It is
// created once, and the first one counts.
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

// A Marks is a record of a set that only grows, by compare-and-set: which predecessors of a partition have an output,
// or which sinks of a run, or which blocks of these are complete.
type Marks struct {
	V    int    `json:"v"`
	N    int    `json:"n"`    // how many members the complete set has
	Bits []byte `json:"bits"` // bit i%8 of byte i/8 is member i
}

// Add adds member i.
func (m *Marks) Add(i int) { m.Bits[i/8] |= 1 << (i % 8) }

// Has reports whether member i is there.
func (m *Marks) Has(i int) bool { return m.Bits[i/8]&(1<<(i%8)) != 0 }

// Complete reports whether all members are there.
func (m *Marks) Complete() bool {
	for i := range m.N {
		if !m.Has(i) {
			return false
		}
	}
	return true
}

// A Tries is the record of the attempts at a message that have brought no output.
type Tries struct {
	V       int    `json:"v"`
	Failed  int    `json:"failed,omitempty"`  // the functions have returned an error
	Lost    int    `json:"lost,omitempty"`    // begun on a redelivery, and not come back: the worker may have died
	Missing int    `json:"missing,omitempty"` // the plan or an input was not found
	Text    string `json:"text,omitempty"`    // of the last error
}

// ID is the same for all copies of a message, and no other message has it.
func (m Message) ID() string {
	if m.Kind == Start {
		return m.Run + ".start"
	}
	return m.Run + "." + strconv.Itoa(m.Part)
}
