package wire

import (
	"errors"
	"strings"
	"testing"
)

func TestMessage(t *testing.T) {
	for _, m := range []Message{
		{V: Version, Kind: Start, Run: "r-1", Plan: "h", Begin: &Begin{Name: "x", Parts: 2}},
		{V: Version, Kind: Part, Run: "r_1", Plan: "h", Part: 7},
		{V: Version, Kind: Part, Run: "R", Plan: "h"},
	} {
		got, err := DecodeMessage(Encode(m))
		if err != nil {
			t.Fatal(err)
		}
		if got.ID() != m.ID() || got.Kind != m.Kind || got.Part != m.Part {
			t.Errorf("%+v is read as %+v", m, got)
		}
	}
}

// TestMalformed: what no version has written is an error, and what a later one writes another one.
func TestMalformed(t *testing.T) {
	message := func(data []byte) error { _, err := DecodeMessage(data); return err }
	state := func(data []byte) error { _, err := DecodeState(data); return err }
	output := func(data []byte) error { _, err := DecodeOutput(data, 1); return err }
	marks := func(data []byte) error { _, err := DecodeMarks(data, 9); return err }
	tries := func(data []byte) error { _, err := DecodeTries(data); return err }
	plan := func(data []byte) error { _, err := DecodePlan(data); return err }
	for _, test := range []struct {
		name   string
		decode func([]byte) error
		data   string
		want   error
	}{
		{"empty", message, ``, ErrMalformed},
		{"not JSON", message, `hello`, ErrMalformed},
		{"list", message, `[]`, ErrMalformed},
		{"no version", message, `{"kind":"part","run":"r","plan":"h"}`, ErrMalformed},
		{"negative version", message, `{"v":-1,"kind":"part","run":"r","plan":"h"}`, ErrMalformed},
		{"newer", message, `{"v":2,"kind":"merge"}`, ErrNewer},
		{"no run", message, `{"v":1,"kind":"part","plan":"h"}`, ErrMalformed},
		{"run with dots", message, `{"v":1,"kind":"part","run":"r.state","plan":"h"}`, ErrMalformed},
		{"run with a wildcard", message, `{"v":1,"kind":"part","run":"*","plan":"h"}`, ErrMalformed},
		{"long run", message, `{"v":1,"kind":"part","run":"` + strings.Repeat("r", 101) + `","plan":"h"}`, ErrMalformed},
		{"no plan", message, `{"v":1,"kind":"part","run":"r"}`, ErrMalformed},
		{"negative part", message, `{"v":1,"kind":"part","run":"r","plan":"h","part":-1}`, ErrMalformed},
		{"fraction", message, `{"v":1,"kind":"part","run":"r","plan":"h","part":1.5}`, ErrMalformed},
		{"other kind", message, `{"v":1,"kind":"stop","run":"r","plan":"h"}`, ErrMalformed},
		{"begins with nothing", message, `{"v":1,"kind":"start","run":"r","plan":"h"}`, ErrMalformed},
		{"negative deadline", message, `{"v":1,"kind":"start","run":"r","plan":"h","begin":{"deadline":-1}}`, ErrMalformed},
		{"state without a phase", state, `{"v":1}`, ErrMalformed},
		{"newer state", state, `{"v":9,"phase":"paused"}`, ErrNewer},
		{"output of another", output, `{"v":1,"part":2}`, ErrMalformed},
		{"marks of another size", marks, `{"v":1,"n":8,"bits":"AA=="}`, ErrMalformed},
		{"too few bits", marks, `{"v":1,"n":9,"bits":"AA=="}`, ErrMalformed},
		{"negative tries", tries, `{"v":1,"lost":-1}`, ErrMalformed},
		{"plan without partitions", plan, `{"v":1}`, ErrMalformed},
		{"plan with a bad class", plan, `{"v":1,"parts":[{"class":"a.>"}]}`, ErrMalformed},
		{"plan with negative retries", plan, `{"v":1,"parts":[{"class":"c","retries":-1}]}`, ErrMalformed},
		{"edge out of range", plan, `{"v":1,"parts":[{"class":"c","succs":[1]}]}`, ErrMalformed},
		{"edge known at one end", plan, `{"v":1,"parts":[{"class":"c","succs":[1]},{"class":"c"}]}`, ErrMalformed},
		{"edge known at the other end", plan, `{"v":1,"parts":[{"class":"c"},{"class":"c","preds":[0]}]}`, ErrMalformed},
		{"edge twice", plan, `{"v":1,"parts":[{"class":"c","succs":[1,1]},{"class":"c","preds":[0,0]}]}`, ErrMalformed},
		{"loop", plan, `{"v":1,"parts":[{"class":"c","succs":[0],"preds":[0]}]}`, ErrMalformed},
		{"circle", plan, `{"v":1,"parts":[{"class":"c","succs":[1],"preds":[1]},{"class":"c","succs":[0],"preds":[0]}]}`,
			ErrMalformed},
		{"good plan", plan, `{"v":1,"parts":[{"class":"c","succs":[1]},{"class":"c","preds":[0]}]}`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := test.decode([]byte(test.data)); !errors.Is(err, test.want) {
				t.Errorf("the error is %v instead of %v", err, test.want)
			}
		})
	}
}

func TestSinks(t *testing.T) {
	p, err := DecodePlan([]byte(`{"v":1,"parts":[{"class":"c","succs":[1]},{"class":"c","preds":[0]},{"class":"c"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Sinks(); len(s) != 2 || s[0] != 1 || s[1] != 2 {
		t.Errorf("the sinks are %v", s)
	}
}

func TestMarks(t *testing.T) {
	for _, n := range []int{1, 7, 8, 9, 64} {
		m := NewMarks(n)
		for i := range n {
			if m.Complete() || m.Has(i) {
				t.Fatalf("%d of %d are there, and %d too, or all", i, n, i)
			}
			m.Add(i)
			var err error
			if m, err = DecodeMarks(Encode(m), n); err != nil {
				t.Fatal(err)
			}
		}
		if !m.Complete() {
			t.Errorf("%d of %d are not all", n, n)
		}
	}
}

// FuzzDecode: no bytes are a panic, and what is read is written as something that is read.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"v":1,"kind":"part","run":"r","plan":"h"}`))
	f.Add([]byte(`{"v":1,"parts":[{"class":"c","succs":[1]},{"class":"c","preds":[0]}]}`))
	f.Add([]byte(`{"v":1,"phase":"done"}`))
	f.Add([]byte(`{"v":1,"n":9,"bits":"AAA="}`))
	f.Add([]byte(`{"v":1,"part":0,"values":{"3":{"data":[1]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := DecodeMessage(data); err == nil {
			if _, err := DecodeMessage(Encode(m)); err != nil {
				t.Errorf("%s is not read again: %v", data, err)
			}
		}
		if p, err := DecodePlan(data); err == nil {
			if p.Graph == nil {
				p.Graph = []byte("null")
			}
			if _, err := DecodePlan(Encode(p)); err != nil {
				t.Errorf("%s is not read again: %v", data, err)
			}
		}
		if s, err := DecodeState(data); err == nil {
			if _, err := DecodeState(Encode(s)); err != nil {
				t.Errorf("%s is not read again: %v", data, err)
			}
		}
		if m, err := DecodeMarks(data, 9); err == nil {
			m.Add(8)
			m.Complete()
		}
		if o, err := DecodeOutput(data, 0); err == nil {
			if _, err := DecodeOutput(Encode(o), 0); err != nil {
				t.Errorf("%s is not read again: %v", data, err)
			}
		}
	})
}
