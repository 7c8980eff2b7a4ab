package cluster

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// A Codec turns values into bytes, for their way from one partition to another. Values of different types, and calls of
// one Codec at the same time, are independent of each other.
type Codec interface {
	// Name names the format. It is a part of the [Signature] of every function that takes or returns such a value.
	Name() string
	Encode(v any) ([]byte, error)
	// Decode stores a value in what into points to, which is the zero value of the type that was registered.
	Decode(data []byte, into any) error
}

// JSON is the codec of encoding/json. It is the default for all types.
var JSON Codec = jsonCodec{}

type jsonCodec struct{}

func (jsonCodec) Name() string                       { return "json" }
func (jsonCodec) Encode(v any) ([]byte, error)       { return json.Marshal(v) }
func (jsonCodec) Decode(data []byte, into any) error { return json.Unmarshal(data, into) }

// A port is how a registry encodes one type.
type port struct {
	typ    reflect.Type
	codec  Codec
	hash   string // of the name of the codec, and of the structure of the type
	decode func(data []byte) (any, error)
}

func newPort[T any](codec Codec) (*port, error) {
	t := reflect.TypeFor[T]()
	hash, err := hashType(t, codec)
	if err != nil {
		return nil, err
	}
	return &port{typ: t, codec: codec, hash: hash, decode: func(data []byte) (any, error) {
		var v T
		err := codec.Decode(data, &v)
		return v, err
	}}, nil
}

// pack encodes a value. v is nil for the zero value of an interface type.
func (p *port) pack(v any) (packed wire.Value, err error) {
	defer p.caught("encode", &err)
	data, err := p.codec.Encode(v)
	if err != nil {
		return wire.Value{}, p.failed("encode", err)
	}
	if p.codec.Name() != JSON.Name() {
		return wire.Value{Bytes: data}, nil
	}
	if !json.Valid(data) {
		return wire.Value{}, p.failed("encode", fmt.Errorf("the codec named %q has not written JSON", JSON.Name()))
	}
	return wire.Value{Data: data}, nil
}

// unpack decodes what a port of the same hash has encoded.
func (p *port) unpack(packed wire.Value) (v any, err error) {
	defer p.caught("decode", &err)
	data := packed.Bytes
	if p.codec.Name() == JSON.Name() {
		data = packed.Data
	}
	v, err = p.decode(data)
	if err != nil {
		return nil, p.failed("decode", err)
	}
	return v, nil
}

// convert returns v, which is of the type of from, as one of the type of p. Types of one hash may be different types of
// Go, such as a copy in another package.
func (p *port) convert(v any, from *port) (any, error) {
	if p.typ == from.typ {
		return v, nil
	}
	packed, err := from.pack(v)
	if err != nil {
		return nil, err
	}
	return p.unpack(packed)
}

func (p *port) failed(verb string, err error) error {
	return fmt.Errorf("cluster: codec %s cannot %s a value of type %v: %w", p.codec.Name(), verb, p.typ, err)
}

// caught makes an error of a panic in a codec, or in a method of a value that the codec calls.
func (p *port) caught(verb string, err *error) {
	if r := recover(); r != nil {
		*err = p.failed(verb, fmt.Errorf("it panicked: %v", r))
	}
}
