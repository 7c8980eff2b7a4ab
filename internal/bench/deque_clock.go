package bench

import (
	"slices"
	"time"
)

// A stopwatch measures times that are hardly longer than a look at the clock.
type stopwatch struct {
	begin time.Time
	cost  time.Duration // the time between two looks with nothing in between
}

func newStopwatch() *stopwatch {
	s := &stopwatch{begin: time.Now()}
	const rounds, looks = 31, 200
	var means []time.Duration
	for range rounds {
		begin := s.now()
		for range looks - 1 {
			s.now()
		}
		means = append(means, (s.now()-begin)/looks)
	}
	slices.Sort(means) // for the median: a round may have been interrupted
	s.cost = means[rounds/2]
	return s
}

// now returns the time since the stopwatch was made.
func (s *stopwatch) now() time.Duration { return time.Since(s.begin) }
