package replay

import (
	"fmt"
	"strings"
)

// verdict judges c, and says what decided it. It is the only place with the rules of cores, of noise and of ideal
// schedules: a judge compares figures, and does not know them.
func (c *Claim) verdict(d *Data) Verdict {
	v := c.judged(d)
	switch {
	case v.Outcome == CannotShow:
		v.By = ByMachine
	case d.Env.Cores < c.needs.cores:
		v.Outcome, v.By, v.Why = CannotShow, ByMachine, c.needs.unmet(d.Env.Cores)
	case c.refuted != "" && v.Outcome == NotHeld:
		v.By, v.Why = ByDocument, c.refuted
	case c.needs.exact() && v.Outcome == Held:
		v.By = ByExact
	case c.needs.exact():
		v.By = ByOurs
	default:
		why := c.unresolved(d, v.Outcome)
		if why != "" && c.refuted != "" { // what holds by chance only does not hold
			v.Outcome, v.By, v.Why = NotHeld, ByDocument, c.refuted
		} else if why != "" {
			v.Outcome, v.By, v.Why = NotResolved, ByNoise, why
		} else if v.Outcome == Held {
			v.By = ByMeasured
			if c.refuted != "" {
				v.Why = "not by the schedule: " + c.refuted
			}
		} else {
			v.By = ByOurs
		}
	}
	return v
}

// judged compares the figures. Without the measurements that c is about it cannot be shown.
func (c *Claim) judged(d *Data) Verdict {
	v := Verdict{Found: "NaN"}
	if len(d.Rows) > 0 {
		v = c.judge(d)
	}
	if strings.Contains(v.Found, "NaN") {
		why := "measurements that were not made"
		if len(d.Refused) > 0 {
			why = strings.Join(d.Refused, "; ")
		}
		return cannotShow("nothing", why)
	}
	return v
}

// unmet says what is missing on a machine with fewer cores.
func (n need) unmet(cores int) string {
	return fmt.Sprintf("%d cores, and here are %d: %s", n.cores, cores, n.why)
}
