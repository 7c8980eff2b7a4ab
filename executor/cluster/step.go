package cluster

import (
	"context"
	"fmt"

	"github.com/magpie-go/magpie/graph"
)

// run is the task of a step.
func (s *step) run(ctx context.Context, f *function, choices []choice) error {
	in, err := s.inputs(f, choices)
	if err != nil || s.absent {
		return err
	}
	v, err := f.call(callContext{ctx, s}, in)
	if err != nil {
		return err
	}
	return s.made(v, f.out)
}

// spawn is the task of a step whose function adds calls to a graph.
func (s *step) spawn(ctx context.Context, f *function, choices []choice, tasks *graph.Graph) error {
	in, err := s.inputs(f, choices)
	if err != nil || s.absent {
		return err
	}
	sub := &Graph{name: s.in.graph.label(s.index)}
	result, err := f.spawn(callContext{ctx, s}, sub, in)
	if err == nil {
		err = sub.check()
	}
	if err != nil {
		return err
	}
	e := newExecution(sub, s.in.registry, s.in.run)
	e.keys = s.key()
	from := result.in(sub, f.out)
	if err := e.bind(tasks, sub.all(), sub.choices(), nil); err != nil {
		return err
	}
	if from < 0 {
		v, err := f.out.unpack(sub.values[^from].packed)
		if err != nil {
			return err
		}
		return s.made(v, f.out)
	}
	last := tasks.Task(func(context.Context) error {
		s.absent = e.steps[from].absent
		s.packed.Absent = s.absent
		if s.absent {
			return nil
		}
		v, err := f.out.convert(e.result(from))
		if err != nil {
			return err
		}
		return s.made(v, f.out)
	}).Named("result")
	last.Succeed(e.added[from])
	return nil
}

// made keeps the result.
func (s *step) made(v any, out *port) (err error) {
	s.value = v
	if s.pack {
		s.packed, err = out.pack(v)
	}
	return err
}

// inputs returns the inputs of the call, once all calls before it have ended. If it is not to run, s.absent is set.
func (s *step) inputs(f *function, choices []choice) ([]any, error) {
	e := s.in
	c := &e.graph.calls[s.index]
	here, gone := 0, 0
	count := func(i int32) (absent bool) {
		if absent = e.absent(i); absent {
			gone++
		} else {
			here++
		}
		return absent
	}
	in := make([]any, len(c.in))
	for k, i := range c.in {
		var err error
		if i < 0 {
			in[k], err = f.input(k).unpack(e.graph.values[^i].packed)
		} else if !count(i) {
			in[k], err = f.input(k).convert(e.result(i))
		}
		if err != nil {
			return nil, fmt.Errorf("input %d: %w", k, err)
		}
	}
	said := e.graph.said(s.index)
	for _, i := range said.after {
		count(i)
	}
	chosen, err := e.chosen(choices)
	s.absent = gone > 0 && !(said.anyOf && here > 0) || !chosen
	s.packed.Absent = s.absent
	return in, err
}

// chosen reports whether a call has chosen so, or if there are no choices.
func (e *execution) chosen(choices []choice) (bool, error) {
	for _, c := range choices {
		if e.absent(c.by) {
			continue
		}
		v, err := e.index.convert(e.result(c.by))
		if err != nil || v == c.index {
			return true, err
		}
	}
	return len(choices) == 0, nil
}

// absent reports whether call i, which is over, did not run.
func (e *execution) absent(i int32) bool {
	if k := e.at(i); k >= 0 {
		return e.steps[k].absent
	}
	o := e.outer[i]
	return o != nil && o.packed.Absent
}

// result returns the result of call i, which is over and has run, and its port.
func (e *execution) result(i int32) (any, *port) {
	if k := e.at(i); k >= 0 {
		return e.steps[k].value, e.functions[e.graph.calls[i].function].out
	}
	o := e.outer[i]
	return o.value, o.port
}
