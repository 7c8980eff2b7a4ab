package figure

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// extent is the range of an axis.
type extent struct{ min, max float64 }

// extents returns the ranges of both axes: of the data and the bounds, with a margin on each side that the figure
// does not fix by min, max or zero.
func (f *Figure) extents() (x, y extent) {
	x, y = extent{math.Inf(1), math.Inf(-1)}, extent{math.Inf(1), math.Inf(-1)}
	for _, list := range [][]Series{f.Series, f.Marks, f.Document} {
		for _, s := range list {
			for _, p := range s.Points {
				x.add(*p.X)
				y.add(*p.Y)
				if p.hasRange() {
					y.add(*p.Low)
					y.add(*p.High)
				}
			}
		}
	}
	if n := len(f.X.Categories); n > 0 {
		x = extent{-0.5, float64(n) - 0.5}
	} else {
		margin := 0.03
		if f.Kind == Steps {
			margin = 0 // time begins at the axis
		}
		x = f.X.extent(x, margin, f.X.Zero)
	}
	y = f.Y.extent(y, 0.05, f.Y.Zero || f.Kind == Bars && !f.Y.Log && f.Y.Min == nil)
	return x, y
}

func (e *extent) add(v float64) { e.min, e.max = min(e.min, v), max(e.max, v) }

// extent widens the range of the data. margin is a part of the range.
func (a *Axis) extent(e extent, margin float64, zero bool) extent {
	if zero {
		e.add(0)
	}
	fixedMin, fixedMax := a.Min != nil, a.Max != nil
	if fixedMin {
		e.min = *a.Min
	}
	if fixedMax {
		e.max = *a.Max
	}
	if a.Log {
		if e.max < e.min*(1+1e-9) { // one value, or a limit beyond the data
			if !fixedMin {
				e.min = min(e.min, e.max) / 2
			}
			if !fixedMax {
				e.max = max(e.min, e.max) * 2
			}
		}
		by := math.Pow(e.max/e.min, margin)
		if !fixedMin {
			e.min /= by
		}
		if !fixedMax {
			e.max *= by
		}
		return e
	}
	if size := max(math.Abs(e.min), math.Abs(e.max)); e.max-e.min <= size*1e-9 {
		by := size / 2
		if size == 0 {
			by = 1
		}
		low, high := min(e.min, e.max), max(e.min, e.max)
		if !fixedMin {
			e.min = low - by
		}
		if !fixedMax {
			e.max = high + by
		}
	}
	by := (e.max - e.min) * margin
	if !fixedMin && !(zero && e.min == 0) {
		e.min -= by
	}
	if !fixedMax && !(zero && e.max == 0) {
		e.max += by
	}
	return e
}

// near is a scale without values that are too far outside for arithmetic on coordinates.
type near struct{ plot.Normalizer }

func (n near) Normalize(min, max, x float64) float64 {
	const far = 1e4
	v := n.Normalizer.Normalize(min, max, x)
	switch {
	case v < -far:
		return -far
	case v > far:
		return far
	}
	return v
}

func (a *Axis) scale() plot.Normalizer {
	if a.Log {
		return near{plot.LogScale{}}
	}
	return near{plot.LinearScale{}}
}

// ticks returns the ticks of an axis with numbers. values are those of the data: an axis of whole numbers has no ticks
// between them, and a logarithmic one of powers of two has its ticks there. about is the number of ticks aimed at.
func (a *Axis) ticks(e extent, values map[float64]bool, about int) []plot.Tick {
	switch {
	case a.Log && allOf(values, isPowerOf2):
		return powersOf2(e, about)
	case a.Log:
		return logTicks(e, about)
	}
	return linearTicks(e, about, len(values) > 0 && allOf(values, isWhole))
}

func allOf(values map[float64]bool, is func(float64) bool) bool {
	for v := range values {
		if !is(v) {
			return false
		}
	}
	return len(values) > 1
}

func isWhole(v float64) bool { return v == math.Trunc(v) }

func isPowerOf2(v float64) bool {
	fraction, _ := math.Frexp(v)
	return fraction == 0.5 && v >= 1
}

// linearTicks has steps of 1, 2 or 5 times a power of ten.
func linearTicks(e extent, about int, whole bool) []plot.Tick {
	raw := (e.max - e.min) / float64(about)
	magnitude := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * magnitude
	for _, m := range []float64{1, 2, 5} {
		if m*magnitude >= raw*0.999 {
			step = m * magnitude
			break
		}
	}
	if whole {
		step = max(step, 1)
	}
	var ticks []plot.Tick
	for i := math.Ceil(e.min/step - 1e-6); i <= math.Floor(e.max/step+1e-6); i++ {
		ticks = append(ticks, plot.Tick{Value: min(max(i*step, e.min), e.max)})
	}
	largest := max(math.Abs(e.min), math.Abs(e.max))
	for i := range ticks {
		ticks[i].Label = number(ticks[i].Value, largest, step)
	}
	return ticks
}

// logTicks labels powers of ten, and 2 and 5 times these if there are few.
func logTicks(e extent, about int) []plot.Tick {
	decades := math.Log10(e.max / e.min)
	if decades < 1 {
		return linearTicks(e, about, false)
	}
	every := int(math.Ceil(decades / float64(about)))
	var ticks []plot.Tick
	for k := int(math.Floor(math.Log10(e.min))); k <= int(math.Ceil(math.Log10(e.max))); k++ {
		if k%every != 0 {
			continue
		}
		for m := 1; m < 10; m++ {
			v, err := strconv.ParseFloat(strconv.Itoa(m)+"e"+strconv.Itoa(k), 64)
			if err != nil || v < e.min || v > e.max || m > 1 && every > 1 {
				continue
			}
			label := ""
			if m == 1 || decades < 2.5 && (m == 2 || m == 5) {
				label = number(v, v, v)
			}
			ticks = append(ticks, plot.Tick{Value: v, Label: label})
		}
	}
	return ticks
}

func powersOf2(e extent, about int) []plot.Tick {
	first, last := int(math.Ceil(math.Log2(e.min))), int(math.Floor(math.Log2(e.max)))
	every := (last-first)/(about+2) + 1
	var ticks []plot.Tick
	for k := first; k <= last; k++ {
		t := plot.Tick{Value: math.Exp2(float64(k))}
		if (k-first)%every == 0 {
			t.Label = number(t.Value, t.Value, t.Value)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// number formats a tick's value. The largest value of the axis decides the unit, its step the decimals.
func number(v, largest, step float64) string {
	if math.Abs(v) < step*1e-6 {
		return "0"
	}
	minus := strings.NewReplacer("-", "−", "e-0", "e−", "e+0", "e", "e+", "e")
	if largest < 1e-3 || largest >= 1e15 {
		return minus.Replace(strconv.FormatFloat(v, 'g', 9, 64))
	}
	unit, name := 1.0, ""
	if largest >= 1e4 {
		for _, suffix := range []string{"k", "M", "G", "T"} {
			if largest < unit*1e3*0.9999 || step < unit*10*0.9999 {
				break
			}
			unit, name = unit*1e3, suffix
		}
	}
	decimals := max(0, int(math.Ceil(-math.Log10(step/unit)-1e-6)))
	return minus.Replace(strconv.FormatFloat(v/unit, 'f', decimals, 64)) + name
}
