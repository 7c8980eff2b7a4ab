package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// parseLoops reads the sizes and the callers of loops.
func (p *plan) parseLoops(ms, callers string) error {
	p.loopSizes, p.callers = loopSizes, loopCallers
	if len(list(ms)) > 0 {
		p.loopSizes = nil
	}
	for _, text := range list(ms) {
		size, err := strconv.ParseFloat(text, 64)
		if err != nil || !(size > 0 && size <= 1000) {
			return fmt.Errorf("-ms %q: give more than 0 and at most 1000, as 0.1,1", ms)
		}
		p.loopSizes = append(p.loopSizes, size)
	}
	if len(list(callers)) > 0 {
		p.callers = nil
	}
	for _, name := range list(callers) {
		i := slices.IndexFunc(loopCallers, func(c loopCaller) bool { return c.name == name })
		if i < 0 {
			return fmt.Errorf("no callers %q: -help lists them", name)
		}
		p.callers = append(p.callers, loopCallers[i])
	}
	return nil
}

// runLoops measures loops and writes the rows of each case when it is measured.
func (p *plan) runLoops(ctx context.Context, out io.Writer, format string, t *teller) error {
	loose := false
	err := p.measureLoops(ctx, t, func(rows []loopRow) error {
		loose = loose || slices.ContainsFunc(rows, func(r loopRow) bool { return r.Loose })
		if format == "text" {
			return writeLoops(out, rows)
		}
		e := json.NewEncoder(out)
		for _, r := range rows {
			if err := e.Encode(r); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && loose && format == "text" {
		_, err = fmt.Fprintln(out, markNote)
	}
	return err
}
