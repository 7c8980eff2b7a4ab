package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// A progress is a line at a terminal that says what is being measured. It is drawn before a long measurement and
// cleared after it, never meanwhile: a terminal that draws takes processor time from the measurement.
type progress struct {
	w     io.Writer // nil if standard error is no terminal
	drawn bool
}

const (
	// slow is the expected time from which on a measurement is announced.
	slow = time.Second
	// lineWidth keeps the line from being wrapped: only the last row of a wrapped line could be cleared.
	lineWidth = 79
)

func newProgress(stderr io.Writer) *progress {
	if isTerminal(stderr) {
		return &progress{w: stderr}
	}
	return &progress{}
}

// isTerminal reports whether a stream is a terminal or another device without an end, such as the null device.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// step announces the next measurement if it will take long.
func (p *progress) step(what string, expect time.Duration) {
	p.clear()
	if p.w == nil || expect < slow {
		return
	}
	p.say(fmt.Sprintf("%s, about %v to the end …", what, expect.Round(100*time.Millisecond)))
}

// say draws the line.
func (p *progress) say(what string) {
	p.clear()
	if p.w == nil {
		return
	}
	text := []rune(what)
	fmt.Fprint(p.w, string(text[:min(len(text), lineWidth)]))
	p.drawn = true
}

// clear removes the line.
func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}
