package main

import (
	"bytes"
	"strconv"
	"strings"
)

// logLines returns n lines.
func logLines(n int) [][]byte {
	return bytes.SplitN(logText(100*n), []byte{'\n'}, n+1)[:n]
}

// parsings has lines as units.
func parsings(lines int) func() loopWork {
	log := logLines(lines)
	return valued(lines, func(i int) uint64 { return lineNumbers(log[i]) })
}

// lineNumbers returns a digest of the numbers of a line.
func lineNumbers(line []byte) (sum uint64) {
	number, inside := uint64(0), false
	for _, c := range line {
		if digit := c - '0'; digit < 10 {
			number, inside = 10*number+uint64(digit), true
		} else if inside {
			sum = sum*31 + number
			number, inside = 0, false
		}
	}
	return sum*31 + number
}

// allocatingParsings has lines as units.
func allocatingParsings(lines int) func() loopWork {
	log := logLines(lines)
	return func() loopWork {
		entries := make([]*logEntry, lines)
		return loopWork{
			items: lines,
			do: func(lo, hi int) {
				for i := lo; i < hi; i++ {
					entries[i] = parseEntry(string(log[i]))
				}
			},
			clear: func() { clear(entries) },
			digest: func() (sum uint64) {
				for _, e := range entries {
					sum = sum*31 + e.digest()
				}
				return sum
			},
		}
	}
}

// A logEntry is a line of a log.
type logEntry struct {
	time, level string
	fields      []logField
	bytes       int
}

type logField struct{ key, value string }

func parseEntry(line string) *logEntry {
	words := strings.Fields(line)
	e := &logEntry{time: words[0], level: strings.ToLower(words[1])}
	for _, w := range words[2:] {
		key, value, _ := strings.Cut(w, "=")
		if key == "bytes" {
			e.bytes, _ = strconv.Atoi(value)
		}
		e.fields = append(e.fields, logField{key, value})
	}
	return e
}

// digest of a line that was not parsed is 0.
func (e *logEntry) digest() uint64 {
	if e == nil {
		return 0
	}
	sum := digestBytes([]byte(e.time + e.level))
	for _, f := range e.fields {
		sum = sum*31 + digestBytes([]byte(f.key+f.value))
	}
	return sum*31 + uint64(e.bytes)
}
