package workloads

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// sleepLinear and sleepPermuted are document 001's synthetic benchmark, whose text says that task i sleeps for i units
// and whose figures say that the sleeps are random. The first has the sleeps in order, and the second in an order that
// the seed chooses. The document's unit is a second; with it, 320 tasks would take 51360 s.
var (
	sleepLinear = sleeping("sleep", "sleeps of 1 to n units in order, each a task unless -tasks says otherwise; "+
		"-unit is the unit", false)
	sleepPermuted = sleeping("sleep-permuted", "the same sleeps in an order that the seed chooses", true)
)

var unitParam = NewParam("unit", "D", "1ms", "the shortest sleep of sleep and sleep-permuted",
	func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 || d > time.Second {
			return 0, errors.New("choose a time of more than 0, and at most 1s")
		}
		return d, nil
	})

func sleeping(name, about string, permuted bool) *Workload {
	return &Workload{
		Name:     name,
		About:    about,
		Size:     "sleeps",
		Default:  40,
		Most:     1 << 16,
		Params:   []*Param{unitParam},
		Shape:    func(n int) Shape { return Shape{Tasks: float64(n), Data: 8 * float64(n)} },
		Division: func() Division { return &sleepDivision{permuted: permuted} },
	}
}

type sleepDivision struct {
	permuted bool
	unit     time.Duration
	units    []int // by sleep
	slept    atomic.Int64
	want     int64 // units
}

// Inputs implements Division.
func (s *sleepDivision) Inputs(n int, seed uint64, v Values) {
	s.unit, s.units = value[time.Duration](v, unitParam), Sleeps(n, seed, s.permuted)
	for _, u := range s.units {
		s.want += int64(u)
	}
}

// Sleeps returns the n sleeps of the workload sleep or, if they are permuted, of sleep-permuted, in units.
func Sleeps(n int, seed uint64, permuted bool) []int {
	units := make([]int, n)
	for i := range units {
		units[i] = i + 1
	}
	if permuted {
		rng := rand.New(rand.NewPCG(seed, 0))
		rng.Shuffle(n, func(i, j int) { units[i], units[j] = units[j], units[i] })
	}
	return units
}

// Tasks implements Division.
func (s *sleepDivision) Tasks(count int) []Part { return cut(len(s.units), count) }

// Work implements Division. The worker sleeps, not in executor.Blocking: its thread is what the document keeps busy.
func (s *sleepDivision) Work(p Part) bool {
	units := s.of(p)
	time.Sleep(s.time(units))
	s.slept.Add(units)
	return false
}

// of returns the units that a part sleeps.
func (s *sleepDivision) of(p Part) (units int64) {
	for _, u := range s.units[p.From:p.To] {
		units += int64(u)
	}
	return units
}

func (s *sleepDivision) time(units int64) time.Duration { return time.Duration(units) * s.unit }

// Bound implements [Bounded]: no schedule is shorter than the mean load of the workers, or than the longest task.
func (s *sleepDivision) Bound(parts []Part, workers int) time.Duration {
	longest := int64(0)
	for _, p := range parts {
		longest = max(longest, s.of(p))
	}
	return max(s.time(longest), s.time(s.want)/time.Duration(workers))
}

// Reset implements Division.
func (s *sleepDivision) Reset() { s.slept.Store(0) }

// Verify implements Division.
func (s *sleepDivision) Verify() error {
	if got := s.slept.Load(); got != s.want {
		return fmt.Errorf("the tasks slept for %d units, not %d", got, s.want)
	}
	return nil
}
