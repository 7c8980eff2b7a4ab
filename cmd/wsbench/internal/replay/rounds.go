package replay

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/internal/gat"
)

// Rounds say how the programs of a measurement have turns. In each round each program runs once: it arrives, waits for
// a slot, runs, and gives the slot back. Between their turns programs wait for input, and use no processor.
type Rounds struct {
	// Slots is the number of programs that run at the same time. 0: all that have arrived.
	Slots int
	// Arrivals are the times at which the programs arrive, in ascending order, in parts of the time that the first
	// program takes alone. nil: all arrive at once. Then each round begins with another program, so that none has
	// always the same place.
	Arrivals []float64
}

// rounds plans programs that have turns.
func (p *Plan) rounds(expect time.Duration, r Rounds, reps int, programs ...Program) {
	p.add(&Measurement{Programs: programs, Reps: reps, Expect: expect, Rounds: &r})
}

func (r *Rounds) key() string {
	return fmt.Sprintf(" # rounds: slots %d, arrivals %v", r.Slots, r.Arrivals)
}

// about describes r for people.
func (r *Rounds) about() string {
	switch {
	case r == nil:
		return ""
	case r.Slots == 1:
		return ", in turn"
	case r.Slots > 1:
		return fmt.Sprintf(", %d at a time", r.Slots)
	}
	return ", by arrival"
}

// A turn is a program's run in a round.
type turn struct {
	ResponseNS int64 `json:"response_ns"` // from the program's arrival to its result
	RoundNS    int64 `json:"round_ns"`    // from the begin of the round to the last result of all programs
}

func (t turn) metrics() []bench.Metric {
	return []bench.Metric{
		{Name: "response-ns", Value: float64(t.ResponseNS)},
		{Name: "round-ns", Value: float64(t.RoundNS)},
	}
}

// rounds measures programs that have turns. They prepare one after the other: programs that share the machine with
// different cycles must not run at the same time.
func (r *runner) rounds(ctx context.Context, runs []programRuns, m *Measurement) (err error) {
	live, cancel := context.WithCancel(ctx)
	defer cancel()
	var mates []*mate
	err = func() error {
		for i := range runs {
			mate, err := r.startMate(live, runs[i].Program, 0)
			if err != nil {
				return err
			}
			mates = append(mates, mate)
			if err := mate.await(ctx, mate.ready); err != nil {
				return err
			}
		}
		var unit time.Duration
		skipped := 0
		if slices.ContainsFunc(m.Rounds.Arrivals, func(at float64) bool { return at > 0 }) {
			begin := time.Now()
			end, err := mates[0].turn(ctx)
			if err != nil {
				return err
			}
			unit, skipped = end.Sub(begin), 1
		}
		for rep := range m.Reps {
			turns, err := m.Rounds.round(ctx, mates, unit, rep)
			if err != nil {
				return err
			}
			for i := range runs {
				runs[i].Turns = append(runs[i].Turns, turns[i])
			}
		}
		for i, mate := range mates {
			runs[i].Results, _ = mate.soFar()
			if i == 0 {
				runs[i].Results = runs[i].Results[skipped:]
			}
		}
		return nil
	}()
	for _, m := range mates {
		_ = m.stdin.Close() // which ends the program
	}
	if err != nil {
		cancel()
	}
	for _, m := range mates {
		if waitErr := m.wait(ctx); err == nil {
			err = waitErr
		}
	}
	return err
}

// round makes one round. The unit is that of arrivals.
func (r *Rounds) round(ctx context.Context, mates []*mate, unit time.Duration, rep int) ([]turn, error) {
	type result struct {
		program int
		at      time.Time
		err     error
	}
	n := len(mates)
	results := make(chan result, n)
	turns := make([]turn, n)
	begin := time.Now()
	var last time.Time
	var failed error
	running, begun := 0, 0
	for done := 0; done < n && (failed == nil || running > 0); {
		var arrival <-chan time.Time
		if failed == nil && begun < n && (r.Slots == 0 || running < r.Slots) {
			i, at := begun, begin
			if r.Arrivals == nil {
				i = (begun + rep) % n
			} else {
				at = begin.Add(time.Duration(r.Arrivals[i] * float64(unit)))
			}
			wait := time.Until(at)
			if wait <= 0 {
				begun++
				running++
				go func() {
					end, err := mates[i].turn(ctx)
					turns[i].ResponseNS = end.Sub(at).Nanoseconds()
					results <- result{i, end, err}
				}()
				continue
			}
			arrival = time.After(wait)
		}
		select {
		case <-arrival:
		case got := <-results:
			running--
			done++
			if got.err != nil && failed == nil {
				failed = got.err
			}
			if got.at.After(last) {
				last = got.at
			}
		}
	}
	for i := range turns {
		turns[i].RoundNS = last.Sub(begin).Nanoseconds()
	}
	return turns, failed
}

// turn has m run once, and returns when its result came.
func (m *mate) turn(ctx context.Context) (end time.Time, err error) {
	if _, err := io.WriteString(m.stdin, "once\n"); err != nil {
		return end, fmt.Errorf("wsbench %s: %w", quote(m.program.Args), err)
	}
	select {
	case end = <-m.told:
		return end, nil
	case <-m.ended:
	}
	if err := m.wait(ctx); err != nil {
		return end, err
	}
	return end, fmt.Errorf("wsbench %s: ended early", quote(m.program.Args))
}

// shareFlag is the flag of a program that shares the machine.
const shareFlag = "-share"

// withTable returns a runner that has an allocation table of its own, for the programs of m that share the machine:
// others of this user that share it have no effect on the measurement, and need not have the same cycle. remove removes
// the table.
func (r *runner) withTable(m *Measurement) (own *runner, remove func()) {
	shares := func(p Program) bool { return slices.Contains(p.Args, shareFlag) }
	if !slices.ContainsFunc(m.Programs, shares) {
		return r, func() {}
	}
	dir, err := os.MkdirTemp(filepath.Dir(gat.Path()), "wsbench-replay-")
	if err != nil {
		if dir, err = os.MkdirTemp("", "wsbench-replay-"); err != nil {
			return r, func() {} // the default table
		}
	}
	table := filepath.Join(dir, "table.gat")
	return &runner{r.command, r.env, table}, func() { _ = os.RemoveAll(dir) }
}
