package cluster

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// A Graph is a set of calls of registered functions, and of edges between them. A call comes after the calls whose
// results it takes, and after those of [Call.After]. These are always earlier calls of the graph, so it has no cycles.
//
// A Graph is data: its JSON can be kept, compared, and sent to others. It is built from one goroutine, and may then run
// any number of times, also at the same time. It must not be changed while it runs.
type Graph struct {
	name       string
	prototypes []prototype
	byName     map[string]int32 // of prototypes
	values     []constant
	semaphores []semaphore
	calls      []call
	err        error // the first mistake in the data
}

// NewGraph returns an empty graph. The name stands in errors.
func NewGraph(name string) *Graph {
	g := &Graph{name: name}
	g.fail(checkName("graph", name))
	return g
}

// Name returns the name given to [NewGraph].
func (g *Graph) Name() string { return g.name }

// Len returns the number of calls.
func (g *Graph) Len() int { return len(g.calls) }

// fail notes a mistake in the data, which [Run] and others return.
func (g *Graph) fail(err error) {
	if err != nil && g.err == nil {
		g.err = fmt.Errorf("cluster: graph %q: %w", g.name, err)
	}
}

// A constant is an input that a graph has in itself.
type constant struct {
	packed wire.Value
	port   string // its hash
}

// A semaphore bounds how many calls run at a time.
type semaphore struct {
	name    string
	permits int
}

// A call is a call of a function.
type call struct {
	function int32   // index of prototypes
	in       []int32 // the call with that index, or the constant with the index ^i
	cost     time.Duration
	more     *more // nil if it says nothing
}

// more is what is said of some calls.
type more struct {
	name     string
	after    []int32 // calls, in ascending order
	choose   []int32 // calls, by the index that chooses them
	hold     []int32 // semaphores, in ascending order
	colocate string
	size     int64
	retries  int
	keep     bool
	anyOf    bool
}

var nothingMore more

// said returns what is said of the call. It is not to be changed.
func (c *call) said() *more {
	if c.more != nil {
		return c.more
	}
	return &nothingMore
}

// said returns what is said of call i.
func (g *Graph) said(i int32) *more { return g.calls[i].said() }

// label returns how errors call a call.
func (g *Graph) label(i int32) string {
	function := g.prototypes[g.calls[i].function].name
	if name := g.said(i).name; name != "" {
		return fmt.Sprintf("%s (%s)", name, function)
	}
	return fmt.Sprintf("%s#%d", function, i)
}

// A Call is a call of a function in a graph: a small value that may be copied and compared. It stands for the result
// where another call takes it. The zero Call belongs to no graph.
type Call[R any] struct {
	place place
	out   *port
}

type place struct {
	g *Graph
	i int32
}

// An AnyCall is a [Call], whatever its result.
type AnyCall interface{ called() place }

func (c Call[R]) called() place { return c.place }

// A source is an Arg, whatever its type.
type source interface {
	// in returns the call, or the complement of a constant, that g's calls take, whose port is p.
	in(g *Graph, p *port) int32
}

// An Arg is an input of a call: a [Call] that makes it, or a [Value].
type Arg[T any] interface {
	source
	gives(T)
}

func (c Call[R]) gives(R) {}

func (c Call[R]) in(g *Graph, _ *port) int32 { return c.place.within(g, "the input of a call") }

// say returns what is said of the call, for changes.
func (p place) say() *more {
	c := p.call()
	if c.more == nil {
		c.more = new(more)
	}
	return c.more
}

func (p place) call() *call {
	if p.g == nil {
		panic("cluster: the zero Call belongs to no graph")
	}
	return &p.g.calls[p.i]
}

// within returns the index of a call, which must be one of g.
func (p place) within(g *Graph, what string) int32 {
	if p.g != g || g == nil {
		panic(fmt.Sprintf("cluster: %s is a call of another graph", what))
	}
	return p.i
}

// Value returns an input that is a part of the graph. It is encoded once for each graph in which it is used, when the
// first call takes it. Each call that takes it gets a value of its own. An error of the codec is one of the graph's
// run.
func Value[T any](v T) Arg[T] { return &value[T]{v: v} }

type value[T any] struct {
	v    T
	last atomic.Pointer[place] // where it was used last, and its complement there
}

func (v *value[T]) gives(T) {}

func (v *value[T]) in(g *Graph, p *port) int32 {
	if last := v.last.Load(); last != nil && last.g == g && g.values[^last.i].port == p.hash {
		return last.i
	}
	packed, err := p.pack(v.v)
	g.fail(err)
	g.values = append(g.values, constant{packed: packed, port: p.hash})
	used := &place{g, ^int32(len(g.values) - 1)}
	v.last.Store(used)
	return used.i
}

// newCall adds a call of f.
func newCall[R any](g *Graph, f *function, from ...source) Call[R] {
	switch {
	case f == nil:
		panic("cluster: a call of a function that was not registered")
	case g == nil:
		panic("cluster: a call needs a graph, and got nil")
	}
	if len(g.calls) == math.MaxInt32 {
		panic("cluster: a graph has too many calls")
	}
	in := make([]int32, len(from))
	for i, s := range from {
		if s == nil {
			panic(fmt.Sprintf("cluster: input %d of a call of %q is nil", i, f.name))
		}
		in[i] = s.in(g, f.input(i))
	}
	g.calls = append(g.calls, call{function: g.prototype(&f.prototype), in: in})
	return Call[R]{place{g, int32(len(g.calls) - 1)}, f.out}
}

// prototype returns the index of p, which it adds.
func (g *Graph) prototype(p *prototype) int32 {
	i, ok := g.byName[p.name]
	if !ok {
		if g.byName == nil {
			g.byName = map[string]int32{}
		}
		i = int32(len(g.prototypes))
		g.byName[p.name] = i
		g.prototypes = append(g.prototypes, *p)
	} else if g.prototypes[i].signature != p.signature {
		g.fail(fmt.Errorf("it calls two functions of the name %q, with signatures %s and %s",
			p.name, g.prototypes[i].signature, p.signature))
	}
	return i
}

// Named gives the call a name, for errors and for [ResultOf]. Names in a graph are unique.
func (c Call[R]) Named(name string) Call[R] {
	c.place.say().name = name
	c.place.g.fail(checkName("call", name))
	return c
}

// Cost says how long the function takes. A graph is cut into partitions of about equal cost. A call without it counts
// as [DefaultCost].
func (c Call[R]) Cost(d time.Duration) Call[R] {
	if d < 0 {
		panic("cluster: a negative cost")
	}
	c.place.call().cost = d
	return c
}

// DefaultCost is the cost of a call of which nothing is known. It is arbitrary: a guess at what is worth a call.
const DefaultCost = time.Millisecond

// Size says how many bytes the result has when it is encoded. Calls that pass larger results are rather in one
// partition. A call without it counts as [DefaultSize].
func (c Call[R]) Size(bytes int64) Call[R] {
	if bytes < 0 {
		panic("cluster: a negative size")
	}
	c.place.say().size = bytes
	return c
}

// DefaultSize is the size of a result of which nothing is known. It is arbitrary.
const DefaultSize = 1000

// Colocate keeps all calls with the same key in one partition, and so those between them.
func (c Call[R]) Colocate(key string) Call[R] {
	c.place.say().colocate = key
	c.place.g.fail(checkName("key of Colocate", key))
	return c
}

// Retries makes the call call the function again if it returns an error, n times at most, on the same executor. The
// pauses between are 100 ms, 200 ms and so on, to 10 s, and random parts less.
func (c Call[R]) Retries(n int) Call[R] {
	if n < 0 {
		panic("cluster: a negative number of retries")
	}
	c.place.say().retries = min(n, maxRetries)
	return c
}

const maxRetries = 1000

// Keep keeps the result of the call for [Call.Result], though other calls take it.
func (c Call[R]) Keep() Call[R] {
	c.place.say().keep = true
	return c
}

// AnyOf makes the call run if any of the calls that it comes after has run. By default all must have, which differs
// only after a [Choose]. The inputs that others would have made are zero values.
func (c Call[R]) AnyOf() Call[R] {
	c.place.say().anyOf = true
	return c
}

// After makes the call come after others, whose results it does not take. It panics if one of them was added later, or
// to another graph.
func (c Call[R]) After(others ...AnyCall) Call[R] {
	m := c.place.say()
	for _, o := range others {
		i := o.called().within(c.place.g, "a call of After")
		if i >= c.place.i {
			panic("cluster: After of a call that was added later: add it first")
		}
		if at, found := slices.BinarySearch(m.after, i); !found {
			m.after = slices.Insert(m.after, at, i)
		}
	}
	return c
}

// Choose makes c, by its result, choose one of the other calls: the one with that index, from 0. The others do not run,
// and neither do the calls after them, but for those of [Call.AnyOf]. With another index none runs. A call that several
// calls may choose runs once, after all of them, if any chooses it.
//
//	which := compare.Call(g, a, b) // returns 0 or 1
//	left, right := keep.Call(g, a), keep.Call(g, b)
//	cluster.Choose(which, left, right)
//	report.Call(g, left, right).AnyOf()
//
// Choose panics if one of the others was added before c, or to another graph, or is among them twice.
func Choose(c Call[int], among ...AnyCall) {
	m := c.place.say()
	for _, o := range among {
		i := o.called().within(c.place.g, "a call of Choose")
		if i <= c.place.i {
			panic("cluster: Choose of a call that was added before the one that chooses: add it after that")
		}
		if slices.Contains(m.choose, i) {
			panic("cluster: Choose names a call twice")
		}
		m.choose = append(m.choose, i)
	}
}

// A Semaphore bounds how many calls of a run hold it at a time. All calls that hold it are in one partition.
type Semaphore struct{ place place }

// Semaphore adds a semaphore to the graph. It panics if permits is below one.
func (g *Graph) Semaphore(name string, permits int) Semaphore {
	if permits < 1 {
		panic(fmt.Sprintf("cluster: semaphore %q has no permit", name))
	}
	g.fail(checkName("semaphore", name))
	g.semaphores = append(g.semaphores, semaphore{name, min(permits, maxPermits)})
	return Semaphore{place{g, int32(len(g.semaphores) - 1)}}
}

// maxPermits is as good as no bound, and fits an int of 32 bits.
const maxPermits = math.MaxInt32

// Hold makes the call run only while it holds a permit of each of the semaphores.
func (c Call[R]) Hold(semaphores ...Semaphore) Call[R] {
	m := c.place.say()
	for _, s := range semaphores {
		i := s.place.within(c.place.g, "a semaphore of Hold")
		if at, found := slices.BinarySearch(m.hold, i); !found {
			m.hold = slices.Insert(m.hold, at, i)
		}
	}
	return c
}

// A choice is that of one call to run another.
type choice struct {
	by    int32 // the call that chooses
	index int   // the result by which it does
}

// choices returns, for each call that others may choose, by which and how.
func (g *Graph) choices() map[int32][]choice {
	var chosen map[int32][]choice
	for i := range g.calls {
		for index, c := range g.said(int32(i)).choose {
			if chosen == nil {
				chosen = map[int32][]choice{}
			}
			chosen[c] = append(chosen[c], choice{int32(i), index})
		}
	}
	return chosen
}

// A role is why a call comes after another: as the input with that index, or one of those below.
type role int

const (
	byOrder  role = -1
	byChoice role = -2
)

// before yields the calls before call i. choices are those of i.
func (g *Graph) before(i int32, choices []choice) iter.Seq2[int32, role] {
	return func(yield func(int32, role) bool) {
		for k, in := range g.calls[i].in {
			if in >= 0 && !yield(in, role(k)) {
				return
			}
		}
		for _, a := range g.said(i).after {
			if !yield(a, byOrder) {
				return
			}
		}
		for _, c := range choices {
			if !yield(c.by, byChoice) {
				return
			}
		}
	}
}

// all returns the indices of all calls.
func (g *Graph) all() []int32 {
	all := make([]int32, len(g.calls))
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// kept reports whether the result of call i is one of the run. taken is that of the graph.
func (g *Graph) kept(i int32, taken []bool) bool { return !taken[i] || g.said(i).keep }

// taken reports which calls have a result that others take.
func (g *Graph) taken() []bool {
	taken := make([]bool, len(g.calls))
	for i := range g.calls {
		for _, in := range g.calls[i].in {
			if in >= 0 {
				taken[in] = true
			}
		}
	}
	return taken
}

// check returns an error if the graph cannot run anywhere.
func (g *Graph) check() error {
	if g == nil {
		return errors.New("cluster: the graph is nil")
	}
	if g.err != nil {
		return g.err
	}
	names := map[string]bool{}
	for i := range g.calls {
		name := g.said(int32(i)).name
		if name != "" && names[name] {
			return fmt.Errorf("cluster: graph %q: two calls have the name %q", g.name, name)
		}
		if name != "" {
			names[name] = true
		}
	}
	return nil
}
