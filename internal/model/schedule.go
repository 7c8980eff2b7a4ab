package model

import (
	"fmt"
	"strconv"
	"strings"
)

// A schedule leads to one execution: it has the decisions, and the bound on preemptions, on which it depends where
// there is a decision to take. It is written "2:1.z5.1": the bound, then the decisions. A run of zeros, the commonest
// decision, is written as z and its length.
type schedule struct {
	bound     int // negative: no bound
	decisions []int
}

// bound returns the bound by which pick decides where there is a decision to take.
func (c *Config) bound() int {
	if c.Random > 0 {
		return -1
	}
	return max(c.Preemptions, -1)
}

func (s schedule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d:", s.bound)
	for i := 0; i < len(s.decisions); {
		if i > 0 {
			b.WriteByte('.')
		}
		zeros := 0
		for i+zeros < len(s.decisions) && s.decisions[i+zeros] == 0 {
			zeros++
		}
		if zeros > 0 {
			fmt.Fprintf(&b, "z%d", zeros)
			i += zeros
			continue
		}
		b.WriteString(strconv.Itoa(s.decisions[i]))
		i++
	}
	return b.String()
}

// maxDecisions is more than an execution can have within any sensible number of steps.
const maxDecisions = 1 << 20

func parseSchedule(text string) (s schedule, err error) {
	bound, decisions, ok := strings.Cut(text, ":")
	if s.bound, err = strconv.Atoi(bound); !ok || err != nil || s.bound < -1 {
		return s, fmt.Errorf("schedule %q does not begin with its bound, as in 2:z5.1", text)
	}
	if decisions == "" {
		return s, nil
	}
	for _, f := range strings.Split(decisions, ".") {
		zeros, isRun := strings.CutPrefix(f, "z")
		n, err := strconv.ParseUint(zeros, 10, 31)
		switch {
		case err != nil || isRun && n+uint64(len(s.decisions)) > maxDecisions:
			return s, fmt.Errorf("schedule %q: %q is no decision", text, f)
		case isRun:
			s.decisions = append(s.decisions, make([]int, n)...)
		default:
			s.decisions = append(s.decisions, int(n))
		}
	}
	return s, nil
}
