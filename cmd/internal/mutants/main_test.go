package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// toy makes a small module with these mutants, by name. The texts are the lines of their files after the header.
func toy(t *testing.T, mutants map[string]string) (root string) {
	t.Setenv("GOFLAGS", "-trimpath") // what one toy has compiled, a toy in another folder finds in the build cache
	root = t.TempDir()
	write(t, root, "go.mod", "module toy\n\ngo 1.26.0\n")
	write(t, root, "sum/sum.go", `package sum

import "time"

// isDeaf is whether the tests' time limit is ignored.
const isDeaf = false

func of(list []int) (sum int) {
	for _, n := range list {
		sum += n
	}
	return sum
}

func unused() int {
	return 1
}

func wait() { time.Sleep(time.Hour) }
`)
	write(t, root, "sum/sum_test.go", `package sum

import (
	"flag"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if isDeaf {
		flag.Set("test.timeout", "0")
	}
	os.Exit(m.Run())
}

func TestSum(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		if of(nil) != 0 {
			t.Error("something comes of nothing")
		}
	})
	t.Run("some", func(t *testing.T) {
		if n := of([]int{1, 2}); n != 3 {
			t.Errorf("1 and 2 is %d", n)
		}
	})
}
`)
	for name, lines := range mutants {
		write(t, root, folder+"/"+name+".mutant",
			"bug: this is "+name+"\nfile: sum/sum.go\npackage: ./sum\nrun: ^TestSum$\n"+lines)
	}
	return root
}

const (
	wrong      = "--- old\n\t\tsum += n\n--- new\n\t\tsum -= n\n"
	unseen     = "--- old\n\treturn 1\n--- new\n\treturn 2\n"
	notGo      = "--- old\n\treturn 1\n--- new\n\treturn \"2\"\n"
	misses     = "--- old\n\treturn 3\n--- new\n\treturn 2\n"
	endless    = "--- old\n\treturn sum\n--- new\n\twait()\n\treturn sum\n"
	deaf       = "--- old\nconst isDeaf = false\n--- new\nconst isDeaf = true\n"
	startsLate = "--- old\n\tfor _, n := range list {\n--- new\n\tfor _, n := range list[1:] {\n"
)

func inToy(t *testing.T, root string, args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = run(t.Context(), root, args, &out, &errs)
	return status, out.String(), errs.String()
}

// TestAllKilled: the output when all mutants are killed, also if the command is called below the module's root.
func TestAllKilled(t *testing.T) {
	root := toy(t, map[string]string{"01-wrong": wrong, "02-starts-late": startsLate})
	status, out, errs := inToy(t, root+"/sum")
	require.Equal(t, exitOK, status, errs)
	require.Empty(t, errs)
	require.Regexp(t, `^without mutants:
  go test -run '\^TestSum\$' ./sum: 1 passed \(.* s\)
1/2 01-wrong: killed by TestSum/some: 1 and 2 is -3 \(.* s\)
2/2 02-starts-late: killed by TestSum/none: panic: runtime error: slice bounds out of range \[1:0\].* \(.* s\)
2 of 2 mutants killed, 0 of them by a time limit, in \d+ s
proved: 2 mutants killed
$`, out)
}

// TestSurvivorsFail: a survivor fails the command, which prints its name and its bug. A mutant that does not apply or
// build is no kill either.
func TestSurvivorsFail(t *testing.T) {
	root := toy(t, map[string]string{"01-wrong": wrong, "02-unseen": unseen, "03-not-go": notGo, "04-misses": misses})
	status, out, errs := inToy(t, root, "-v")
	require.Equal(t, exitFailed, status)
	require.Contains(t, out, "\n1/4 01-wrong: killed by TestSum/some")
	require.Contains(t, out, "\n2/4 02-unseen: SURVIVED 1 tests")
	require.Contains(t, out, "\n3/4 03-not-go: ERROR\n")
	require.Contains(t, out, "\n4/4 04-misses: ERROR\n")
	require.Contains(t, out, "\n1 of 4 mutants killed")
	require.NotContains(t, out, "proved")
	require.Contains(t, errs, "02-unseen survived: go test -run '^TestSum$' ./sum passes although this is 02-unseen\n")
	require.Contains(t, errs, "03-not-go does not build: ")
	require.Contains(t, errs, `cannot use "2"`)
	require.Contains(t, errs, "04-misses: the old lines of edit 1 stand in sum/sum.go 0 times")
	require.Contains(t, errs, "mend these mutants (2)")
	_, out, _ = strings.Cut(out, "02-unseen: SURVIVED")
	out, _, _ = strings.Cut(out, "03-not-go: ERROR")
	require.Contains(t, out, "\n    -\treturn 1\n    +\treturn 2\n", "the change")
	require.Contains(t, out, "\n--- PASS: TestSum (", "what the tests say")
}

// TestHangs: if the mutant says so, a test that does not end is a kill, whether its own time limit ends it or the
// command does. Such kills are counted apart. If the mutant does not say so, it is of no use.
func TestHangs(t *testing.T) {
	root := toy(t, map[string]string{
		"01-endless":          "hangs: yes\n" + endless,
		"02-endless-untold":   endless,
		"03-endless-and-deaf": "hangs: yes\n" + endless + deaf,
	})
	all, err := load(root)
	require.NoError(t, err)
	var out bytes.Buffer
	g := &gate{lab: lab{root, t.TempDir()}, stdout: &out}
	// On a busy machine a short limit ends before the test begins, and a process takes long to end itself.
	const most = 10 * time.Second
	for g.margin = 100 * time.Millisecond; ; g.margin *= 3 {
		out.Reset()
		err = g.run(t.Context(), all[:2])
		require.Error(t, err)
		said := out.String() + err.Error()
		if g.margin > most || strings.Count(said, "TestSum/none") == 2 && !strings.Contains(said, "nor by its own") {
			break
		}
	}
	require.Contains(t, out.String(), "01-endless: killed by TestSum/none, which hangs: no end after ")
	require.ErrorContains(t, err, "02-endless-untold: TestSum/none hangs: no end after ")
	require.ErrorContains(t, err, "; this may be a survivor")
	require.ErrorContains(t, err, "mend these mutants (1)")
	require.NotContains(t, out.String()+err.Error(), "nor by its own time limit")
	require.Contains(t, out.String(), "\n2/2 02-endless-untold: ERROR\n"+
		"1 of 2 mutants killed, 1 of them by a time limit, in ")
	require.NotContains(t, out.String(), "proved")

	// The command waits for the limit and the grace. A limit below zero shortens that.
	var got trial
	wait := 100 * time.Millisecond
	for ; ; wait *= 3 {
		g.limits[all[2].killers] = wait - grace
		if got = g.try(t.Context(), all[2]); got.err == nil || wait > most {
			break
		}
	}
	require.NoError(t, got.err)
	require.Equal(t, "TestSum/none", got.failed)
	require.True(t, got.hung)
	require.Equal(t, fmt.Sprintf("no end after %v, nor by its own time limit", wait), got.how)
}

// TestKillersMustPass: tests that fail without a mutant, or do not exist, kill nothing.
func TestKillersMustPass(t *testing.T) {
	root := toy(t, map[string]string{"01-wrong": wrong})
	name := folder + "/01-wrong.mutant"
	header := "bug: this is 01-wrong\nfile: sum/sum.go\npackage: ./sum\nrun: "
	write(t, root, name, header+"^TestOther$\n"+wrong)
	status, out, errs := inToy(t, root)
	require.Equal(t, exitFailed, status)
	require.Contains(t, errs, "go test -run '^TestOther$' ./sum: no test ran")
	require.NotContains(t, out, "killed")

	write(t, root, "sum/other_test.go", "package sum\n\nimport \"testing\"\n\n"+
		"func TestOther(t *testing.T) { t.Fatal(\"anyhow\") }\n")
	status, out, errs = inToy(t, root)
	require.Equal(t, exitFailed, status)
	require.Contains(t, errs, "go test -run '^TestOther$' ./sum fails without any mutant: TestOther: anyhow")
	require.NotContains(t, out, "killed")

	write(t, root, "sum/other_test.go", "package sum\n\nfunc TestOther(\n")
	status, _, errs = inToy(t, root)
	require.Equal(t, exitFailed, status)
	require.Contains(t, errs, "the tests of ./sum do not build")
}

func TestBadInput(t *testing.T) {
	root := toy(t, map[string]string{"01-wrong": wrong})
	for want, args := range map[string][]string{
		`no mutant's name matches "nobody": see -list`: {"-run", "nobody"},
		"-run: error parsing regexp":                   {"-run", "("},
		`-part is "2/2": give K/N`:                     {"-part", "2/2"},
		`-part is "half": give K/N`:                    {"-part", "half"},
		`unexpected argument "01"`:                     {"01"},
		"flag provided but not defined: -x":            {"-x"},
	} {
		status, out, errs := inToy(t, root, args...)
		require.Equal(t, exitBadInput, status)
		require.Contains(t, errs, want)
		require.Empty(t, out)
	}
	status, _, errs := inToy(t, t.TempDir())
	require.Equal(t, exitBadInput, status)
	require.Contains(t, errs, "not inside a module")

	write(t, root, folder+"/02-empty.mutant", "")
	status, _, errs = inToy(t, root, "-run", "01")
	require.Equal(t, exitFailed, status)
	require.Contains(t, errs, "02-empty: line 1: want a field")
}

func TestListAndHelp(t *testing.T) {
	root := toy(t, map[string]string{"01-wrong": wrong, "02-unseen": unseen})
	status, out, errs := inToy(t, root, "-list", "-run", "unseen")
	require.Equal(t, exitOK, status, errs)
	require.Equal(t, "02-unseen  (sum/sum.go)\n    this is 02-unseen\n    go test -run '^TestSum$' ./sum\n", out)

	status, _, errs = inToy(t, root, "-help")
	require.Equal(t, exitOK, status)
	require.Contains(t, errs, "usage: go run ./cmd/internal/mutants")
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	require.Equal(t, exitInterrupted, run(ctx, toy(t, map[string]string{"01-wrong": wrong}), nil, &out, &errs))
	require.Equal(t, "mutants: interrupted\n", errs.String())
}

// TestInOrder: results come in the order of the list, and once the loop has ended no call is running.
func TestInOrder(t *testing.T) {
	list := strings.Split("abcdefghijklmnopqrstuvwxyz", "")
	var running, done atomic.Int32
	slow := func(s string) string {
		running.Add(1)
		defer running.Add(-1)
		if s == "a" {
			for range 1000 {
				runtime.Gosched()
			}
		}
		done.Add(1)
		return s + s
	}
	var got []string
	for s, r := range inOrder(list, slow) {
		require.Equal(t, s+s, r)
		got = append(got, s)
	}
	require.Equal(t, list, got)
	require.EqualValues(t, len(list), done.Load())

	for range inOrder(list, slow) {
		break
	}
	require.Zero(t, running.Load())
	for range inOrder(nil, slow) {
		t.Fatal("a result of nothing")
	}
}

// TestUnneeded: the build has the killers, and what they need.
func TestUnneeded(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"main":    "package sum\n\nfunc TestMain(m *testing.M) {}\n",
		"sum":     "package sum\n\nfunc TestSum(t *testing.T) {}\n\nfunc sumOf() { deep := 1; _ = deep }\n",
		"export":  "package sum\n\nfunc Peek() {}\n",
		"method":  "package sum\n\nfunc (s *Sum) Seen() {}\n",
		"far":     "package sum_test\n\nfunc TestFar(t *testing.T) { help(); sum.Peek() }\n",
		"help":    "package sum_test\n\nvar x, help = 1, func() { deep(0) }\n",
		"deep":    "package sum_test\n\ntype deep int\n",
		"deeper":  "package sum_test\n\nfunc (d *deep) Seen() {}\n",
		"fuzz":    "package sum_test\n\nfunc FuzzFar(f *testing.F) { s.Seen(); TestFar(nil) }\n",
		"example": "package sum_test\n\nfunc Example() {}\n",
	} {
		write(t, root, "sum/"+name+"_test.go", text)
	}
	for run, want := range map[string]string{
		"^TestSum$":        "main sum",
		"^TestSum$/^some$": "main sum",
		"^TestFar$":        "main far help deep deeper export",
		"^TestFar$/^some$": "main far help deep deeper export",
		"^FuzzFar$":        "main fuzz method far help deep deeper export",
		"^Example$":        "main example",
		"^Test(Sum|Far)$":  "main sum far help deep deeper export",
		"Nothing":          "main",
	} {
		l := &lab{root: root}
		unneeded, err := l.unneeded(killers{pkg: "./sum", run: run})
		require.NoError(t, err)
		var got []string
		for _, name := range []string{
			"main", "sum", "example", "fuzz", "method", "far", "help", "deep", "deeper", "export",
		} {
			changed, isUnneeded := unneeded[filepath.Join(root, "sum", name+"_test.go")]
			require.Empty(t, changed)
			if !isUnneeded {
				got = append(got, name)
			}
		}
		require.ElementsMatch(t, strings.Fields(want), got, run)
	}
}
