package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// fieldNames are the names of the fields in the JSON of a graph.
var fieldNames = []string{
	"name", "semaphores", "tasks", "permits", "kind", "graph", "retry", "priority", "limits", "successors", "semaphore",
	"acquire", "release", "tries", "pause", "maxPause", "jitter", "when",
}

// checkText returns an error for text that encoding/json reads although it is wrong: invalid UTF-8, or an escaped half
// of a surrogate pair, which it replaces; null, which it skips; a repeated field, of which it takes the last; a field
// in another case. The text is JSON for a graphJSON otherwise.
func checkText(data []byte) error {
	if !utf8.Valid(data) || hasLoneSurrogate(data) {
		return errors.New("its text is not valid UTF-8")
	}
	var levels []level
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return nil // it was read before: this is its end
		}
		var in *level
		if len(levels) > 0 {
			in = &levels[len(levels)-1]
		}
		if name, is := token.(string); is && in != nil && in.object && !in.value {
			if err := in.begin(name); err != nil {
				return err
			}
			continue
		}
		if in != nil {
			in.value = false
		}
		switch token {
		case nil:
			return fmt.Errorf("null, before byte %d, is no graph and no part of one", d.InputOffset())
		case json.Delim('{'), json.Delim('['):
			levels = append(levels, level{object: token == json.Delim('{')})
		case json.Delim('}'), json.Delim(']'):
			levels = levels[:len(levels)-1]
		}
	}
}

// hasLoneSurrogate reports whether JSON escapes half of a surrogate pair, as in \ud800. Other text has no backslashes
// than that of strings.
func hasLoneSurrogate(data []byte) bool {
	const length = len(`\ud800`)
	escaped := func(i int) (r rune, ok bool) {
		if i+length > len(data) || data[i] != '\\' || data[i+1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(string(data[i+2:i+length]), 16, 16)
		return rune(n), err == nil
	}
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		r, ok := escaped(i)
		if !ok || !utf16.IsSurrogate(r) {
			i++ // also of an escaped backslash
			continue
		}
		low, _ := escaped(i + length)
		if utf16.DecodeRune(r, low) == utf8.RuneError {
			return true
		}
		i += 2*length - 1
	}
	return false
}

// A level is an object or array that has begun and not ended.
type level struct {
	object bool
	value  bool   // the value of a field comes next
	seen   uint32 // fields, by their places in fieldNames
}

// begin notes the name of a field.
func (l *level) begin(name string) error {
	i := slices.IndexFunc(fieldNames, func(known string) bool { return strings.EqualFold(known, name) })
	if i < 0 {
		return fmt.Errorf("unknown field %s", quoted(name))
	}
	if known := fieldNames[i]; name != known {
		return fmt.Errorf("unknown field %q: write it %q", name, known)
	}
	if l.seen&(1<<i) != 0 {
		return fmt.Errorf("field %q is twice in one object", name)
	}
	l.seen |= 1 << i
	l.value = true
	return nil
}

// mostQuoted is the number of bytes of a text from outside that an error quotes.
const mostQuoted = 80

// quoted quotes a text from outside, or the beginning of a long one.
func quoted(s string) string {
	if len(s) <= mostQuoted {
		return strconv.Quote(s)
	}
	return strconv.Quote(strings.ToValidUTF8(s[:mostQuoted], "")) + "…"
}

// shortened returns err, or the beginning of its text if that is long: encoding/json quotes names and numbers whole.
func shortened(err error) error {
	const most = mostQuoted + 20 // for the words before
	if text := err.Error(); len(text) > most {
		return errors.New(strings.ToValidUTF8(text[:most], "") + "…")
	}
	return err
}
