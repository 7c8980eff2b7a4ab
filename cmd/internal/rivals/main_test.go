package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test's program be the driver of Go's rivals, which the command starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "drive" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

var sizes = map[string]int{
	"fib": 12, "queens": 5, "fat": 2, "thin": 6, "fan": 100, "dag": 8, "chain": 100, "btree": 100, "sort": 3000,
	"sort-floats": 3000, "sort-strings": 3000, "sort-few": 3000, "sort-sorted": 3000, "sort-reversed": 3000,
	"run": 1, "rare": 1, "rare-few": 10,
}

// TestEverything measures every benchmark with all rivals in Go and, if there is a compiler, with OpenMP.
func TestEverything(t *testing.T) {
	tells := &teller{out: &bytes.Buffer{}}
	all, drop, err := everyone(t.Context(), append(goNames(), "openmp"), tells)
	defer drop()
	require.NoError(t, err)
	for _, b := range benches {
		b.size = sizes[b.name]
		p := plan{benches: []bench{b}, workers: []int{1, 2}, rounds: 1, seconds: 0.001}
		rows, err := p.measure(t.Context(), all, tells)
		require.NoError(t, err)
		rivals := make(map[string]int)
		for _, r := range rows {
			require.Equal(t, b.name, r.Bench)
			if r.Missing != "" {
				require.Equal(t, "openmp", r.Rival)
				continue
			}
			require.Positive(t, r.NS)
			rivals[r.Rival]++
		}
		require.Equal(t, 2, rivals["magpie"], "numbers of workers of %s", b.name)
		require.GreaterOrEqual(t, len(rivals), 2, b.name)
	}
}

func TestJSON(t *testing.T) {
	var out, progress bytes.Buffer
	code := run(t.Context(), strings.Fields("-bench fib,dag -size 8 -rivals serial -workers 2 -rounds 2 -most 2 "+
		"-seconds 0.001 -format json"), &out, &progress)
	require.Equal(t, 0, code, progress.String())
	var of []string
	for d := json.NewDecoder(&out); d.More(); {
		var r row
		require.NoError(t, d.Decode(&r))
		require.Equal(t, 2, r.Rounds)
		require.Equal(t, 2, r.Workers)
		of = append(of, r.Bench+" "+r.Rival)
	}
	require.ElementsMatch(t, []string{"fib serial", "fib magpie", "dag serial", "dag magpie"}, of)
}

func goNames() (names []string) {
	for _, name := range rivalNames() {
		if !slices.ContainsFunc(compileds, func(c compiled) bool { return c.name == name }) {
			names = append(names, name)
		}
	}
	return names
}

func TestTable(t *testing.T) {
	rows := []row{
		{Bench: "fib", Workers: 1, Rival: "magpie", Unit: "fork", NS: 20, figure: figure{Rounds: 5, Spread: 0.03}},
		{Bench: "fib", Workers: 1, Rival: "rayon", Unit: "fork", Missing: "not here: cargo is not installed"},
		{Bench: "fib", Workers: 1, Rival: "serial", Unit: "fork", NS: 5,
			figure: figure{Rounds: 15, Spread: 0.234, Loose: true}},
	}
	compare(rows)
	var out bytes.Buffer
	require.NoError(t, write(&out, "text", rows))
	require.Equal(t, `fib, 1 workers  ns per fork  of magpie's
  serial        5            0.25  ±23 %
  magpie        20           1.00
  rayon         not here: cargo is not installed

`+markNote+"\n", out.String())
}

// A driver with a wrong answer, or that fails, ends the command with its message.
func TestWrongAnswer(t *testing.T) {
	wrong := rival{name: "magpie", benches: []string{"run"},
		command: []string{"sh", "-c", "echo wrong answer: 1, want 2 >&2; exit 1"}}
	p := plan{benches: []bench{*benchNamed("run")}, workers: []int{1}, rounds: 1, seconds: 1}
	_, err := p.measure(context.Background(), []rival{wrong}, &teller{out: &bytes.Buffer{}})
	require.ErrorContains(t, err, "run, magpie with 1 workers: exit status 1: wrong answer: 1, want 2")

	_, err = median(expect(2, func() (int, error) { return 1, nil }), 0)
	require.ErrorContains(t, err, "wrong answer: 1, want 2")
	nothing := func() error { return nil }
	_, err = median(fan(3, func(func()) {}, nothing), 0)
	require.ErrorContains(t, err, "0 functions were called, want 3")
	_, err = median(wave(3, make([]uint64, 9)).repetition(nothing), 0)
	require.ErrorContains(t, err, "the grid differs")
	_, err = median(chain(3).repetition(nothing), 0)
	require.ErrorContains(t, err, "0 tasks ran, want 3")
	_, err = median(btree(3).repetition(nothing), 0)
	require.ErrorContains(t, err, "task 0 is in level 0, want 1")
	_, err = median(sorted([]int64{2, 1}, digestInt, func([]int64) error { return nil }), 0)
	require.ErrorContains(t, err, "not sorted")
	_, err = median(sorted([]int64{2, 1}, digestInt, func(s []int64) error { clear(s); return nil }), 0)
	require.ErrorContains(t, err, "or others")
	_, err = drive("serial", "run", 1, 1, 1)
	require.ErrorContains(t, err, "serial does not do run")
}

func TestBadInput(t *testing.T) {
	for args, want := range map[string]string{
		"-bench fig":       `no benchmark "fig"`,
		"-rivals fig":      `no rival "fig": there are serial, `,
		"-workers 0":       "give numbers from 1 to 1024",
		"-workers 1,":      "give numbers from 1 to 1024",
		"-rounds 0":        "give at least 1",
		"-most 4":          "give at least as many as -rounds, 5",
		"-seconds NaN":     "give more than 0",
		"-size -1":         "give 1 to 2^30",
		"-ms 0":            "give more than 0 and at most 1000",
		"-callers fig":     `no callers "fig"`,
		"-format xml":      "there are text and json",
		"fib":              `no arguments are taken, got ["fib"]`,
		"-bench fib -boom": "flag provided but not defined: -boom",
	} {
		var out, errs bytes.Buffer
		require.Equal(t, exitBadInput, run(context.Background(), strings.Fields(args), &out, &errs), args)
		require.Contains(t, errs.String(), want)
		require.Empty(t, out.String())
	}
	var out, errs bytes.Buffer
	args := strings.Fields("-bench fib -size 1 -rivals serial")
	require.Equal(t, exitFailure, run(context.Background(), args, &out, &errs))
	require.Contains(t, errs.String(), "fib of size 1 does nothing: give a larger -size")
}
