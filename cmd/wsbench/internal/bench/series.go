package bench

import (
	"context"
	"fmt"
	"time"
)

// A subject is measured as a whole: a workload, a probe or an experiment. It returns its results when all of them are
// verified.
type subject[R any] func(context.Context) ([]R, error)

// measureAll measures subjects one after the other.
func measureAll[R any](ctx context.Context, subjects []subject[R], emit func([]R) error) error {
	for _, measure := range subjects {
		results, err := measure(ctx)
		if err != nil {
			return err
		}
		if err := emit(results); err != nil {
			return err
		}
	}
	return nil
}

// A trial is a subject in one setting, ready to be repeated.
type trial[R any] struct {
	at fmt.Stringer // the setting
	// repeat measures and verifies one repetition. They are numbered from 1; 0 is the warm-up.
	repeat func(ctx context.Context, rep int) (R, error)
}

// A series repeats the trials of a subject in turn, so that a machine that drifts favours none.
type series struct {
	what  string
	reps  int
	cold  bool          // there is no warm-up
	guess time.Duration // of a repetition
	step  func(what string, expect time.Duration)
}

// repeatAll returns the results of all repetitions. Those of the warm-up are verified, and not among them: the first
// run pays for memory that later runs find.
func repeatAll[R any](ctx context.Context, s series, trials []trial[R]) (results []R, err error) {
	first := 0
	if s.cold {
		first = 1
	}
	p := pace{begin: time.Now(), each: s.guess, left: (s.reps + 1 - first) * len(trials)}
	for rep := first; rep <= s.reps; rep++ {
		for _, t := range trials {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if s.step != nil && p.isDue(time.Now()) {
				s.step(s.text(t.at, rep), p.toTheEnd())
			}
			r, err := t.repeat(ctx, rep)
			if err != nil {
				return nil, err
			}
			p.done(time.Now())
			if rep > 0 {
				results = append(results, r)
			}
		}
	}
	return results, nil
}

func (s series) text(at fmt.Stringer, rep int) string {
	if rep == 0 {
		return fmt.Sprintf("warming up %s on %v", s.what, at)
	}
	return fmt.Sprintf("%s on %v: %d of %d", s.what, at, rep, s.reps)
}

// A pace says when to announce the next repetition, and how long all will take.
type pace struct {
	begin, told time.Time
	each        time.Duration // a repetition on average
	made, left  int           // repetitions
}

// isDue reports whether to announce the next repetition. Of short ones it announces one in a second.
func (p *pace) isDue(now time.Time) bool {
	if now.Sub(p.told) < time.Second && p.each < time.Second {
		return false
	}
	p.told = now
	return true
}

func (p *pace) toTheEnd() time.Duration { return p.each * time.Duration(p.left) }

// done notes that a repetition has been made.
func (p *pace) done(now time.Time) {
	p.made++
	p.left--
	p.each = now.Sub(p.begin) / time.Duration(p.made)
}
