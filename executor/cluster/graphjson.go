package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// graphVersion is the version of the JSON that this code writes. It reads all versions up to it.
const graphVersion = 1

// The JSON of a graph. Each graph is written in one way.
type (
	graphJSON struct {
		V          int             `json:"v"`
		Name       string          `json:"name"`
		Functions  []functionJSON  `json:"functions"` // in the order in which calls first name them
		Values     []valueJSON     `json:"values,omitempty"`
		Semaphores []semaphoreJSON `json:"semaphores,omitempty"`
		Calls      callList        `json:"calls"`
	}
	functionJSON struct {
		Name  string   `json:"name"`
		Takes []string `json:"takes,omitempty"`
		All   bool     `json:"all,omitempty"`
		Gives string   `json:"gives"`
	}
	valueJSON struct {
		Type  string          `json:"type"`
		JSON  json.RawMessage `json:"json,omitempty"`
		Bytes []byte          `json:"bytes,omitempty"`
	}
	semaphoreJSON struct {
		Name    string `json:"name"`
		Permits int    `json:"permits"`
	}
	callJSON struct {
		Function int32         `json:"f"`
		In       []int32       `json:"in,omitempty"`
		Name     string        `json:"name,omitempty"`
		After    []int32       `json:"after,omitempty"`
		Choose   []int32       `json:"choose,omitempty"`
		Hold     []int32       `json:"hold,omitempty"`
		Cost     time.Duration `json:"cost,omitempty"`
		Size     int64         `json:"size,omitempty"`
		Colocate string        `json:"colocate,omitempty"`
		Retries  int           `json:"retries,omitempty"`
		Keep     bool          `json:"keep,omitempty"`
		AnyOf    bool          `json:"anyOf,omitempty"`
	}
)

// A callList is written and read call by call: a callJSON is three times as large as a call.
type callList []call

// MarshalJSON writes the graph. Equal graphs, built by the same calls, give equal JSON. It fails if the graph could not
// run, as with a value that could not be encoded.
func (g *Graph) MarshalJSON() ([]byte, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	out := graphJSON{V: graphVersion, Name: g.name, Functions: []functionJSON{}, Calls: g.calls}
	for _, p := range g.prototypes {
		out.Functions = append(out.Functions, functionJSON{Name: p.name, Takes: p.takes, All: p.all, Gives: p.returns})
	}
	for _, v := range g.values {
		out.Values = append(out.Values, valueJSON{Type: v.port, JSON: v.packed.Data, Bytes: v.packed.Bytes})
	}
	for _, s := range g.semaphores {
		out.Semaphores = append(out.Semaphores, semaphoreJSON{Name: s.name, Permits: s.permits})
	}
	return json.Marshal(out)
}

// MarshalJSON writes the list.
func (l callList) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('[')
	e := json.NewEncoder(&out) // which adds line ends, and json.Marshal removes them
	for i := range l {
		if i > 0 {
			out.WriteByte(',')
		}
		c := &l[i]
		m := c.said()
		if err := e.Encode(callJSON{
			Function: c.function, In: c.in, Cost: c.cost, Name: m.name, After: m.after, Choose: m.choose, Hold: m.hold,
			Size: m.size, Colocate: m.colocate, Retries: m.retries, Keep: m.keep, AnyOf: m.anyOf,
		}); err != nil {
			return nil, err
		}
	}
	out.WriteByte(']')
	return out.Bytes(), nil
}

// UnmarshalJSON reads the list. It does not check what is in it.
func (l *callList) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if t, err := d.Token(); t != json.Delim('[') {
		return errors.Join(err, errors.New("the calls are not a list"))
	}
	*l = callList{}
	for d.More() {
		var c callJSON
		if err := d.Decode(&c); err != nil {
			return err
		}
		m := more{
			name: c.Name, after: c.After, choose: c.Choose, hold: c.Hold,
			size: c.Size, colocate: c.Colocate, retries: c.Retries, keep: c.Keep, anyOf: c.AnyOf,
		}
		read := call{function: c.Function, in: c.In, cost: c.Cost}
		if m.says() {
			read.more = &m
		}
		*l = append(*l, read)
	}
	return nil
}

// Hash returns a hash of the graph: of what it calls, with which values, in which order. Graphs that are built by the
// same calls, in any process, have the same hash.
func (g *Graph) Hash() (string, error) {
	data, err := g.MarshalJSON()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// UnmarshalJSON reads what [Graph.MarshalJSON] has written, with any white space, into an empty graph. It returns an
// error, and leaves g as it was, for anything else. The JSON may come from outside: time and memory are in proportion
// to its length, and an error quotes at most 80 bytes of a name. Whether functions exist is found out when the graph
// runs.
func (g *Graph) UnmarshalJSON(data []byte) error {
	if len(g.calls)+len(g.values) > 0 {
		return fmt.Errorf("cluster: graph %q is not empty: read the JSON into a new one", g.name)
	}
	read, err := readGraph(data)
	if err != nil {
		return fmt.Errorf("cluster: this is not the JSON of a graph: %w", shortened(err))
	}
	*g = *read
	return nil
}

func readGraph(data []byte) (*Graph, error) {
	var version struct {
		V int `json:"v"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return nil, err
	}
	if version.V != graphVersion {
		return nil, fmt.Errorf("its version is %d, and this program reads up to %d", version.V, graphVersion)
	}
	var in graphJSON
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("text follows it")
	}
	g, err := in.graph()
	if err != nil {
		return nil, err
	}
	// What is written back finds all that encoding/json forgives: fields that are there twice, or in another case, null,
	// text that is not UTF-8.
	back, err := g.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return nil, err
	}
	if !bytes.Equal(compact.Bytes(), back) {
		return nil, fmt.Errorf("it is not as it would be written: %s", difference(compact.Bytes(), back))
	}
	return g, nil
}

// difference quotes where two texts begin to differ.
func difference(a, b []byte) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	const most = 20
	part := func(s []byte) string { return strings.ToValidUTF8(string(s[max(i-most, 0):min(i+most, len(s))]), "?") }
	return fmt.Sprintf("%q instead of %q", part(a), part(b))
}

func (in *graphJSON) graph() (*Graph, error) {
	g := NewGraph(in.Name)
	for _, f := range in.Functions {
		if err := checkName("function", f.Name); err != nil {
			return nil, err
		}
		if _, twice := g.byName[f.Name]; twice || f.Name == "" || f.All && len(f.Takes) != 1 {
			return nil, fmt.Errorf("function %s is no function, or there twice", quoted(f.Name))
		}
		p := newPrototype(f.Name, f.Takes, f.All, f.Gives)
		g.prototype(&p)
	}
	for i, v := range in.Values {
		if len(v.JSON) > 0 && len(v.Bytes) > 0 {
			return nil, fmt.Errorf("value %d is there twice", i)
		}
		g.values = append(g.values, constant{packed: wire.Value{Data: v.JSON, Bytes: v.Bytes}, port: v.Type})
	}
	for _, s := range in.Semaphores {
		if err := checkName("semaphore", s.Name); err != nil {
			return nil, err
		}
		if s.Permits < 1 || s.Permits > maxPermits {
			return nil, fmt.Errorf("semaphore %s has %d permits", quoted(s.Name), s.Permits)
		}
		g.semaphores = append(g.semaphores, semaphore{s.Name, s.Permits})
	}
	var used uses
	g.calls = in.Calls
	for i := range g.calls {
		if err := g.checkCall(int32(i), &used); err != nil {
			return nil, fmt.Errorf("call %d: %w", i, err)
		}
	}
	if int(used.functions) != len(g.prototypes) || int(used.values) != len(g.values) {
		return nil, errors.New("it has functions or values that no call uses")
	}
	return g, g.check()
}

// uses are how many functions and values were used so far. They are in the order of their first use, so that each graph
// is written in one way.
type uses struct{ functions, values int32 }

// checkCall checks call i, which was read, after those before it.
func (g *Graph) checkCall(i int32, used *uses) error {
	c := &g.calls[i]
	if c.function < 0 || int(c.function) >= len(g.prototypes) || c.function > used.functions {
		return fmt.Errorf("function %d is none, or not in the order of first calls", c.function)
	}
	used.functions = max(used.functions, c.function+1)
	p := &g.prototypes[c.function]
	if !p.all && len(c.in) != len(p.takes) {
		return fmt.Errorf("it has %d inputs, and function %s takes %d", len(c.in), quoted(p.name), len(p.takes))
	}
	for k, in := range c.in {
		gives := ""
		switch {
		case in >= i || in < 0 && (int(^in) >= len(g.values) || ^in > used.values):
			return fmt.Errorf("input %d, %d, is no earlier call, and no value in the order of first use", k, in)
		case in >= 0:
			gives = g.prototypes[g.calls[in].function].returns
		default:
			gives = g.values[^in].port
			used.values = max(used.values, ^in+1)
		}
		if gives != p.takesPort(k) {
			return fmt.Errorf("input %d is of another type than function %s takes", k, quoted(p.name))
		}
	}
	m := c.said()
	if c.cost < 0 || m.size < 0 || m.retries < 0 || m.retries > maxRetries {
		return errors.New("its cost, size or number of retries is out of bounds")
	}
	if err := errors.Join(checkName("call", m.name), checkName("key of Colocate", m.colocate)); err != nil {
		return err
	}
	if !ascending(m.after, i) || !ascending(m.hold, int32(len(g.semaphores))) {
		return errors.New("the calls before it, or its semaphores, are out of order or of bounds")
	}
	if sorted := slices.Sorted(slices.Values(m.choose)); !ascending(sorted, int32(len(g.calls))) ||
		len(sorted) > 0 && sorted[0] <= i {
		return errors.New("it chooses a call that is not later, or one twice")
	}
	return nil
}

// says reports whether m says anything.
func (m *more) says() bool {
	return len(m.after)+len(m.choose)+len(m.hold) > 0 ||
		m.name != "" || m.size != 0 || m.colocate != "" || m.retries != 0 || m.keep || m.anyOf
}

// ascending reports whether list has each number once, from 0 and below end, in ascending order.
func ascending(list []int32, end int32) bool {
	last := int32(-1)
	for _, i := range list {
		if i <= last || i >= end {
			return false
		}
		last = i
	}
	return true
}

// mostQuoted is the number of bytes of a text from outside that an error quotes.
const mostQuoted = 80

func quoted(s string) string {
	if len(s) <= mostQuoted {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q…", s[:mostQuoted])
}

// shortened returns err, or the beginning of its text if that is long: encoding/json quotes names and numbers whole.
func shortened(err error) error {
	const most = 4 * mostQuoted
	text := err.Error()
	if len(text) <= most {
		return err
	}
	text = text[:most]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return errors.New(text + "…")
}
