package bench

import (
	"encoding"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/executor/pool"
)

// DefaultQueue is the queue of a [workloads.Division] if none is asked for.
var DefaultQueue = pool.Centralised.String()

// parseQueue reads the Queue of a [DivisionPoint]: a queue, then a way to steal and a way to be idle, each after a plus
// sign, as in "perthread+neighbour+half+spin".
func parseQueue(asked string) (o pool.Options, err error) {
	words := strings.Split(asked, "+")
	name := words[0]
	if !isNamed(&o.Queue, name) {
		return o, input.Unknown("queue", name, texts(pool.Queues()))
	}
	var others []string
	for _, w := range words[1:] {
		if !isNamed(&o.Idle, w) {
			others = append(others, w)
		}
	}
	if len(others) == 0 {
		return o, checkSpelling(asked, o)
	}
	stealing := strings.Join(others, "+")
	known := isNamed(&o.Stealing, stealing)
	switch {
	case !known && !o.Queue.Steals():
		return o, input.Errorf("queue %q: what is %q? After %s may come +%v", asked, stealing, name, pool.Spin)
	case !known:
		return o, input.Errorf("queue %q: what is %q? After %s may come a way to steal, +%s, and +%v",
			asked, stealing, name, strings.Join(stealingOptions(), ", +"), pool.Spin)
	case o.Stealing != pool.NoStealing && !o.Queue.Steals():
		return o, input.Errorf("queue %q: all workers share the queue %s, so none steals: use %[2]s, or %v+%v",
			asked, name, pool.PerThread, o.Stealing)
	}
	return o, checkSpelling(asked, o)
}

// isNamed sets v to the value of that name, and reports whether there is one. "" is no name here.
func isNamed(v encoding.TextUnmarshaler, name string) bool {
	return name != "" && v.UnmarshalText([]byte(name)) == nil
}

// checkSpelling refuses another spelling of a queue than the one by which results are compared.
func checkSpelling(asked string, o pool.Options) error {
	words := []string{o.Queue.String()}
	if o.Stealing != pool.NoStealing {
		words = append(words, o.Stealing.String())
	}
	if o.Idle == pool.Spin {
		words = append(words, o.Idle.String())
	}
	if name := strings.Join(words, "+"); name != asked {
		return input.Errorf("queue %q: write it as %s", asked, name)
	}
	return nil
}

// stealingOptions lists the ways to steal, without "off".
func stealingOptions() (names []string) {
	for _, s := range pool.Stealings()[1:] {
		names = append(names, s.String())
	}
	return names
}

// validateDivisions returns an error if the divisions among the workloads cannot run as asked.
func (s *Session) validateDivisions() error {
	if !slices.ContainsFunc(s.Workloads, (*workloads.Workload).IsDivision) {
		if len(s.Axes.Queues)+len(s.Axes.Tasks) == 0 {
			return nil
		}
		var names []string
		for _, w := range workloads.Divisions() {
			names = append(names, w.Name)
		}
		return input.Errorf("queues and numbers of tasks are for lists of tasks, and none is asked for: there are %s",
			join(names))
	}
	for _, q := range s.Axes.Queues {
		if _, err := parseQueue(q); err != nil {
			return err
		}
	}
	for _, count := range s.Axes.Tasks {
		if count < 1 {
			return input.Errorf("tasks must be at least 1, not %d", count)
		}
		for _, w := range s.Workloads {
			if n := s.size(w); w.IsDivision() && count > n {
				return input.Errorf("%s with n=%d can be divided into at most %d tasks, not %d: choose fewer, or a larger "+
					"n", w.Name, n, n, count)
			}
		}
	}
	return nil
}
