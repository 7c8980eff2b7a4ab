package protocol

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
	"github.com/magpie-go/magpie/internal/testkit"
)

// A memory is a Store that keeps everything and fails never. Its clients are one at a time.
type memory struct {
	records map[string]Record
	posts   []Post
	objects map[string][]byte
	letters []string
}

func newMemory() *memory { return &memory{records: map[string]Record{}, objects: map[string][]byte{}} }

func (m *memory) Get(_ context.Context, keys ...string) (found []Record, err error) {
	for _, key := range keys {
		found = append(found, m.records[key])
	}
	return found, nil
}

func (m *memory) Create(_ context.Context, key string, value []byte) error {
	if m.records[key].Revision != 0 {
		return ErrExists
	}
	m.records[key] = Record{value, 1}
	return nil
}

func (m *memory) Update(_ context.Context, key string, value []byte, revision uint64) error {
	if m.records[key].Revision != revision {
		return ErrConflict
	}
	m.records[key] = Record{value, revision + 1}
	return nil
}

func (m *memory) Pause(context.Context, int) error { return nil }

func (m *memory) Publish(_ context.Context, posts ...Post) error {
	m.posts = append(m.posts, posts...)
	return nil
}

func (m *memory) IsEmpty(context.Context) (bool, error) { return len(m.posts) == 0, nil }

func (m *memory) PutObject(_ context.Context, value []byte) (string, error) {
	hash := fmt.Sprintf("%x", value)
	m.objects[hash] = value
	return hash, nil
}

func (m *memory) GetObject(_ context.Context, hash string) ([]byte, error) {
	value, stored := m.objects[hash]
	if !stored {
		return nil, ErrMissing
	}
	return value, nil
}

func (m *memory) Bury(_ context.Context, l Letter) error {
	m.letters = append(m.letters, string(l.Raw)+": "+l.Why)
	return nil
}

func (m *memory) Known(string) Record { return Record{} }

func (m *memory) Until(ctx context.Context, _ string) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

func (m *memory) Plan(ctx context.Context, hash string) (*wire.Plan, error) {
	data, err := m.GetObject(ctx, hash)
	if err != nil {
		return nil, err
	}
	return wire.DecodePlan(data)
}

// runs is a Runner.
type runs func(part int) (wire.Output, error)

func (r runs) Run(_ context.Context, _ string, _ *wire.Plan, part int, inputs []wire.Output) (wire.Output, error) {
	if r != nil {
		return r(part)
	}
	return serialOutput(part, inputs), nil
}

// delivered is a Delivery.
type delivered struct {
	raw    []byte
	times  uint64
	stored time.Time
	age    time.Duration
	trace  wire.Trace
	acked  bool
	delay  time.Duration // of Nak; -1: it was not called
}

func deliver(raw []byte, times uint64) *delivered {
	return &delivered{raw: raw, times: times, stored: startedAt, delay: -1}
}

func (d *delivered) Raw() []byte               { return d.raw }
func (d *delivered) Deliveries() uint64        { return d.times }
func (d *delivered) Stored() time.Time         { return d.stored }
func (d *delivered) Age() time.Duration        { return d.age }
func (d *delivered) Trace() wire.Trace         { return d.trace }
func (d *delivered) Ack(context.Context) error { d.acked = true; return nil }
func (d *delivered) Nak(_ context.Context, delay time.Duration) error {
	d.delay = delay
	return nil
}

func (m *memory) worker(r runs) *Worker {
	return &Worker{Name: "w", Store: m, States: m, Plans: m, Runner: r, Limits: Defaults, Each: inOrder}
}

// drain handles all messages of the queue.
func (m *memory) drain(t *testing.T, r runs) {
	t.Helper()
	for len(m.posts) > 0 {
		p := m.posts[0]
		m.posts = m.posts[1:]
		d := deliver(wire.Encode(p.Message), 1)
		d.trace = p.Trace
		if p.Trace != someTrace {
			t.Errorf("message %s has trace %v", p.ID, p.Trace)
		}
		if err := m.worker(r).Handle(t.Context(), d); err != nil || !d.acked {
			t.Fatalf("message %s: acked %v, %v", p.ID, d.acked, err)
		}
	}
}

// someTrace is the trace of all runs of the tests.
var someTrace = wire.Trace{Parent: "parent", State: "state"}

func submitted(t *testing.T, plan *wire.Plan) *memory {
	t.Helper()
	m := newMemory()
	if err := Submit(t.Context(), m, "run", "c", wire.Encode(plan), wire.Begin{Name: "x"}, someTrace); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *memory) state(t *testing.T) wire.State {
	t.Helper()
	s, err := Attach(t.Context(), m, "run")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSubmit: a run from Submit to its outputs, on one worker.
func TestSubmit(t *testing.T) {
	m := submitted(t, diamond)
	if _, err := Attach(t.Context(), m, "run"); !errors.Is(err, ErrUnknown) {
		t.Fatalf("before it begins: %v", err)
	}
	if _, err := Outputs(t.Context(), m, "run", 0); !errors.Is(err, ErrMissing) {
		t.Fatalf("before it begins: %v", err)
	}
	m.drain(t, nil)
	if s := m.state(t); s.Phase != wire.Done || s.Begin.Name != "x" || !s.Began.Equal(startedAt) {
		t.Fatalf("the state is %+v", s)
	}
	outputs, err := Outputs(t.Context(), m, "run", 3, 0)
	if err != nil || outputs[0].Part != 3 || outputs[1].Part != 0 {
		t.Fatalf("the outputs are %v, %v", outputs, err)
	}
}

// TestSubmittedAgain: a run that is submitted again, the same or cut otherwise, goes on as it was submitted first.
func TestSubmittedAgain(t *testing.T) {
	m := submitted(t, diamond)
	if err := Submit(t.Context(), m, "run", "c", wire.Encode(diamond), wire.Begin{Name: "y"}, someTrace); err != nil {
		t.Fatal(err)
	}
	if err := Submit(t.Context(), m, "run", "c", wire.Encode(single), wire.Begin{Name: "z"}, someTrace); err != nil {
		t.Fatal(err)
	}
	m.drain(t, func(part int) (wire.Output, error) {
		if len(m.letters) > 0 {
			return wire.Output{}, errors.New("a message was buried")
		}
		return serialOutput(part, nil), nil
	})
	if s := m.state(t); s.Phase != wire.Done || s.Begin.Name != "x" || len(m.letters) > 0 {
		t.Fatalf("the state is %+v, letters %v", s, m.letters)
	}
	if _, err := Outputs(t.Context(), m, "run", 0, 1, 2, 3); err != nil {
		t.Error(err)
	}
}

// TestResume: a run whose queue has lost its messages is led on.
func TestResume(t *testing.T) {
	m := submitted(t, diamond)
	if _, err := Resume(t.Context(), m, m, "run", someTrace); !errors.Is(err, ErrUnknown) {
		t.Fatalf("before it begins: %v", err)
	}
	start := m.posts[0]
	m.posts = nil
	if err := m.worker(nil).Handle(t.Context(), deliver(wire.Encode(start.Message), 1)); err != nil {
		t.Fatal(err)
	}
	for _, want := range [][]string{{"run.0"}, {"run.1", "run.2"}, {"run.3"}, {"run.3"}} {
		m.posts = nil
		n, err := Resume(t.Context(), m, m, "run", someTrace)
		if err != nil || n != len(want) || len(m.posts) != n {
			t.Fatalf("%d messages instead of %v, %v", n, want, err)
		}
		for i, p := range m.posts {
			if p.Message.ID() != want[i] || p.ID != "" {
				t.Errorf("message %s, ID %q, instead of %s without", p.Message.ID(), p.ID, want[i])
			}
			part := p.Message.Part
			o := serialOutput(part, nil)
			o.V, o.Part = wire.Version, part
			if err := m.Create(t.Context(), OutputKey("run", part), wire.Encode(o)); err != nil && n > 1 {
				t.Fatal(err)
			}
		}
	}
	m.drain(t, nil)
	if s := m.state(t); s.Phase != wire.Done {
		t.Fatalf("the state is %+v", s)
	}
	if n, err := Resume(t.Context(), m, m, "run", someTrace); n != 0 || err != nil {
		t.Errorf("after the end: %d messages, %v", n, err)
	}
}

// An emptied is a queue that is empty after something has happened.
type emptied func()

func (f emptied) IsEmpty(context.Context) (bool, error) {
	f()
	return true, nil
}

// TestStandsStill: a run without messages stands still until it is resumed, and no other run does.
func TestStandsStill(t *testing.T) {
	m := submitted(t, pair)
	still := func(want bool) {
		t.Helper()
		if still, err := StandsStill(t.Context(), m, m, "run"); still != want || err != nil {
			t.Fatalf("%v instead of %v, %v", still, want, err)
		}
	}
	if _, err := StandsStill(t.Context(), m, m, "run"); !errors.Is(err, ErrUnknown) {
		t.Fatalf("before it begins: %v", err)
	}
	start := m.posts[0]
	m.posts = nil
	if err := m.worker(nil).Handle(t.Context(), deliver(wire.Encode(start.Message), 1)); err != nil {
		t.Fatal(err)
	}
	still(false)
	m.posts = nil
	still(true)
	ends := emptied(func() { _, _ = Cancel(t.Context(), m, "other", "enough") })
	m.records[StateKey("other")] = m.records[StateKey("run")]
	if still, err := StandsStill(t.Context(), m, ends, "other"); still || err != nil {
		t.Fatalf("a run that ends meanwhile: %v, %v", still, err)
	}
	if _, err := Resume(t.Context(), m, m, "run", someTrace); err != nil {
		t.Fatal(err)
	}
	still(false)
	m.drain(t, nil)
	if s := m.state(t); s.Phase != wire.Done || len(m.posts) > 0 {
		t.Fatalf("the state is %+v, with %d messages", s, len(m.posts))
	}
	still(false)
}

// TestNewer: a message or record of a newer version is left to newer workers.
func TestNewer(t *testing.T) {
	m := submitted(t, single)
	m.drain(t, nil)
	m.records[StateKey("run")] = Record{[]byte(`{"v":99}`), 7}
	for _, raw := range []string{`{"v":99,"kind":"merge"}`, `{"v":1,"kind":"part","run":"run","plan":"h"}`} {
		for times, delay := range map[uint64]time.Duration{1: time.Second, 3: 4 * time.Second, 99: 64 * time.Second} {
			d := deliver([]byte(raw), times)
			if err := m.worker(nil).Handle(t.Context(), d); !errors.Is(err, wire.ErrNewer) {
				t.Errorf("%s: %v", raw, err)
			}
			if d.acked || d.delay != delay || len(m.letters) > 0 {
				t.Errorf("%s: acked %v, again after %v, letters %v", raw, d.acked, d.delay, m.letters)
			}
		}
	}
}

// TestCorrupt: a record that cannot be read fails the run, and the message that has met it is a dead letter.
func TestCorrupt(t *testing.T) {
	for key, part := range map[string]int{
		StateKey("run"): 1, OutputKey("run", 0): 1, marksKey("run", 3): 1, triesKey("run", 1): 1,
	} {
		t.Run(key, func(t *testing.T) {
			m := submitted(t, diamond)
			start := m.posts[0].Message
			m.drain(t, nil)
			for _, part := range []int{1, 2, 3} {
				delete(m.records, OutputKey("run", part))
			}
			s := m.state(t)
			s.Phase = wire.Running
			m.records[StateKey("run")] = Record{wire.Encode(s), 1}
			m.records[key] = Record{[]byte(`{"v":1,"phase":5,"part":7,"n":7,"lost":-1}`), 1}
			d := deliver(wire.Encode(post(start, diamond, part).Message), 2)
			if err := m.worker(nil).Handle(t.Context(), d); err != nil || !d.acked {
				t.Fatalf("acked %v, %v", d.acked, err)
			}
			if s := m.state(t); s.Phase != wire.Failed || s.Error.Reason != wire.Corrupt || len(m.letters) != 1 {
				t.Errorf("the state is %+v, %v, letters %v", s, s.Error, m.letters)
			}
		})
	}
}

// TestFailures: which failures of a partition are tried again.
func TestFailures(t *testing.T) {
	e := errors.New("e")
	for _, test := range []struct {
		name    string
		retries int
		err     error
		times   int // how often it is delivered; 0: it comes back for ever
	}{
		{"no retries", 0, &TaskError{Task: "a", Err: e}, 1},
		{"two retries", 2, &TaskError{Task: "a", Err: e}, 3},
		{"wrapped", 1, fmt.Errorf("so: %w", &TaskError{Task: "a", Err: e}), 2},
		{"permanent", 2, &TaskError{Task: "a", Err: e, Permanent: true}, 1},
		{"of the worker", 0, e, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := submitted(t, retried(single, test.retries))
			start := m.posts[0]
			m.posts = nil
			w := m.worker(func(int) (wire.Output, error) { return wire.Output{}, test.err })
			if err := w.Handle(t.Context(), deliver(wire.Encode(start.Message), 1)); err != nil {
				t.Fatal(err)
			}
			raw := wire.Encode(m.posts[0].Message)
			times := 0
			for ; times < 10; times++ {
				d := deliver(raw, uint64(times+1))
				err := w.Handle(t.Context(), d)
				if d.acked {
					times++
					break
				}
				if !errors.Is(err, e) {
					t.Fatalf("the error is %v", err)
				}
			}
			if test.times == 0 {
				if s := m.state(t); s.Final() || times < 10 {
					t.Fatalf("%d deliveries end as %+v", times, s)
				}
				return
			}
			s := m.state(t)
			if times != test.times || s.Error == nil || s.Error.Reason != wire.Task || s.Error.Task != "a" ||
				s.Error.Text != "e" || s.Error.Worker != "w" {
				t.Errorf("%d deliveries instead of %d, %+v", times, test.times, s.Error)
			}
		})
	}
}

// TestDeadline: the time of a run counts from its Start message, by the clock of the server.
func TestDeadline(t *testing.T) {
	for _, test := range []struct {
		stored, age time.Duration // of the partition's message, after the Start message
		left        time.Duration
	}{
		{0, 0, time.Hour}, {20 * time.Minute, 10 * time.Minute, 30 * time.Minute}, {50 * time.Minute, 10 * time.Minute, 0},
		{0, 2 * time.Hour, 0}, {2 * time.Hour, 0, 0},
	} {
		m := submitted(t, single)
		m.posts[0].Message.Begin.Deadline = time.Hour
		start := m.posts[0]
		m.posts = nil
		if err := m.worker(nil).Handle(t.Context(), deliver(wire.Encode(start.Message), 1)); err != nil {
			t.Fatal(err)
		}
		d := deliver(wire.Encode(m.posts[0].Message), 1)
		d.stored, d.age = startedAt.Add(test.stored), test.age
		w := m.worker(nil)
		w.Runner = timed(func(left time.Duration) {
			if left > test.left || left < test.left-testkit.Patience {
				t.Errorf("%v are left instead of %v", left, test.left)
			}
		})
		if err := w.Handle(t.Context(), d); err != nil || !d.acked {
			t.Fatalf("acked %v, %v", d.acked, err)
		}
		s := m.state(t)
		if late := s.Phase == wire.Failed && s.Error.Reason == wire.Deadline; late != (test.left == 0) {
			t.Errorf("stored after %v, %v old: the state is %+v", test.stored, test.age, s)
		}
	}
}

// timed is a Runner that sees how much time there is.
type timed func(left time.Duration)

func (f timed) Run(ctx context.Context, _ string, _ *wire.Plan, part int, inputs []wire.Output) (wire.Output, error) {
	end, _ := ctx.Deadline()
	f(time.Until(end))
	return serialOutput(part, inputs), nil
}

// TestWorkerCloses: a partition that a worker gives up because it closes is for others at once, and does not count as
// lost.
func TestWorkerCloses(t *testing.T) {
	m := submitted(t, single)
	start := m.posts[0]
	m.posts = nil
	ctx, cancel := context.WithCancel(t.Context())
	w := m.worker(func(int) (wire.Output, error) {
		cancel()
		return wire.Output{}, context.Canceled
	})
	if err := w.Handle(ctx, deliver(wire.Encode(start.Message), 1)); err != nil {
		t.Fatal(err)
	}
	d := deliver(wire.Encode(m.posts[0].Message), 5)
	if err := w.Handle(ctx, d); !errors.Is(err, context.Canceled) || d.acked || d.delay != 0 {
		t.Errorf("acked %v, again after %v, %v", d.acked, d.delay, err)
	}
	tries, err := wire.DecodeTries(m.records[triesKey("run", 0)].Value)
	if err != nil || tries.Lost != 0 {
		t.Errorf("tries %+v, %v", tries, err)
	}
}

// TestBusyRecord: a record that changes all the time is an error, not a loop.
func TestBusyRecord(t *testing.T) {
	tries := 0
	err := compareAndSet(t.Context(), newMemory(), func() error { tries++; return ErrConflict })
	if !errors.Is(err, errChanging) || tries != attempts {
		t.Errorf("%d attempts, %v", tries, err)
	}
}

// TestTreeOfMarks: sets of all sizes are complete with the last member, and each member is told so from then on.
func TestTreeOfMarks(t *testing.T) {
	for _, width := range []int{2, 3, 8} {
		for n := 2; n < 70; n++ {
			s := set{newMemory(), width, "s", n}
			for round := range 2 {
				for i := range n {
					complete, err := s.add(t.Context(), i)
					if err != nil {
						t.Fatal(err)
					}
					if want := i == n-1 || round == 1 && n <= width; complete != want && (round == 0 || want) {
						t.Fatalf("width %d: %d of %d, round %d: complete %v", width, i+1, n, round, complete)
					}
				}
			}
		}
	}
}
