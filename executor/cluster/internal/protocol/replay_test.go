package protocol

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// A program is a call of the code under test, by a worker, the submitter or the canceller. What it does next is a
// function of the results that its calls of Store, Delivery, States and Runner have had so far: a node of a tree stands
// for these. To learn it, the program is called anew, the results are replayed, and the call after them panics. Each
// node is computed once. Random walks do not come back to a node: there a program is a coroutine, see live_test.go.

// An opKind is a kind of call that is a step: the world may change before it and after it.
type opKind int

const (
	opGet opKind = iota
	opCreate
	opUpdate
	opPublish
	opBury
	opAck
	opRun
	opPut     // of the plan
	opPlan    // may find no plan
	opAge     // may be old
	opEmpty   // of the queue
	opReturns // the program has returned
)

func (k opKind) String() string {
	return [...]string{"get", "create", "update", "publish", "bury", "ack", "run", "put", "plan", "age", "empty",
		"return"}[k]
}

// An op is a call of a program, with its arguments.
type op struct {
	kind     opKind
	keys     []int  // of Get; one of Create and Update
	value    int    // of Create and Update; the raw message of Bury
	revision uint64 // of Update
	posts    []int  // messages of Publish
	part     int    // of Run
	wrong    string // what is wrong about the arguments
	err      error  // what the program has returned
	state    wire.State
}

// A verdict is the outcome of a call, apart from records.
type verdict byte

const (
	fine     verdict = iota
	refused          // ErrExists or ErrConflict; IsEmpty: it is not
	inDoubt          // an error that says nothing
	fails            // Run: a function has returned an error
	ended            // Run: its context is cancelled, since the state is final
	tooLate          // Run: its context has ended at the deadline; Age: it is old
	notFound         // Plan
	lacksIt          // Run: this worker has no such function
)

// A result is what a call has returned.
type result struct {
	verdict verdict
	records []found
}

// found is a record: a value by its number, or none if the revision is 0.
type found struct {
	value    int
	revision uint64
}

// A node is a program that has got as far as its next call.
type node struct {
	id     int
	op     op
	from   *node // the node before the last result, or nil
	last   result
	depth  int
	run    *script
	onward map[string]*node
	live   *coroutine // of a walk, else nil
}

// A script is a program at its beginning.
type script struct {
	name string
	call func(*env) (wire.State, error)
}

// errDoubt is what a Store returns if it does not know the effect.
var errDoubt = errors.New("no answer")

// paused is what a program panics with at the call after the replayed ones.
type paused struct{ op op }

// An env is what a program sees: it implements Store, States, Plans, Runner and Delivery.
type env struct {
	*texts
	results []result
	message int  // of a worker
	again   bool // it is a redelivery
	cancel  context.CancelCauseFunc
	live    *coroutine // of a walk, else nil
}

// texts has what was written so far, by number, and the configuration.
type texts struct {
	*scenario
	values numbers
	keys   numbers
	nodes  int
	serial []int // the outputs of partitions, as the serial run writes them: numbers of values
	raw    []int // the messages of partitions
	begin  int   // the Start message
	alien  []int // messages that nobody of this queue has written

	states   map[int]wire.State // decoded values
	walks    bool               // programs are coroutines
	handlers map[int]*node      // first nodes of workers, by message and whether it is a redelivery
}

// numbers gives strings numbers.
type numbers struct {
	of   map[string]int
	text []string
}

func (n *numbers) number(s string) int {
	i, known := n.of[s]
	if !known {
		i = len(n.text)
		if n.of == nil {
			n.of = make(map[string]int)
		}
		n.of[s] = i
		n.text = append(n.text, s)
	}
	return i
}

// next returns the node after n when its call has had the result r.
func (n *node) next(t *texts, r result) *node {
	if n.live != nil {
		n.op = n.live.goOn(r)
		return n
	}
	key := []byte{byte(r.verdict)}
	for _, f := range r.records {
		key = binary.AppendUvarint(key, uint64(f.value))
		key = binary.AppendUvarint(key, f.revision)
	}
	if to := n.onward[string(key)]; to != nil {
		return to
	}
	to := &node{from: n, last: r, depth: n.depth + 1, run: n.run}
	to.advance(t)
	if n.onward == nil {
		n.onward = make(map[string]*node)
	}
	n.onward[string(key)] = to
	return to
}

// advance computes the next call of a new node.
func (n *node) advance(t *texts) {
	e := &env{texts: t}
	if n.depth > 0 {
		e.results = make([]result, n.depth)
		for at := n; at.from != nil; at = at.from {
			e.results[at.depth-1] = at.last
		}
	}
	n.id = t.nodes
	t.nodes++
	defer func() {
		switch p := recover().(type) {
		case nil:
		case paused:
			n.op = p.op
		default:
			panic(p)
		}
	}()
	state, err := n.run.call(e)
	if len(e.results) > 0 {
		panic("a replayed program makes fewer calls")
	}
	n.op = op{kind: opReturns, err: err, state: state}
}

func (e *env) do(o op) result {
	if e.live != nil {
		return e.live.do(o)
	}
	if len(e.results) == 0 {
		panic(paused{o})
	}
	r := e.results[0]
	e.results = e.results[1:]
	return r
}

func (e *env) Get(_ context.Context, keys ...string) ([]Record, error) {
	numbers := make([]int, len(keys))
	for i, key := range keys {
		numbers[i] = e.keys.number(key)
	}
	r := e.do(op{kind: opGet, keys: numbers})
	if r.verdict == inDoubt {
		return nil, errDoubt
	}
	records := make([]Record, len(keys))
	for i, f := range r.records {
		if f.revision != 0 {
			records[i] = Record{[]byte(e.values.text[f.value]), f.revision}
		}
	}
	return records, nil
}

func (e *env) Create(_ context.Context, key string, value []byte) error {
	r := e.do(op{kind: opCreate, keys: []int{e.keys.number(key)}, value: e.values.number(string(value))})
	return [...]error{nil, ErrExists, errDoubt}[r.verdict]
}

func (e *env) Update(_ context.Context, key string, value []byte, revision uint64) error {
	r := e.do(op{kind: opUpdate, keys: []int{e.keys.number(key)}, value: e.values.number(string(value)),
		revision: revision})
	return [...]error{nil, ErrConflict, errDoubt}[r.verdict]
}

// Pause is no step.
func (e *env) Pause(context.Context, int) error { return nil }

func (e *env) Publish(_ context.Context, posts ...Post) error {
	o := op{kind: opPublish}
	for _, p := range posts {
		o.posts = append(o.posts, e.values.number(string(wire.Encode(p.Message))))
		if p.Trace != someTrace {
			o.wrong = "published without the trace of the run"
		}
		if p.Message.Kind == wire.Part && p.Class != e.plan.Parts[p.Message.Part].Class {
			o.wrong = "published to a wrong class"
		}
	}
	return [...]error{nil, nil, errDoubt}[e.do(o).verdict]
}

func (e *env) PutObject(context.Context, []byte) (string, error) {
	e.do(op{kind: opPut})
	return planHash, nil
}

func (e *env) GetObject(context.Context, string) ([]byte, error) { panic("not called by the protocol") }

func (e *env) Plan(_ context.Context, hash string) (*wire.Plan, error) {
	if (e.hidesPlan || e.noPlan || e.killing) && e.do(op{kind: opPlan}).verdict == notFound || hash != planHash {
		return nil, fmt.Errorf("plan %s: %w", hash, ErrMissing)
	}
	return e.plan, nil
}

func (e *env) Bury(_ context.Context, l Letter) error {
	return [...]error{nil, nil, errDoubt}[e.do(op{kind: opBury, value: e.values.number(string(l.Raw))}).verdict]
}

// Known is the empty cache: a Get takes its place, which may be stale as well.
func (e *env) Known(string) Record { return Record{} }

func (e *env) Until(ctx context.Context, _ string) (context.Context, context.CancelFunc) {
	ctx, e.cancel = context.WithCancelCause(ctx)
	return ctx, func() { e.cancel(nil) }
}

func (e *env) Run(_ context.Context, _ string, plan *wire.Plan, part int, inputs []wire.Output) (wire.Output, error) {
	o := op{kind: opRun, part: part}
	for i, pred := range plan.Parts[part].Preds {
		if i >= len(inputs) || string(wire.Encode(inputs[i])) != e.values.text[e.serial[pred]] {
			o.wrong = fmt.Sprintf("partition %d begins without the output of %d", part, pred)
		}
	}
	switch e.do(o).verdict {
	case fails:
		return wire.Output{}, &TaskError{Task: "t", Err: errors.New("fails")}
	case lacksIt:
		return wire.Output{}, errors.New("no function of this name")
	case ended:
		e.cancel(ErrEnded)
		return wire.Output{}, context.Canceled
	case tooLate:
		e.cancel(errDeadline)
		return wire.Output{}, context.DeadlineExceeded
	}
	return serialOutput(part, inputs), nil
}

// serialOutput is the function that all partitions compute: it tells outputs that differ in anything before.
func serialOutput(part int, inputs []wire.Output) wire.Output {
	sum := uint32(part + 1)
	for _, input := range inputs {
		for _, b := range input.Values[0].Data {
			sum = sum*16777619 ^ uint32(b)
		}
	}
	return wire.Output{Values: map[int]wire.Value{0: {Data: wire.Encode(sum)}}}
}

func (e *env) Raw() []byte { return []byte(e.values.text[e.message]) }

func (e *env) Deliveries() uint64 {
	if e.again {
		return 2
	}
	return 1
}

var startedAt = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (e *env) Stored() time.Time { return startedAt }

func (e *env) Age() time.Duration {
	if e.ages && e.do(op{kind: opAge}).verdict == tooLate {
		return e.limits.Wait
	}
	return 0
}

// IsEmpty implements Stock.
func (e *env) IsEmpty(context.Context) (bool, error) {
	return e.do(op{kind: opEmpty}).verdict == fine, nil
}

func (e *env) Ack(context.Context) error {
	return [...]error{nil, nil, errDoubt}[e.do(op{kind: opAck}).verdict]
}

func (e *env) Trace() wire.Trace { return someTrace }

// Nak is no step: the message is free when the program returns.
func (e *env) Nak(context.Context, time.Duration) error { return nil }

// inOrder is Worker.Each of the programs.
func inOrder(n int, f func(int) error) error {
	for i := range n {
		if err := f(i); err != nil {
			return err
		}
	}
	return nil
}

// handling returns the program of a worker that has a delivery.
func (t *texts) handling(message int, again bool) *node {
	key := message << 1
	if again {
		key |= 1
	}
	n := t.handlers[key]
	if n == nil || t.walks {
		name := fmt.Sprintf("worker with %s, again %v", t.values.text[message], again)
		n = t.begins(name, func(e *env) (wire.State, error) {
			e.message, e.again = message, again
			w := &Worker{Name: "w", Store: e, States: e, Plans: e, Runner: e, Limits: e.limits, Each: inOrder}
			return wire.State{}, w.Handle(context.Background(), e)
		})
		t.handlers[key] = n
	}
	return n
}

// submitting returns the program of the submitter.
func (t *texts) submitting() *node {
	return t.begins("submitter", func(e *env) (wire.State, error) {
		return wire.State{}, Submit(context.Background(), e, runName, "c", nil, e.beginning(), someTrace)
	})
}

// cancelling returns the program of the canceller.
func (t *texts) cancelling() *node {
	return t.begins("canceller", func(e *env) (wire.State, error) {
		return Cancel(context.Background(), e, runName, "enough")
	})
}

// mending returns the program of someone who waits for the run, and calls Resume if it stands still.
func (t *texts) mending() *node {
	return t.begins(mender, func(e *env) (wire.State, error) {
		still, err := StandsStill(context.Background(), e, e, runName)
		if still {
			_, err = Resume(context.Background(), e, e, runName, someTrace)
		}
		return wire.State{}, err
	})
}

const mender = "mender"

func (t *texts) begins(name string, call func(*env) (wire.State, error)) *node {
	n := &node{run: &script{name, call}}
	if t.walks {
		n.live = newCoroutine(t, call)
		n.op = n.live.goOn(result{})
	} else {
		n.advance(t)
	}
	return n
}
