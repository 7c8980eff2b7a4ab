package cluster

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// A Signature is a hash of all on which a submitter and a worker must agree for a call of a function: its name, and for
// each input and the result the codec and the structure of the type. For JSON the structure has the names of fields as
// they are written, in any order, and not the names of types, except for types that write themselves.
type Signature string

// hashText returns a hash of texts, each written with its length.
func hashText(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d:", len(t))
		io.WriteString(h, t)
	}
	return hex.EncodeToString(h.Sum(nil)[:hashBytes])
}

// hashBytes is the length of hashes of types and functions. No two of them meet by chance, in any number of programs.
const hashBytes = 16

func hashType(t reflect.Type, codec Codec) (string, error) {
	d := describer{json: codec.Name() == JSON.Name()}
	if err := d.describe(t); err != nil {
		return "", fmt.Errorf("codec %s, type %v: %w", codec.Name(), t, err)
	}
	return hashText("type", codec.Name(), d.text.String()), nil
}

// A describer writes the structure of a type.
type describer struct {
	json bool // as encoding/json writes it; else as it is in Go
	text strings.Builder
	open []reflect.Type // the types around, for types that contain themselves
}

func (d *describer) describe(t reflect.Type) error {
	if i := slices.Index(d.open, t); i >= 0 {
		fmt.Fprintf(&d.text, "^%d", i)
		return nil
	}
	d.open = append(d.open, t)
	defer func() { d.open = d.open[:len(d.open)-1] }()
	if d.json && writesItself(t) {
		fmt.Fprintf(&d.text, "itself(%s %s)", t.PkgPath(), t)
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		d.text.WriteString("*")
		return d.describe(t.Elem())
	case reflect.Slice:
		d.text.WriteString("[]")
		return d.describe(t.Elem())
	case reflect.Array:
		fmt.Fprintf(&d.text, "[%d]", t.Len())
		return d.describe(t.Elem())
	case reflect.Map:
		d.text.WriteString("map[")
		if err := d.describe(t.Key()); err != nil {
			return err
		}
		d.text.WriteString("]")
		return d.describe(t.Elem())
	case reflect.Struct:
		return d.describeStruct(t)
	case reflect.Interface:
		if d.json && t.NumMethod() > 0 {
			return fmt.Errorf("JSON cannot decode a %v: it is an interface with methods", t)
		}
	case reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		if d.json {
			return fmt.Errorf("JSON cannot encode a %v", t)
		}
	}
	d.text.WriteString(t.Kind().String())
	return nil
}

func (d *describer) describeStruct(t reflect.Type) error {
	type field struct{ name, structure string }
	var fields []field
	for f := range t.Fields() {
		name, with, _ := strings.Cut(f.Tag.Get("json"), ",")
		embedded := f.Anonymous && (name == "" || !d.json)
		if d.json && f.Tag.Get("json") == "-" || !f.IsExported() && !embedded {
			continue
		}
		inner := describer{json: d.json, open: d.open}
		if err := inner.describe(f.Type); err != nil {
			return fmt.Errorf("field %s of %v: %w", f.Name, t, err)
		}
		structure := inner.text.String()
		switch {
		case !d.json:
			name = f.Name
		case embedded:
			name = "+"
		case name == "":
			name = f.Name
		}
		if d.json && slices.Contains(strings.Split(with, ","), "string") {
			structure += ",string"
		}
		fields = append(fields, field{name, structure})
	}
	if len(fields) == 0 && t.NumField() > 0 && d.json {
		return fmt.Errorf("JSON would lose all of a %v: no field is exported", t)
	}
	if d.json {
		slices.SortStableFunc(fields, func(a, b field) int { return strings.Compare(a.name, b.name) })
	}
	d.text.WriteString("{")
	for _, f := range fields {
		fmt.Fprintf(&d.text, "%q %s;", f.name, f.structure)
	}
	d.text.WriteString("}")
	return nil
}

var (
	jsonMarshaler   = reflect.TypeFor[json.Marshaler]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// writesItself reports whether encoding/json calls a method of t.
func writesItself(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return false // its element writes itself
	}
	p := reflect.PointerTo(t)
	return p.Implements(jsonMarshaler) || p.Implements(jsonUnmarshaler) ||
		p.Implements(textMarshaler) || p.Implements(textUnmarshaler)
}
