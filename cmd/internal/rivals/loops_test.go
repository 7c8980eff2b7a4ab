package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// worksOf returns works on a small input, and the digest of right results.
func worksOf(l *loop, callers int) (works []loopWork, want uint64) {
	make := l.make(l.units(0.05))
	for range callers {
		works = append(works, make())
	}
	works[0].do(0, works[0].items)
	return works, works[0].digest()
}

// TestLoops: all rivals get the results of one thread in every loop. The results are not those of nothing.
func TestLoops(t *testing.T) {
	for _, l := range loops {
		works, want := worksOf(&l, 1)
		works[0].clear()
		require.NotEqual(t, want, works[0].digest(), l.name)
		require.Greater(t, works[0].items, 1, l.name)
		for _, r := range loopRivals {
			for _, workers := range []int{1, 3} {
				err := r.with(workers, func(run loopFunc) error {
					_, err := works[0].call(run, true, want)
					return err
				})
				require.NoError(t, err, "%s, %s", l.name, r.name)
			}
		}
	}
}

// TestLoopCallers: with every rival each caller gets right results.
func TestLoopCallers(t *testing.T) {
	for _, c := range loopCallers {
		works, want := worksOf(loopNamed("blur"), c.atOnce)
		for _, r := range loopRivals {
			err := r.with(2, func(run loopFunc) error {
				times, err := c.block(run, works, want, 0)
				require.Len(t, times, leastCalls*c.atOnce)
				require.Positive(t, slices.Min(times))
				return err
			})
			require.NoError(t, err, "%s, %s", c.name, r.name)
		}
	}
}

// TestWrongLoops: a missing item and an error are found with all callers.
func TestWrongLoops(t *testing.T) {
	refused := errors.New("refused")
	for _, c := range loopCallers {
		for _, l := range loops {
			works, want := worksOf(&l, c.atOnce)
			_, err := c.block(func(n int, body func(lo, hi int)) error { body(0, n-1); return nil }, works, want, 0)
			require.ErrorContains(t, err, "wrong answer: the digest is ", "%s, %s", c.name, l.name)
		}
		works, want := worksOf(loopNamed("calls"), c.atOnce)
		_, err := c.block(func(int, func(lo, hi int)) error { return refused }, works, want, 0)
		require.ErrorContains(t, err, "refused", c.name)
	}
}

func TestPack(t *testing.T) {
	for _, text := range []string{"", "a", "\xff\xff", strings.Repeat("a", 1000), string(logText(packBlock)[:packBlock])} {
		packed := pack(nil, new(packTable), []byte(text))
		require.LessOrEqual(t, len(packed), packMost)
		var back []byte
		for i := 0; i < len(packed); i++ {
			switch {
			case packed[i] != 255:
				back = append(back, packed[i])
			case packed[i+1] == 0:
				back = append(back, 255)
				i++
			default:
				from := len(back) - int(packed[i+2]) - int(packed[i+3])<<8
				for j := range int(packed[i+1]) {
					back = append(back, back[from+j])
				}
				i += 3
			}
		}
		require.Equal(t, text, string(back))
	}
	text := logText(packBlock)[:packBlock]
	require.Less(t, len(pack(nil, new(packTable), text)), packBlock*2/3)
}

func TestParse(t *testing.T) {
	line := "2026-11-27T01:02:03 WARN shard=5 bytes=77"
	require.Equal(t, &logEntry{"2026-11-27T01:02:03", "warn", []logField{{"shard", "5"}, {"bytes", "77"}}, 77},
		parseEntry(line))
	require.NotEqual(t, lineNumbers([]byte(line)), lineNumbers([]byte(line[:len(line)-1])))
	require.Equal(t, uint64(31*12+7), lineNumbers([]byte("a=12 b=7")))
}

func TestCheckPackage(t *testing.T) {
	require.NotZero(t, checkPackage(packageSource(1)))
	require.NotEqual(t, checkPackage(packageSource(1)), checkPackage(packageSource(2)))
	require.Zero(t, checkPackage("package p; var x int = nothing"))
	require.Zero(t, checkPackage("package"))
}

// TestMeasureCase: each round has the rivals in another order, and the ratios are those of the rounds.
func TestMeasureCase(t *testing.T) {
	var order []string
	rounds := 0
	block := func(r loopRival) ([]time.Duration, error) {
		order = append(order, r.name)
		slow := time.Duration(1 + rounds) // the machine becomes slower from round to round
		if len(order)%2 == 0 {
			rounds++
		}
		if r.name == "magpie" {
			return []time.Duration{slow * time.Millisecond, slow * 3 * time.Millisecond, slow * 2 * time.Millisecond}, nil
		}
		return []time.Duration{slow * 4 * time.Millisecond}, nil
	}
	p := plan{rounds: 2, most: 4}
	rows, err := p.measureCase(loopRow{Loop: "x"}, loopRivals[:2], block, &teller{out: &bytes.Buffer{}})
	require.NoError(t, err)
	require.Equal(t, []string{"magpie", "goroutines", "goroutines", "magpie", "goroutines", "goroutines"}, order[:6])
	require.Equal(t, "magpie", rows[1].Rival)
	require.Equal(t, 0.5, rows[1].Ratio)
	require.False(t, rows[1].Loose, "a drift leaves the ratio as it is")
	require.Equal(t, 2, rows[1].Rounds)
	require.True(t, rows[0].Loose)
	require.Equal(t, 4, rows[0].Rounds)
	require.Equal(t, 6, rows[1].Calls)
}

func TestQuantile(t *testing.T) {
	var values []float64
	for i := range 100 {
		values = append(values, float64(100-i))
	}
	for q, want := range map[float64]float64{0: 1, 0.5: 51, 0.9: 91, 0.99: 100, 1: 100} {
		require.Equal(t, want, quantile(values, q))
	}
	require.Equal(t, 3.0, quantile([]float64{3}, 0.99))
}

func TestLoopTable(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, writeLoops(&out, []loopRow{
		{Loop: "blur", MS: 0.1, Callers: "main", Workers: 2, Rival: "goroutines", Ratio: 1, Ratio90: 1, Ratio99: 1,
			P50US: 61.23, P90US: 70, P99US: 1234.5, figure: figure{Rounds: 5}},
		{Loop: "blur", MS: 0.1, Callers: "main", Workers: 2, Rival: "magpie", Ratio: 0.9, Ratio90: 1.2, Ratio99: 12,
			P50US: 55, P90US: 84, P99US: 14814, figure: figure{Rounds: 15, Spread: 0.23, Loose: true}},
	}))
	require.Equal(t, `blur, 0.1 ms, main, 2 workers
  of goroutines'      p50    p90    p99    p50 µs    p90 µs    p99 µs
  goroutines         1.00   1.00   1.00      61.2      70.0      1234
  magpie             0.90   1.20  12.00      55.0      84.0     14814  ±23 %

`, out.String())
}

func TestLoopJSON(t *testing.T) {
	var out, progress bytes.Buffer
	code := run(t.Context(), strings.Fields("-bench calls,lines -ms 0.05 -callers main -rivals conc -workers 2 -rounds 2 "+
		"-most 2 -seconds 0.0001 -format json"), &out, &progress)
	require.Equal(t, 0, code, progress.String())
	var of []string
	for d := json.NewDecoder(&out); d.More(); {
		var r loopRow
		require.NoError(t, d.Decode(&r))
		require.Equal(t, 2, r.Rounds)
		require.Positive(t, r.P50US)
		require.GreaterOrEqual(t, r.P99US, r.P90US)
		of = append(of, r.Loop+" "+r.Rival)
	}
	require.ElementsMatch(t, []string{"calls goroutines", "calls magpie", "calls conc", "lines goroutines",
		"lines magpie", "lines conc"}, of)
}
