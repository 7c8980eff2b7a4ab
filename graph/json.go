package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A graphJSON is a graph in JSON. Tasks are called by their names, or by their places if they have none, as in #3.
type graphJSON struct {
	Name       string          `json:"name"`
	Semaphores []semaphoreJSON `json:"semaphores,omitempty"`
	Tasks      []taskJSON      `json:"tasks"`
}

type semaphoreJSON struct {
	Permits int `json:"permits"`
}

type taskJSON struct {
	Name       string      `json:"name,omitempty"`
	Kind       string      `json:"kind,omitempty"`
	Graph      *string     `json:"graph,omitempty"`
	Retry      *retryJSON  `json:"retry,omitempty"`
	Priority   string      `json:"priority,omitempty"`
	Limits     []limitJSON `json:"limits,omitempty"`
	Successors []string    `json:"successors,omitempty"`
}

type limitJSON struct {
	Semaphore int `json:"semaphore"`
	Permits   int `json:"permits,omitempty"`
	Acquire   int `json:"acquire,omitempty"`
	Release   int `json:"release,omitempty"`
}

// A retryJSON is a RetryPolicy.
type retryJSON struct {
	Tries    int          `json:"tries"`
	Pause    durationJSON `json:"pause,omitzero"`
	MaxPause durationJSON `json:"maxPause,omitzero"`
	Jitter   float64      `json:"jitter,omitempty"`
	When     bool         `json:"when,omitempty"` // there is one
}

// A durationJSON is a duration that is written as its String.
type durationJSON time.Duration

func (d durationJSON) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

func (d *durationJSON) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%s is no duration such as 1m30s", quoted(string(text)))
	}
	*d = durationJSON(parsed)
	return nil
}

// MarshalJSON writes what the graph looks like: an object with the name, the permits of the semaphores, and the tasks
// in the order of [Graph.Tasks]. A task is an object:
//
//	name        the name given to Named; a task without one is called by its place in the list, from 0, as in #3
//	kind        as the Kind's String, if it is not a task
//	graph       of a module, the name of its graph
//	retry       of a retried task, its RetryPolicy: tries, and if they are not 0 pause and maxPause, as in "1m30s", and
//	            jitter; when is true if the policy has a When
//	priority    "low" or "high", if it is not normal
//	limits      a list of objects: semaphore is a place in the list of semaphores; permits, acquire and release are
//	            the numbers of permits given to Hold, Acquire and Release
//	successors  the names of the tasks that it precedes, or among which it chooses, in the order of their indices
//
// Functions are not written, nor the tasks of modules. MarshalJSON fails if two tasks were given the same name, or if
// a name is not valid UTF-8. It may be called while the graph runs. [FromJSON] reads what it writes.
func (g *Graph) MarshalJSON() ([]byte, error) {
	g.mustBe()
	out := graphJSON{Name: g.name, Tasks: make([]taskJSON, 0, g.Len())}
	if !utf8.ValidString(g.name) {
		return nil, fmt.Errorf("graph %q: its name is not valid UTF-8", g.name)
	}
	names := make(map[Task]string, g.Len())
	seen := make(map[string]bool, g.Len())
	for t := range g.Tasks() {
		name := g.names[t.index]
		id := nameOrPlace(name, len(names))
		if seen[id] {
			return nil, fmt.Errorf("graph %q: two tasks have the name %q: give them different names", g.name, id)
		}
		if !utf8.ValidString(name) {
			return nil, fmt.Errorf("graph %q: the name %q of a task is not valid UTF-8", g.name, name)
		}
		names[t], seen[id] = id, true
		out.Tasks = append(out.Tasks, taskJSON{Name: name})
	}
	place := 0
	semaphores := make(map[*Semaphore]int)
	for t := range g.Tasks() {
		to := &out.Tasks[place]
		place++
		if k := t.Kind(); k != KindTask {
			to.Kind = k.String()
		}
		if sub := t.ModuleGraph(); sub != nil {
			if !utf8.ValidString(sub.name) {
				return nil, fmt.Errorf("graph %q: the name %q of a module's graph is not valid UTF-8", g.name, sub.name)
			}
			to.Graph = &sub.name
		}
		if does, ok := g.special.of(t.index).(retried); ok {
			to.Retry = does.toJSON()
		}
		if p := t.PriorityLevel(); p != Normal {
			to.Priority = strings.ToLower(p.String())
		}
		for _, l := range g.limits[t.index] {
			n, known := semaphores[l.Semaphore]
			if !known {
				n = len(out.Semaphores)
				semaphores[l.Semaphore] = n
				out.Semaphores = append(out.Semaphores, semaphoreJSON{l.permits})
			}
			to.Limits = append(to.Limits, limitJSON{n, min(l.need, l.back), l.acquired(), l.released()})
		}
		for s := range t.Successors() {
			to.Successors = append(to.Successors, names[s])
		}
	}
	return json.Marshal(out)
}

func (p RetryPolicy) toJSON() *retryJSON {
	return &retryJSON{p.Tries, durationJSON(p.Pause), durationJSON(p.MaxPause), p.Jitter, p.When != nil}
}

func nameOrPlace(name string, place int) string {
	if name != "" {
		return name
	}
	return fmt.Sprintf("#%d", place)
}

// Functions give the tasks of a graph that is read by [FromJSON] what JSON cannot carry. Each is called with the name
// of a task, which for a task without one is its place in the list, as in #3. A nil result, or a nil function for a
// kind of tasks that the graph has, is an error.
type Functions struct {
	Task           func(task string) func(context.Context) error
	Condition      func(task string) func(context.Context) (int, error)
	MultiCondition func(task string) func(context.Context) ([]int, error)
	Subflow        func(task string) func(context.Context, *Graph) error // also of a detached one
	External       func(task string) func(ctx context.Context, done func(error)) error
	Retry          func(task string) func(context.Context) error
	When           func(task string) func(error) bool // of the policy of a retried task, if that had one
	Module         func(task, graph string) *Graph    // graph is the name of the module's graph

	// Semaphore returns the semaphore at a place in the list. If Semaphore is nil, FromJSON makes new semaphores with
	// the permits that the JSON says.
	Semaphore func(place, permits int) *Semaphore
}

// FromJSON returns a graph that looks like the one that [Graph.MarshalJSON] wrote, with functions from f. It adds the
// tasks in the order of the list and then their edges. It returns an error, and no graph, for what is no such JSON: for
// a field, kind or priority that it does not know, for a field that an object has twice or that is spelt in another
// case, for null, for text that is not valid UTF-8, for two tasks of the same name, a successor that is not in the
// list, a limit that cannot be kept, or a policy that [Graph.Retry] would refuse. Tasks that make or take values cannot
// be read, since JSON does not carry their types, except that a task of [SourceExternal] is read as one of
// [Graph.External]. A graph that is read may still be one that cannot run: see [Graph.Validate].
//
// The JSON may come from outside. The time and the memory of FromJSON are in proportion to the length of data, whatever
// data says, and an error quotes at most 80 bytes of a name.
func FromJSON(data []byte, f Functions) (*Graph, error) {
	var in *graphJSON
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return nil, fmt.Errorf("graph: reading JSON: %w", shortened(err))
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("graph: reading JSON: more text follows the graph")
	}
	if err := checkText(data); err != nil {
		return nil, fmt.Errorf("graph: reading JSON: %w", err)
	}
	g := New(in.Name)
	if err := g.read(in, f); err != nil {
		return nil, fmt.Errorf("graph %s: reading JSON: %w", quoted(in.Name), err)
	}
	return g, nil
}

func (g *Graph) read(in *graphJSON, f Functions) error {
	semaphores := make([]*Semaphore, len(in.Semaphores))
	for i, s := range in.Semaphores {
		if s.Permits < 1 {
			return fmt.Errorf("semaphore %d has %d permits: nothing would ever run", i, s.Permits)
		}
		if f.Semaphore == nil {
			semaphores[i] = NewSemaphore(s.Permits)
		} else if semaphores[i] = f.Semaphore(i, s.Permits); semaphores[i] == nil {
			return fmt.Errorf("no semaphore was given for number %d", i)
		}
	}
	tasks := make(map[string]Task, len(in.Tasks))
	inOrder := make([]Task, len(in.Tasks))
	permits := make(map[*Semaphore]int)
	for i := range in.Tasks {
		from := &in.Tasks[i]
		name := nameOrPlace(from.Name, i)
		if _, found := tasks[name]; found {
			return fmt.Errorf("two tasks have the name %s", quoted(name))
		}
		t, err := g.readTask(from, name, f)
		if err == nil {
			err = t.readLimits(from.Limits, semaphores, permits)
		}
		if err != nil {
			return fmt.Errorf("task %s: %w", quoted(name), err)
		}
		tasks[name], inOrder[i] = t, t
	}
	for i, from := range in.Tasks {
		for _, s := range from.Successors {
			to, found := tasks[s]
			if !found {
				return fmt.Errorf("task %s: its successor %s is not in the list of tasks",
					quoted(nameOrPlace(from.Name, i)), quoted(s))
			}
			inOrder[i].Precede(to)
		}
	}
	return nil
}

// readTask adds a task without edges and limits.
func (g *Graph) readTask(from *taskJSON, name string, f Functions) (t Task, err error) {
	kind := KindTask
	if from.Kind != "" {
		k := slices.Index(kindNames[:], from.Kind)
		if k < 0 {
			return Task{}, fmt.Errorf("its kind %s is unknown", quoted(from.Kind))
		}
		kind = Kind(k)
	}
	if (from.Graph != nil) != (kind == KindModule) {
		return Task{}, errors.New("a module has a graph, and no other task has one")
	}
	if (from.Retry != nil) != (kind == KindRetry) {
		return Task{}, errors.New("a retried task has a policy, and no other task has one")
	}
	missing := fmt.Errorf("no function was given for this %v", kind)
	switch kind {
	case KindTask:
		fn := given(f.Task, name)
		if fn == nil {
			return Task{}, missing
		}
		t = g.Task(fn)
	case KindCondition:
		fn := given(f.Condition, name)
		if fn == nil {
			return Task{}, missing
		}
		t = g.Condition(fn)
	case KindMultiCondition:
		fn := given(f.MultiCondition, name)
		if fn == nil {
			return Task{}, missing
		}
		t = g.MultiCondition(fn)
	case KindSubflow, KindDetachedSubflow:
		fn := given(f.Subflow, name)
		if fn == nil {
			return Task{}, missing
		}
		if kind == KindSubflow {
			t = g.Subflow(fn)
		} else {
			t = g.DetachedSubflow(fn)
		}
	case KindExternal:
		fn := given(f.External, name)
		if fn == nil {
			return Task{}, missing
		}
		t = g.External(fn)
	case KindRetry:
		fn := given(f.Retry, name)
		if fn == nil {
			return Task{}, missing
		}
		policy, err := from.Retry.policy(name, f)
		if err != nil {
			return Task{}, err
		}
		t = g.Retry(policy, fn)
	case KindModule:
		var sub *Graph
		if f.Module != nil {
			sub = f.Module(name, *from.Graph)
		}
		if sub == nil {
			return Task{}, fmt.Errorf("no graph was given for module %s", quoted(*from.Graph))
		}
		t = g.Module(sub)
	default:
		return Task{}, fmt.Errorf("its kind %q cannot be read: JSON does not carry what it needs", kind)
	}
	if from.Name != "" {
		t.Named(from.Name)
	}
	switch from.Priority {
	case "", "normal":
	case "low":
		t.Priority(Low)
	case "high":
		t.Priority(High)
	default:
		return Task{}, fmt.Errorf("its priority %s is none of low, normal and high", quoted(from.Priority))
	}
	return t, nil
}

// policy returns the policy of the task of that name.
func (in *retryJSON) policy(name string, f Functions) (RetryPolicy, error) {
	p := RetryPolicy{
		Tries: in.Tries, Pause: time.Duration(in.Pause), MaxPause: time.Duration(in.MaxPause), Jitter: in.Jitter,
	}
	if wrong := p.wrong(); wrong != "" {
		return p, errors.New(wrong)
	}
	if in.When {
		if p.When = given(f.When, name); p.When == nil {
			return p, errors.New("no When was given for its policy, which had one")
		}
	}
	return p, nil
}

func given[F any](find func(task string) F, name string) (fn F) {
	if find != nil {
		fn = find(name)
	}
	return fn
}

// readLimits gives the task its limits. permits has the sum of what tasks take and give back of each semaphore so far.
func (t Task) readLimits(in []limitJSON, semaphores []*Semaphore, permits map[*Semaphore]int) error {
	var limits []limit
	for _, l := range in {
		if l.Semaphore < 0 || l.Semaphore >= len(semaphores) {
			return fmt.Errorf("its semaphore %d is not in the list of semaphores", l.Semaphore)
		}
		if l.Permits < 0 || l.Acquire < 0 || l.Release < 0 || l.Acquire > 0 && l.Release > 0 {
			return fmt.Errorf("of semaphore %d it has a number below 0, or both acquire and release", l.Semaphore)
		}
		s := semaphores[l.Semaphore]
		over := l.Acquire + l.Release // one of the two is 0
		if l.Permits > s.permits || over > s.permits-l.Permits || l.Permits+over == 0 {
			return fmt.Errorf("it needs %d permits of semaphore %d: from 1 to %d can be had",
				uint(l.Permits)+uint(over), l.Semaphore, s.permits)
		}
		if permits[s] += l.Permits + over; permits[s] < 0 {
			return fmt.Errorf("it and the tasks before it need more than %d permits of semaphore %d together",
				math.MaxInt, l.Semaphore)
		}
		limits = append(limits, limit{s, l.Permits + l.Acquire, l.Permits + l.Release})
	}
	if again := repeated(limits); again >= 0 {
		return fmt.Errorf("its semaphore %d is there twice", in[again].Semaphore)
	}
	if limits != nil {
		t.graph.setLimits(t.index, limits)
	}
	return nil
}

// repeated returns the place of a limit whose semaphore has a limit before it, or -1.
func repeated(limits []limit) int {
	seen := make(map[*Semaphore]bool, len(limits))
	return slices.IndexFunc(limits, func(l limit) bool {
		again := seen[l.Semaphore]
		seen[l.Semaphore] = true
		return again
	})
}
