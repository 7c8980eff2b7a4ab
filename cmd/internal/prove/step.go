package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Steps and parts of layers, by kind.

type step = func(ctx context.Context, l *lab, y *layer, r *record) error

// exploredLine matches the line that model.Check logs for a program.
var exploredLine = regexp.MustCompile(`(?m): (\d+) schedules, (\d+) states, \d+ steps, at most (.+) preemptions$`)

// explored lists the model programs whose tests match, as "./package TestModelName/subtest".
func explored(tests string) func(context.Context, *lab, *layer) ([]string, error) {
	return func(ctx context.Context, l *lab, y *layer) (parts []string, err error) {
		for _, pkg := range y.packages {
			// Without preemptions the programs take no time, and print their names.
			r, err := l.test(ctx, pkg, y.tags, tests, "MAGPIE_MODEL_BOUND=0")
			if err != nil {
				return nil, err
			}
			for _, test := range r.tests {
				if r.passed[test] && exploredLine.MatchString(r.outputs[test]) {
					parts = append(parts, pkg+" "+test)
				}
			}
		}
		if len(parts) == 0 {
			return nil, errors.New("no model program told its name")
		}
		return parts, nil
	}
}

// explore explores one program.
func explore(bound int) func(context.Context, *lab, *layer, string) (part, error) {
	words := fmt.Sprint(bound)
	if bound < 0 {
		words = "any number of"
	}
	return func(ctx context.Context, l *lab, y *layer, name string) (part, error) {
		pkg, test, _ := strings.Cut(name, " ")
		start := time.Now()
		pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(test), "/", "$/^") + "$"
		said, err := l.test(ctx, pkg, y.tags, pattern, fmt.Sprintf("MAGPIE_MODEL_BOUND=%d", bound))
		if err != nil {
			return part{}, err
		}
		m := exploredLine.FindAllStringSubmatch(said.outputs[test], -1)
		if len(m) != 1 || !said.passed[test] || m[0][3] != words {
			return part{}, fmt.Errorf("%s does not say that it explored with %s preemptions:\n%s",
				name, words, said.text)
		}
		p := part{Name: name, Seconds: time.Since(start).Seconds()}
		p.Done, _ = strconv.ParseInt(m[0][1], 10, 64) // the expression matches digits only
		p.States, _ = strconv.ParseInt(m[0][2], 10, 64)
		return p, nil
	}
}

// provedLine matches the line that testkit.Proved logs.
var provedLine = regexp.MustCompile(`(?m)\bproved: (\d+) (.+)$`)

// proved returns the numbers in the lines "proved: N what" of what a piece printed. It is an error if none is about
// what.
func proved(what, out string) (counts, error) {
	found := counts{}
	for _, m := range provedLine.FindAllStringSubmatch(out, -1) {
		if n, err := strconv.ParseInt(m[1], 10, 64); err == nil {
			found[m[2]] += n
		}
	}
	if found[what] == 0 {
		return nil, fmt.Errorf("passed, but says nowhere %q:\n%s", "proved: N "+what, out)
	}
	return found, nil
}

// enterProved adds the numbers that a piece says it has proved.
func (r *record) enterProved(what, out string) error {
	found, err := proved(what, out)
	if err != nil {
		return err
	}
	r.Done += found[what]
	delete(found, what)
	for other, n := range found {
		if r.Also == nil {
			r.Also = counts{}
		}
		r.Also[other] += n
	}
	r.Pieces++
	return nil
}

func (r *record) seed() uint64 { return r.Seed + r.Pieces }

// enterSkipped counts a piece that this machine cannot do. The record says why, and other pieces take its place.
func (r *record) enterSkipped(why string) {
	if r.Also == nil {
		r.Also = counts{}
	}
	r.Also["skipped: "+why]++
	r.Pieces++
}

// count returns a step that repeats tests which take their number from the environment. Of tests that are skipped
// whatever their seed is, it is an error.
func count(tests string, piece int64) step {
	return func(ctx context.Context, l *lab, y *layer, r *record) error {
		for _, pkg := range y.packages {
			for skipped := false; ; skipped = true {
				said, err := l.test(ctx, pkg, y.tags, tests,
					fmt.Sprintf("MAGPIE_COUNT=%d", min(piece, y.goal-r.Done)), fmt.Sprintf("MAGPIE_SEED=%d", r.seed()))
				if err != nil {
					return err
				}
				why, skips := said.isSkipped()
				if !skips {
					if err := r.enterProved(y.what, said.text); err != nil {
						return err
					}
					break
				}
				if skipped {
					return fmt.Errorf("%s: %s: two pieces in turn are skipped: %s", pkg, tests, why)
				}
				r.enterSkipped(why)
			}
		}
		return nil
	}
}

// numbered lists n parts as "0/n", "1/n", ….
func numbered(n int) func(context.Context, *lab, *layer) ([]string, error) {
	return func(context.Context, *lab, *layer) (parts []string, err error) {
		for k := range n {
			parts = append(parts, fmt.Sprintf("%d/%d", k, n))
		}
		return parts, nil
	}
}

// command does one part with a command that takes the part as its last argument and says what it has proved.
func command(name string, args ...string) func(context.Context, *lab, *layer, string) (part, error) {
	return func(ctx context.Context, l *lab, y *layer, which string) (part, error) {
		start := time.Now()
		out, err := l.run(ctx, ".", nil, name, append(slices.Clone(args), which)...)
		if err != nil {
			return part{}, err
		}
		found, err := proved(y.what, out)
		return part{Name: which, Done: found[y.what], Seconds: time.Since(start).Seconds()}, err
	}
}

var fuzzLine = regexp.MustCompile(`(?m)^fuzz: elapsed: .*, execs: (\d+) `)

// fuzz returns a step in which go's fuzzer continues from the corpus in its cache. It runs in the package's folder, which
// may be in a nested module.
func fuzz(target string, piece int64) step {
	return func(ctx context.Context, l *lab, y *layer, r *record) error {
		for _, pkg := range y.packages {
			out, err := l.run(ctx, pkg, nil, "go", "test", "-run", "^$", "-fuzz", "^"+target+"$",
				"-fuzztime", fmt.Sprintf("%dx", min(piece, y.goal-r.Done)), ".")
			if err != nil {
				return err
			}
			m := fuzzLine.FindAllStringSubmatch(out, -1)
			if len(m) == 0 {
				return fmt.Errorf("the fuzzer does not say how many executions it made:\n%s", out)
			}
			n, _ := strconv.ParseInt(m[len(m)-1][1], 10, 64)
			r.Done += n
			r.Pieces++
		}
		return nil
	}
}

var soakLine = regexp.MustCompile(`(?m)^soak: seed \d+: (\d+) tasks in `)

// soak returns a step that runs the soak command.
func soak(piece int64) step {
	return func(ctx context.Context, l *lab, y *layer, r *record) error {
		out, err := l.run(ctx, ".", nil, "go", "run", "-tags", y.tags, "./cmd/internal/soak",
			"-tasks", fmt.Sprint(min(piece, y.goal-r.Done)), "-seed", fmt.Sprint(r.seed()))
		if err != nil {
			return err
		}
		m := soakLine.FindStringSubmatch(out)
		if m == nil {
			return fmt.Errorf("the soak does not say how many tasks it ran:\n%s", out)
		}
		n, _ := strconv.ParseInt(m[1], 10, 64)
		r.Done += n
		r.Pieces++
		return nil
	}
}
