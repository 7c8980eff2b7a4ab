package history

import (
	"fmt"
	"strings"

	"github.com/anishathalye/porcupine"
)

// list is the model's state: one byte for each item, the oldest first.
type list string

// A model applies o to l and returns the next list. ok is false if l would have given another answer.
type model func(l list, o *Op) (ok bool, next list)

// checkOrder: there is an order of the calls in which a list would have given the same answers. It ignores the calls
// for which leftOut is true.
func (h *History) checkOrder(step model, leftOut func(o *Op) bool) error {
	initial := make([]byte, h.Initial)
	for i := range initial {
		initial[i] = byte(i + 1)
	}
	m := porcupine.Model{
		Init: func() any { return list(initial) },
		Step: func(state, input, _ any) (bool, any) { return step(state.(list), input.(*Op)) },
	}
	var ops []porcupine.Operation
	for i := range h.Ops {
		o := &h.Ops[i]
		if o.Kind != Len && !leftOut(o) { // lengths have a rule of their own
			ops = append(ops, porcupine.Operation{ClientId: o.Thread, Input: o, Call: o.Call, Return: o.Return})
		}
	}
	if porcupine.CheckOperations(m, ops) {
		return nil
	}
	_, info := porcupine.CheckOperationsVerbose(m, ops, 0)
	var longest []porcupine.Operation
	for _, partial := range info.PartialLinearizationsOperations()[0] {
		if len(partial) > len(longest) {
			longest = partial
		}
	}
	var b strings.Builder
	for i, o := range longest {
		fmt.Fprintf(&b, "%s%d: %v", [...]string{"", "; "}[min(i, 1)], o.ClientId, o.Input)
	}
	return fmt.Errorf("no order of the calls explains the answers; "+
		"the longest explained part, thread by thread:\n%s", &b)
}
