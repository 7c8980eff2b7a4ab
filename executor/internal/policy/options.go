package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Options are what some policies leave open. A field that is zero stands for a default.
type Options struct {
	// SleepThreshold is after how many failed attempts a thief considers sleeping (004, Algorithm 2).
	SleepThreshold int
	// Yields says when a thief offers its core (004, section 5.3).
	Yields Yields
	// BusyWakes has busy workers wake two others for each item that they show, in place of thieves (004, section 5.5).
	BusyWakes bool
	// CheckPeers has each answer of Host.Preempted compared with the kernel's records, where that is permitted. It is
	// for the host.
	CheckPeers bool
}

// mostSleepThreshold is the largest SleepThreshold. Document 004 studies 32 to 4096.
const mostSleepThreshold = 1 << 20

// Yields says when a thief offers its core to other threads.
type Yields uint8

const (
	YieldEach      Yields = iota // before each attempt
	YieldNever                   // not at all
	YieldDelayed                 // before each attempt, once twice as many as there are workers have failed in a row
	YieldSelective               // before each 64th attempt

	yieldModes // the number of values
)

// YieldsNames holds the names of the values of Yields.
var YieldsNames = [yieldModes]string{"each", "never", "delayed", "selective"}

// selected is the number of attempts of which one yields under YieldSelective.
const selected = 64

// due reports whether the thief yields now, before its next attempt, when failed attempts in a row have failed.
func (y Yields) due(failed, workers int) bool {
	switch y {
	case YieldNever:
		return false
	case YieldDelayed:
		return failed >= 2*workers
	case YieldSelective:
		return failed%selected == selected-1
	default:
		return true
	}
}

// A Knob is a field of Options that a policy may have.
type Knob struct {
	Name  string // of the field
	IsSet func(Options) bool
}

// Knobs holds every field of Options.
var Knobs = []Knob{
	KnobSleepThreshold: {"SleepThreshold", func(o Options) bool { return o.SleepThreshold != 0 }},
	KnobYields:         {"Yields", func(o Options) bool { return o.Yields != YieldEach }},
	KnobBusyWakes:      {"BusyWakes", func(o Options) bool { return o.BusyWakes }},
	KnobCheckPeers:     {"CheckPeers", func(o Options) bool { return o.CheckPeers }},
}

// The indices in Knobs.
const (
	KnobSleepThreshold = iota
	KnobYields
	KnobBusyWakes
	KnobCheckPeers
)

// Check returns everything that is wrong with o for the policy of a row of Table.
func (o Options) Check(row int) (errs []error) {
	for i, k := range Knobs {
		if k.IsSet(o) && !slices.Contains(Table[row].Knobs, i) {
			var having []string
			for _, r := range Table {
				if slices.Contains(r.Knobs, i) {
					having = append(having, r.Name)
				}
			}
			errs = append(errs, fmt.Errorf("%s is set, and policy %s does not have it: leave it zero, or use policy %s",
				k.Name, Table[row].Name, strings.Join(having, " or ")))
		}
	}
	if o.SleepThreshold < 0 || o.SleepThreshold > mostSleepThreshold {
		errs = append(errs, fmt.Errorf("SleepThreshold is %d: give 1 to %d failed attempts, or 0 for %d",
			o.SleepThreshold, mostSleepThreshold, sleepThreshold))
	}
	if o.Yields >= yieldModes {
		errs = append(errs, fmt.Errorf("Yields is %d: use one of %v", uint8(o.Yields), YieldsNames))
	}
	return errs
}
