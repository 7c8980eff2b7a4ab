package main

import (
	"errors"
	"flag"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
)

// newFlags returns an empty set of flags that leaves messages to its caller.
func newFlags(name string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return fs
}

// parse parses flags that may stand before, between and after other arguments, and returns the others.
func parse(fs *flag.FlagSet, args []string) (others []string, err error) {
	for {
		switch err := fs.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			return nil, errHelp
		case err != nil:
			return nil, input.Errorf("%v%s (wsbench %s -h lists the flags)", err, meant(fs, err), fs.Name())
		}
		if fs.NArg() == 0 {
			return others, nil
		}
		others = append(others, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

// meant returns the question whether another flag was meant, if err says that there is none of that name.
func meant(fs *flag.FlagSet, err error) string {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: ")
	if !unknown {
		return ""
	}
	var known []string
	fs.VisitAll(func(f *flag.Flag) { known = append(known, "-"+f.Name) })
	if question := input.Meant(name, known); question != "" {
		return ": " + strings.TrimSpace(question)
	}
	return ""
}

// isSet reports whether a flag was given.
func isSet(fs *flag.FlagSet, name string) bool {
	set := false
	fs.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

// given returns the names of the flags that were given.
func given(fs *flag.FlagSet) (names []string) {
	fs.Visit(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

// A list is the value of a flag that takes values separated by commas. A value given twice counts once.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

func (l *list) Set(s string) error {
	*l = nil
	for v := range strings.SplitSeq(s, ",") {
		v = strings.TrimSpace(v)
		if v == "" {
			return errors.New("a value is empty")
		}
		if !slices.Contains(*l, v) {
			*l = append(*l, v)
		}
	}
	return nil
}

// againFlag adds the flag of settings to measure a second time.
func againFlag(fs *flag.FlagSet, a *bench.Again) {
	fs.Func("again", "", func(text string) (err error) {
		*a, err = bench.ParseAgain(text)
		return err
	})
}

// An optional is the value of a flag that may stand alone or have a value, as in -share and -share=FILE.
type optional struct {
	given bool
	value string // "" if the flag stands alone
}

func (o *optional) String() string { return o.value }

// IsBoolFlag tells package flag that the value may be missing. It then sets "true".
func (o *optional) IsBoolFlag() bool { return true }

func (o *optional) Set(s string) error {
	switch s {
	case "":
		return errors.New("a value is empty")
	case "true":
		*o = optional{given: true}
	case "false":
		*o = optional{}
	default:
		*o = optional{true, s}
	}
	return nil
}

// A wholeNumber is the value of a flag that takes a whole number.
type wholeNumber int

func (n *wholeNumber) String() string { return strconv.Itoa(int(*n)) }

func (n *wholeNumber) Set(s string) error {
	i, err := input.Count(s)
	*n = wholeNumber(i)
	return err
}

// numbers is a list of numbers.
type numbers []int

func (n *numbers) String() string {
	var all []string
	for _, i := range *n {
		all = append(all, strconv.Itoa(i))
	}
	return strings.Join(all, ",")
}

func (n *numbers) Set(s string) error {
	var l list
	if err := l.Set(s); err != nil {
		return err
	}
	*n = nil
	for _, v := range l {
		i, err := input.Count(v)
		if err != nil {
			return err
		}
		if !slices.Contains(*n, i) {
			*n = append(*n, i)
		}
	}
	return nil
}
