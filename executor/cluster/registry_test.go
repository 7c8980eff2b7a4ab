package cluster_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
)

// signatureOf returns the signature of a function "f" from A to R.
func signatureOf[A, R any](with ...func(*cluster.Registry)) cluster.Signature {
	reg := cluster.NewRegistry()
	for _, w := range with {
		w(reg)
	}
	return cluster.Register(reg, "f", func(context.Context, A) (r R, err error) { return r, nil }).Signature()
}

// using makes a registry use codec for values of type T.
func using[T any](codec cluster.Codec) func(*cluster.Registry) {
	return func(reg *cluster.Registry) { cluster.UseCodec[T](reg, codec) }
}

type (
	person   struct{ Name, City string }
	human    struct{ City, Name string } // JSON has no order of fields
	renamed  struct{ Nom, City string }
	retagged struct {
		Nom  string `json:"Name"`
		City string `json:"City,omitempty"`
		skip int    //nolint:unused // not encoded
	}
	omitted struct {
		Name, City string
		More       int `json:"-"`
	}
	quotedInt struct {
		N int `json:",string"`
	}
	plainInt struct{ N int }
	list     struct {
		Next  *list
		Value int
	}
	list2 struct {
		Value int
		Next  *list2
	}
	embeds struct {
		person
		Age int
	}
	celsius float64
)

func TestSignatures(t *testing.T) {
	base := signatureOf[person, int]()
	equal := map[string]cluster.Signature{
		"again":                 signatureOf[person, int](),
		"other names of types":  signatureOf[human, int](),
		"fields by their tags":  signatureOf[retagged, int](),
		"fields that are left":  signatureOf[omitted, int](),
		"the default, by name":  signatureOf[person, int](using[person](cluster.JSON)),
		"codecs of other types": signatureOf[person, int](using[string](gobCodec{})),
	}
	for name, s := range equal {
		require.Equal(t, base, s, name)
	}
	require.Equal(t, signatureOf[float64, int](), signatureOf[celsius, int]())
	require.Equal(t, signatureOf[list, int](), signatureOf[list2, int]())

	reg := cluster.NewRegistry
	others := []cluster.Signature{
		base,
		signatureOf[renamed, int](),
		signatureOf[int, person](),
		signatureOf[person, int64](),
		signatureOf[*person, int](),
		signatureOf[[]person, int](),
		signatureOf[[3]person, int](),
		signatureOf[[4]person, int](),
		signatureOf[map[string]person, int](),
		signatureOf[map[int]person, int](),
		signatureOf[quotedInt, int](),
		signatureOf[plainInt, int](),
		signatureOf[list, int](),
		signatureOf[embeds, int](),
		signatureOf[any, int](),
		signatureOf[time.Time, int](),
		signatureOf[time.Duration, int](),
		signatureOf[json.RawMessage, int](),
		signatureOf[struct{}, int](),
		signatureOf[person, int](using[person](gobCodec{})),
		signatureOf[person, int](using[int](gobCodec{})),
		cluster.RegisterAll(reg(), "f", func(context.Context, []person) (n int, err error) { return }).Signature(),
		cluster.Register0(reg(), "f", func(context.Context) (n int, err error) { return }).Signature(),
		cluster.Register2(reg(), "f", func(context.Context, person, person) (n int, err error) { return }).Signature(),
		cluster.Register3(reg(), "f", func(_ context.Context, a, b, c person) (n int, err error) { return }).Signature(),
		cluster.Register(reg(), "g", func(context.Context, person) (n int, err error) { return }).Signature(),
	}
	seen := map[cluster.Signature]bool{}
	for i, s := range others {
		require.False(t, seen[s], "signature %d", i)
		seen[s] = true
	}
}

// A signature is written to other machines, so it must not change from one version to the next.
func TestSignatureIsKnown(t *testing.T) {
	require.Equal(t, cluster.Signature("2a94562b161db01a04e15a1681a593ef"), signatureOf[person, []time.Time]())
}

func TestRegistryRefuses(t *testing.T) {
	type hidden struct{ n int } //nolint:unused // that is the point
	one := func(context.Context) (int, error) { return 1, nil }
	cases := map[string]func(reg *cluster.Registry){
		`function "f" is nil`:     func(reg *cluster.Registry) { cluster.Register0[int](reg, "f", nil) },
		"a function needs a name": func(reg *cluster.Registry) { cluster.Register0(reg, "", one) },
		"has 201 bytes, and may have 200": func(reg *cluster.Registry) {
			cluster.Register0(reg, strings.Repeat("f", 201), one)
		},
		"not valid UTF-8": func(reg *cluster.Registry) { cluster.Register0(reg, "\xff", one) },
		`"f" is registered twice`: func(reg *cluster.Registry) {
			cluster.Register0(reg, "f", one)
			cluster.Register0(reg, "f", one)
		},
		"the registry is nil":           func(*cluster.Registry) { cluster.Register0(nil, "f", one) },
		"JSON cannot encode a chan int": func(reg *cluster.Registry) { registerType[chan int](reg) },
		"field F of cluster_test.withFunc: JSON cannot encode a func()": func(reg *cluster.Registry) {
			registerType[map[string][]withFunc](reg)
		},
		"JSON cannot decode a cluster_test.stringer":   func(reg *cluster.Registry) { registerType[stringer](reg) },
		"JSON would lose all of a cluster_test.hidden": func(reg *cluster.Registry) { registerType[hidden](reg) },
		"UseCodec comes too late": func(reg *cluster.Registry) {
			cluster.Register0(reg, "f", one)
			cluster.UseCodec[int](reg, gobCodec{})
		},
		"UseCodec of a nil codec": func(reg *cluster.Registry) { cluster.UseCodec[int](reg, nil) },
	}
	for text, register := range cases {
		t.Run(text, func(t *testing.T) {
			defer func() { require.Contains(t, recover(), text) }()
			register(cluster.NewRegistry())
		})
	}
}

type (
	withFunc struct{ F func() }
	stringer interface{ String() string }
)

func registerType[T any](reg *cluster.Registry) {
	cluster.Register0(reg, "f", func(context.Context) (v T, err error) { return v, nil })
}

func TestFunctions(t *testing.T) {
	f := newFunctions()
	all := maps.Collect(f.reg.Functions())
	require.Len(t, all, 8)
	require.Equal(t, f.add.Signature(), all["add"])
	require.Equal(t, f.one.Signature(), all["one"])
	require.Equal(t, f.clamp.Signature(), all["clamp"])
	require.Equal(t, f.sum.Signature(), all["sum"])
	var names []string
	for name := range f.reg.Functions() {
		names = append(names, name)
	}
	require.True(t, slices.IsSorted(names))
}

// gobCodec is another codec than JSON.
type gobCodec struct{}

func (gobCodec) Name() string { return "gob" }

func (gobCodec) Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

func (gobCodec) Decode(data []byte, into any) error {
	return gob.NewDecoder(bytes.NewReader(data)).Decode(into)
}

// badCodec is a codec that goes wrong.
type badCodec struct{ panics bool }

func (badCodec) Name() string { return "bad" }

func (c badCodec) Encode(any) ([]byte, error) {
	if c.panics {
		panic("encoding")
	}
	return nil, errBoom
}

func (badCodec) Decode([]byte, any) error { return errBoom }

// brokenCodec writes what it does not read, and what is not JSON.
type brokenCodec struct{ name string }

func (c brokenCodec) Name() string             { return c.name }
func (brokenCodec) Encode(any) ([]byte, error) { return []byte("{"), nil }
func (brokenCodec) Decode([]byte, any) error   { panic("decoding") }

func TestBrokenCodecs(t *testing.T) {
	for name, text := range map[string]string{
		"own":  "cannot decode a value of type int: it panicked: decoding",
		"json": `cannot encode a value of type int: the codec named "json" has not written JSON`,
	} {
		reg := cluster.NewRegistry()
		cluster.UseCodec[int](reg, brokenCodec{name})
		id := cluster.Register(reg, "id", func(_ context.Context, n int) (int, error) { return n, nil })
		g := cluster.NewGraph("g")
		id.Call(g, cluster.Value(1))
		_, err := cluster.Run(t.Context(), newExecutor(t), reg, g)
		require.ErrorContains(t, err, text)
	}
}

func TestCodecs(t *testing.T) {
	reg := cluster.NewRegistry()
	cluster.UseCodec[person](reg, gobCodec{})
	move := cluster.Register(reg, "move", func(_ context.Context, p person) (person, error) {
		p.City = "Oslo"
		return p, nil
	})
	g := cluster.NewGraph("g")
	c := move.Call(g, cluster.Value(person{"Ann", "Rome"}))
	want(t, mustRun(t, reg, g), c, person{"Ann", "Oslo"})
}

func TestCodecsThatFail(t *testing.T) {
	for _, codec := range []cluster.Codec{badCodec{}, badCodec{panics: true}} {
		reg := cluster.NewRegistry()
		cluster.UseCodec[int](reg, codec)
		id := cluster.Register(reg, "id", func(_ context.Context, n int) (int, error) { return n, nil })
		g := cluster.NewGraph("g")
		id.Call(g, cluster.Value(1))
		_, err := cluster.Run(t.Context(), newExecutor(t), reg, g)
		require.ErrorContains(t, err, `graph "g": cluster: codec bad cannot encode a value of type int`)
		_, err = g.MarshalJSON()
		require.Error(t, err)
		_, err = g.Hash()
		require.Error(t, err)
	}
	reg := cluster.NewRegistry()
	id := cluster.Register(reg, "id", func(_ context.Context, v any) (any, error) { return v, nil })
	g := cluster.NewGraph("g")
	id.Call(g, cluster.Value[any](func() {}))
	_, err := cluster.Run(t.Context(), newExecutor(t), reg, g)
	var unsupported *json.UnsupportedTypeError
	require.True(t, errors.As(err, &unsupported))
}

func registerNamed[T any](reg *cluster.Registry, name string) cluster.Func0[T] {
	return cluster.Register0(reg, name, func(context.Context) (v T, err error) { return v, nil })
}
