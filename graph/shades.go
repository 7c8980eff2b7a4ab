package graph

import "fmt"

// Shades returns the attributes by which [Graph.WriteDOTWith] colours the drawing of the graph by the report. A task
// that has failed is red, and one that was skipped for a failure is grey. The tooltips tell the failures. Other tasks
// have no attributes, so with a nil Report, as of a run in which nothing has failed, none has.
func (e *Report) Shades() func(index int) [][2]string {
	failed, skipped := make(map[int]string), make(map[int]*TaskError)
	if e != nil {
		for _, t := range e.Failed {
			said := failed[t.Index]
			if said != "" {
				said += "\n"
			}
			failed[t.Index] = said + fmt.Sprint(t.Cause)
		}
		for _, t := range e.Skipped {
			skipped[t.Index] = t.Cause
		}
	}
	return func(index int) [][2]string {
		if said, ok := failed[index]; ok {
			return [][2]string{{"style", "filled"}, {"fillcolor", "tomato"}, {"tooltip", said}}
		}
		if cause, ok := skipped[index]; ok {
			return [][2]string{{"style", "filled"}, {"fillcolor", "lightgrey"}, {"tooltip", fmt.Sprint("skipped: ", cause)}}
		}
		return nil
	}
}
