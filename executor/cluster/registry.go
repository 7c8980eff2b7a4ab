package cluster

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Registry gives functions names, by which graphs call them. Submitters and workers have registries of their own,
// mostly filled by the same code. Its methods, and the functions that register, may be called at any time from any
// goroutine.
type Registry struct {
	mu        sync.Mutex
	functions map[string]*function
	ports     map[reflect.Type]*port
	codecs    map[reflect.Type]Codec
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{functions: map[string]*function{}, ports: map[reflect.Type]*port{}, codecs: map[reflect.Type]Codec{}}
}

// UseCodec makes codec the one for values of type T. It must be called before a function that takes or returns a T is
// registered, and panics otherwise. A submitter and its workers must agree: the name of the codec is a part of the
// [Signature] of such functions.
func UseCodec[T any](reg *Registry, codec Codec) {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	t := reflect.TypeFor[T]()
	switch {
	case codec == nil:
		panic("cluster: UseCodec of a nil codec")
	case reg.ports[t] != nil:
		panic(fmt.Sprintf("cluster: UseCodec comes too late: a function with type %v is registered", t))
	}
	reg.codecs[t] = codec
}

// Functions lists the functions, in the order of their names.
func (reg *Registry) Functions() iter.Seq2[string, Signature] {
	reg.mu.Lock()
	all := make([]*function, 0, len(reg.functions))
	for _, f := range reg.functions {
		all = append(all, f)
	}
	reg.mu.Unlock()
	slices.SortFunc(all, func(a, b *function) int { return strings.Compare(a.name, b.name) })
	return func(yield func(string, Signature) bool) {
		for _, f := range all {
			if !yield(f.name, f.signature) {
				return
			}
		}
	}
}

// A function is an entry of a registry. Either call or spawn is set.
type function struct {
	prototype

	in  []*port
	out *port

	call  func(ctx context.Context, in []any) (any, error)
	spawn func(ctx context.Context, sub *Graph, in []any) (source, error)
}

// input returns the port of input i.
func (f *function) input(i int) *port {
	if f.all {
		i = 0
	}
	return f.in[i]
}

// A prototype is what a graph says of a function that it calls.
type prototype struct {
	name      string
	takes     []string // hashes of the ports of the inputs
	all       bool     // any number of inputs like the first
	returns   string   // hash of the port of the result
	signature Signature
}

func newPrototype(name string, takes []string, all bool, returns string) prototype {
	s := hashText(append([]string{"function", name, strconv.FormatBool(all), returns}, takes...)...)
	return prototype{name: name, takes: takes, all: all, returns: returns, signature: Signature(s)}
}

// takesPort returns the hash of the port of input i.
func (p *prototype) takesPort(i int) string {
	if p.all {
		i = 0
	}
	return p.takes[i]
}

// maxName is the largest number of bytes in a name, of functions and others.
const maxName = 200

// checkName returns an error if name cannot be one. what it names stands in the error.
func checkName(what, name string) error {
	switch {
	case len(name) > maxName:
		return fmt.Errorf("the name of a %s has %d bytes, and may have %d", what, len(name), maxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("the name of a %s is not valid UTF-8", what)
	}
	return nil
}

// add registers f, whose ports are given.
func (reg *Registry) add(name string, f *function) *function {
	if err := checkName("function", name); err != nil {
		panic("cluster: " + err.Error())
	}
	if name == "" {
		panic("cluster: a function needs a name")
	}
	takes := make([]string, len(f.in))
	for i, p := range f.in {
		takes[i] = p.hash
	}
	f.prototype = newPrototype(name, takes, f.all, f.out.hash)
	reg.mu.Lock()
	defer reg.mu.Unlock()
	if reg.functions[name] != nil {
		panic(fmt.Sprintf("cluster: function %q is registered twice", name))
	}
	reg.functions[name] = f
	return f
}

// portOf returns the port for T. function is the name of the function that needs it.
func portOf[T any](reg *Registry, function string) *port {
	if reg == nil {
		panic(fmt.Sprintf("cluster: function %q: the registry is nil", function))
	}
	reg.mu.Lock()
	defer reg.mu.Unlock()
	t := reflect.TypeFor[T]()
	if p := reg.ports[t]; p != nil {
		return p
	}
	codec := reg.codecs[t]
	if codec == nil {
		codec = JSON
	}
	p, err := newPort[T](codec)
	if err != nil {
		panic(fmt.Sprintf("cluster: function %q cannot be registered: %v", function, err))
	}
	reg.ports[t] = p
	return p
}

// find returns the function of a prototype, or a *MissingError.
func (reg *Registry) find(p *prototype) (*function, error) {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	f := reg.functions[p.name]
	switch {
	case f == nil:
		return nil, &MissingError{Function: p.name, Want: p.signature}
	case f.signature != p.signature:
		return nil, &MissingError{Function: p.name, Want: p.signature, Have: f.signature}
	}
	return f, nil
}
