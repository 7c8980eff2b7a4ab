package workloads

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/atomicfile"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
)

// A Param is an input of some workloads besides their size. It is a flag of wsbench run.
type Param struct {
	Name    string
	Unit    string // stands for the value in help: F in "-hit F"
	About   string // one line
	Default string // empty: without a value in the flags there is none

	output bool // it names a file to write, which the results do not depend on
	// Parse reads a value. Its error is a phrase after the value, as in "choose 0 to 6".
	Parse func(string) (any, error)
}

// NewParam returns a parameter whose values parse reads. An error of parse is a phrase that follows the value in a
// message, as in "choose 0 to 6".
func NewParam[T any](name, unit, byDefault, about string, parse func(string) (T, error)) *Param {
	return &Param{
		Name: name, Unit: unit, About: about, Default: byDefault,
		Parse: func(s string) (any, error) { return parse(s) },
	}
}

// IntParam returns a parameter with the values from least to most.
func IntParam(name, unit string, byDefault, least, most int, about string) *Param {
	return NewParam(name, unit, strconv.Itoa(byDefault), about, IntFrom(least, most))
}

// IntFrom returns a function that reads numbers from least to most.
func IntFrom(least, most int) func(string) (int, error) {
	return func(s string) (int, error) {
		i, err := strconv.Atoi(s)
		if err != nil || i < least || i > most {
			return 0, fmt.Errorf("choose %d to %d", least, most)
		}
		return i, nil
	}
}

// outputParam returns a parameter that is the name of a file to write.
func outputParam(name, about string) *Param {
	p := NewParam(name, "FILE", "", about, func(file string) (string, error) {
		if file == "" {
			return "", input.Errorf("-%s needs the name of a file", name)
		}
		f, err := atomicfile.Create(file)
		if err == nil {
			err = f.Abandon()
		}
		if err != nil {
			return "", input.Errorf("-%s: %v", name, err)
		}
		return file, nil
	})
	p.output = true
	return p
}

// Params lists the parameters of all workloads, in the order of their first workload.
func Params(workloads []*Workload) (all []*Param) {
	for _, w := range workloads {
		for _, p := range w.Params {
			if !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return all
}

// Values are the values of the parameters of a workload.
type Values struct {
	byName map[string]any
	inputs string
}

// value returns the value of a parameter of the workload.
func value[T any](v Values, p *Param) T { return v.byName[p.Name].(T) }

// outputFile returns the name of the file that an [outputParam] has, or nothing.
func outputFile(v Values, p *Param) string {
	file, _ := v.byName[p.Name].(string)
	return file
}

// String returns the values as in "view=3", in the form of the Go benchmark format. It is empty for a workload without
// parameters.
func (v Values) String() string { return v.inputs }

// ReadValues reads the values of the parameters of w. Parameters that asked does not have get their defaults.
func (w *Workload) ReadValues(asked map[string]string) (v Values, err error) {
	v.byName = make(map[string]any)
	var inputs []string
	for _, p := range w.Params {
		text, ok := asked[p.Name]
		if !ok {
			if text = p.Default; text == "" {
				continue
			}
		}
		if v.byName[p.Name], err = p.Parse(text); err != nil {
			var bad *input.Error
			if errors.As(err, &bad) {
				return v, err
			}
			return v, input.Errorf("-%s %s: %v", p.Name, text, err)
		}
		if p.output {
			continue
		}
		inputs = append(inputs, fmt.Sprintf("%s=%v", p.Name, v.byName[p.Name]))
	}
	v.inputs = strings.Join(inputs, "/")
	return v, nil
}

// IsOf reports whether p is a parameter of w.
func (p *Param) IsOf(w *Workload) bool { return slices.Contains(w.Params, p) }
