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
		headJSON
		Calls callList `json:"calls"`
	}
	headJSON struct {
		V          int             `json:"v"`
		Name       string          `json:"name"`
		Functions  []functionJSON  `json:"functions"` // in the order in which calls first name them
		Values     []valueJSON     `json:"values,omitempty"`
		Semaphores []semaphoreJSON `json:"semaphores,omitempty"`
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

// A callList is read call by call: a callJSON is three times as large as a call.
type callList []call

// MarshalJSON writes the graph. Equal graphs, built by the same calls, give equal JSON. It fails if the graph could not
// run, as with a value that could not be encoded.
func (g *Graph) MarshalJSON() ([]byte, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := g.write(&out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// write writes the JSON of the graph, call by call.
func (g *Graph) write(w io.Writer) error {
	head := headJSON{V: graphVersion, Name: g.name, Functions: []functionJSON{}}
	for _, p := range g.prototypes {
		head.Functions = append(head.Functions, functionJSON{Name: p.name, Takes: p.takes, All: p.all, Gives: p.returns})
	}
	for _, v := range g.values {
		head.Values = append(head.Values, valueJSON{Type: v.port, JSON: v.packed.Data, Bytes: v.packed.Bytes})
	}
	for _, s := range g.semaphores {
		head.Semaphores = append(head.Semaphores, semaphoreJSON{Name: s.name, Permits: s.permits})
	}
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	text = append(text[:len(text)-len("}")], `,"calls":[`...)
	var out callJSON
	for i := range g.calls {
		if _, err := w.Write(text); err != nil {
			return err
		}
		c := &g.calls[i]
		m := c.said()
		out = callJSON{
			Function: c.function, In: c.in, Cost: c.cost, Name: m.name, After: m.after, Choose: m.choose, Hold: m.hold,
			Size: m.size, Colocate: m.colocate, Retries: m.retries, Keep: m.keep, AnyOf: m.anyOf,
		}
		if text, err = json.Marshal(&out); err != nil {
			return err
		}
		if i < len(g.calls)-1 {
			text = append(text, ',')
		}
	}
	_, err = w.Write(append(text, "]}"...))
	return err
}

// UnmarshalJSON reads the list. It does not check what is in it.
func (l *callList) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if t, err := d.Token(); t != json.Delim('[') {
		return errors.Join(err, errors.New("the calls are not a list"))
	}
	*l = make(callList, 0, bytes.Count(data, []byte(`{"f":`))) // as many as there are, if they are as write writes them
	var c callJSON
	for d.More() {
		c = callJSON{}
		if err := d.Decode(&c); err != nil {
			return err
		}
		read := call{function: c.Function, in: c.In, cost: c.Cost}
		m := more{
			name: c.Name, after: c.After, choose: c.Choose, hold: c.Hold,
			size: c.Size, colocate: c.Colocate, retries: c.Retries, keep: c.Keep, anyOf: c.AnyOf,
		}
		if m.says() {
			said := m // which alone is allocated
			read.more = &said
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
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	g, err := in.graph()
	if err != nil {
		return nil, err
	}
	// What is written back finds all that encoding/json forgives: fields that are not known, there twice or in another
	// case, null, text that is not UTF-8.
	if g.checkText(data) == nil {
		return g, nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return nil, err
	}
	return g, g.checkText(compact.Bytes())
}

// checkText returns an error unless text is the JSON of the graph, without white space.
func (g *Graph) checkText(text []byte) error {
	c := &comparison{text: text}
	if err := g.write(c); err != nil {
		return err
	}
	if c.at < len(text) {
		return errors.New("text follows it")
	}
	return nil
}

// A comparison is a writer that fails when what is written differs from a text.
type comparison struct {
	text []byte
	at   int // how much of it was written
}

func (c *comparison) Write(p []byte) (int, error) {
	same := 0
	for rest := c.text[c.at:]; same < min(len(p), len(rest)) && p[same] == rest[same]; {
		same++
	}
	c.at += same
	if same < len(p) {
		const most = 20
		before := c.text[max(c.at-most, 0):c.at]
		quote := func(next []byte) string {
			return strings.ToValidUTF8(string(before)+string(next[:min(most, len(next))]), "?")
		}
		return same, fmt.Errorf("it is not as it would be written: %q instead of %q", quote(c.text[c.at:]), quote(p[same:]))
	}
	return same, nil
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
