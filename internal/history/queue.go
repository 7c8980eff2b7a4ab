package history

import "fmt"

// CheckQueue returns an error that says what is wrong with a history of a queue, to which any thread may push, or nil.
// The package comment lists the rules.
func (h *History) CheckQueue() error {
	return h.check(h.checkNoPops, h.checkLost, h.checkLen, func() error {
		return h.checkOrder(queueModel, func(*Op) bool { return false })
	})
}

// checkNoPops: no thread pops from a queue.
func (h *History) checkNoPops() error {
	for i := range h.Ops {
		if o := &h.Ops[i]; o.Kind == Pop {
			return fmt.Errorf("a queue has no pop: %v", o)
		}
	}
	return nil
}

// queueModel is first in, first out.
func queueModel(l list, o *Op) (ok bool, next list) {
	switch {
	case o.Kind == Push:
		return true, l + list([]byte{byte(o.Item)})
	case o.Kind == IsEmpty:
		return o.Empty == (l == ""), l
	case o.Lost:
		return l != "", l
	case o.Item == 0:
		return l == "", l
	case l == "":
		return false, l
	}
	return int(l[0]) == o.Item, l[1:]
}
