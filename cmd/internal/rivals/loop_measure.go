package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A loopRow is what is known of a rival in one loop, of one size, with some callers. The ratios are to goroutines:
// Ratio is the median over the rounds of the p50 to that of goroutines in the same round. P50US is the median of the
// p50s. P90US and P99US are of all calls together, and so are their ratios.
type loopRow struct {
	Loop    string  `json:"loop"`
	MS      float64 `json:"ms"` // the size, in serial time
	Callers string  `json:"callers"`
	Workers int     `json:"workers"`
	Rival   string  `json:"rival"`
	Ratio   float64 `json:"ratio"`
	Ratio90 float64 `json:"ratio90"`
	Ratio99 float64 `json:"ratio99"`
	P50US   float64 `json:"p50_us"`
	P90US   float64 `json:"p90_us"`
	P99US   float64 `json:"p99_us"`
	Calls   int     `json:"calls"`
	figure          // of Ratio, and of P50US for goroutines
}

// measureLoops measures every loop in each size and with all callers, and emits the rows of each case. Rivals take
// turns block by block, on the same data.
func (p *plan) measureLoops(ctx context.Context, t *teller, emit func([]loopRow) error) error {
	var rivals []loopRival
	for _, r := range loopRivals {
		if r.name == loopYardstick || r.name == "magpie" || len(p.rivals) == 0 || slices.Contains(p.rivals, r.name) {
			rivals = append(rivals, r)
		}
	}
	for _, l := range p.loops {
		for _, ms := range p.loopSizes {
			if l.most > 0 && ms > l.most {
				continue
			}
			if err := p.measureLoop(ctx, &l, ms, rivals, t, emit); err != nil {
				return err
			}
		}
	}
	return nil
}

// measureLoop measures a loop in one size.
func (p *plan) measureLoop(
	ctx context.Context, l *loop, ms float64, rivals []loopRival, t *teller, emit func([]loopRow) error,
) error {
	workers := p.workers
	if len(workers) == 0 {
		workers = []int{runtime.NumCPU()}
	}
	newWork := l.make(l.units(ms))
	serial := newWork()
	serial.do(0, serial.items)
	want := serial.digest()
	for _, c := range p.callers {
		works := []loopWork{serial}
		for len(works) < c.atOnce {
			works = append(works, newWork())
		}
		for _, w := range workers {
			of := loopRow{Loop: l.name, MS: ms, Callers: c.name, Workers: w}
			rows, err := p.measureCase(of, rivals, func(r loopRival) ([]time.Duration, error) {
				return p.block(ctx, &c, r, w, works, want)
			}, t)
			if err == nil {
				t.done()
				err = emit(rows)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", of.title(), err)
			}
		}
	}
	return nil
}

// block has the callers make calls with one rival for the time of a block. It returns how long these took.
func (p *plan) block(
	ctx context.Context, c *loopCaller, r loopRival, workers int, works []loopWork, want uint64,
) (times []time.Duration, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	length := time.Duration(cmp.Or(p.seconds, loopSeconds) * float64(time.Second))
	err = r.with(workers, func(run loopFunc) error {
		times, err = c.block(run, works, want, length)
		return err
	})
	return times, err
}

func (r *loopRow) title() string {
	return fmt.Sprintf("%s, %v ms, %s, %d workers", r.Loop, r.MS, r.Callers, r.Workers)
}

// measureCase measures the rivals in one case, which of names. The first rival of a round is another in each.
func (p *plan) measureCase(
	of loopRow, rivals []loopRival, block func(loopRival) ([]time.Duration, error), t *teller,
) (rows []loopRow, err error) {
	p50s := make([][]float64, len(rivals)) // µs
	calls := make([][]float64, len(rivals))
	figures := make([][]float64, len(rivals)) // ratios of p50s, and for goroutines the p50s
	for round := 1; ; round++ {
		who := p.turns(figures, func(int) bool { return false }, 0)
		if len(who) == 0 {
			break
		}
		for turn := range who {
			i := who[(turn+round)%len(who)]
			t.tell(of.title(), p.round(round)+": "+rivals[i].name)
			times, err := block(rivals[i])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", rivals[i].name, err)
			}
			var us []float64
			for _, d := range times {
				us = append(us, float64(d.Nanoseconds())/1e3)
			}
			p50s[i] = append(p50s[i], quantile(us, 0.5))
			calls[i] = append(calls[i], us...)
		}
		for _, i := range who {
			f := p50s[i][len(p50s[i])-1]
			if i > 0 {
				f /= p50s[0][len(p50s[0])-1]
			}
			figures[i] = append(figures[i], f)
		}
	}
	for i, r := range rivals {
		row := of
		row.Rival, row.Calls = r.name, len(calls[i])
		row.P50US, _ = sumUp(p50s[i])
		row.P90US, row.P99US = quantile(calls[i], 0.9), quantile(calls[i], 0.99)
		row.Ratio, row.figure = sumUp(figures[i])
		if i == 0 {
			row.Ratio = 1
		}
		row.Ratio90, row.Ratio99 = row.P90US/quantile(calls[0], 0.9), row.P99US/quantile(calls[0], 0.99)
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows[1:], func(a, b loopRow) int { return cmp.Compare(a.Ratio, b.Ratio) })
	return rows, nil
}

// quantile sorts the values, and returns the least that is not below that share of them.
func quantile(values []float64, q float64) float64 {
	slices.Sort(values)
	return values[min(int(q*float64(len(values))), len(values)-1)]
}

// writeLoops writes the rows of one case as text.
func writeLoops(out io.Writer, rows []loopRow) error {
	var b strings.Builder
	line := func(cells ...any) {
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %-16s%7s%7s%7s%10s%10s%10s  %s", cells...), " ") + "\n")
	}
	b.WriteString(rows[0].title() + "\n")
	line("of goroutines'", "p50", "p90", "p99", "p50 µs", "p90 µs", "p99 µs", "")
	for _, r := range rows {
		line(r.Rival, ratio(r.Ratio), ratio(r.Ratio90), ratio(r.Ratio99), digits(r.P50US), digits(r.P90US),
			digits(r.P99US), r.mark())
	}
	_, err := fmt.Fprintln(out, b.String())
	return err
}

func ratio(x float64) string { return fmt.Sprintf("%.2f", x) }

// digits formats a time with three digits or more.
func digits(us float64) string {
	return strconv.FormatFloat(us, 'f', max(0, 2-int(math.Floor(math.Log10(us)))), 64)
}
