package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/deque"
)

// tiny are flags that make an experiment take next to no time.
const tiny = " -capacity 64 -block 8 -n 100 -reps 1 -workers 2 -tree 5:3 -thieves 1,2 -stolen 20"

// TestDequeFormats runs all experiments on all possible kinds, in every format, to standard output and to a file.
func TestDequeFormats(t *testing.T) {
	kinds := 0
	for _, k := range bench.DequeKinds() {
		if k.Check(2, 64, 0) == nil {
			kinds++
		}
	}
	for _, format := range bench.Formats() {
		file := filepath.Join(t.TempDir(), "new")
		stdout, stderr, status := wsbench(strings.Fields("deque" + tiny + " -format " + format + " -o " + file)...)
		require.Zero(t, status, stderr)
		require.Empty(t, stdout)
		require.Empty(t, stderr)
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		text := string(b)
		points := kinds * (1 + 1 + 2 + 1 + 1) // of owner, latency, thieves, retries, tree
		switch format {
		case "json":
			lines := strings.Split(strings.TrimSpace(text), "\n")
			require.Len(t, lines, points)
			for _, l := range lines {
				var r bench.DequeResult
				require.NoError(t, json.Unmarshal([]byte(l), &r))
				require.True(t, r.Verified)
			}
			_, stderr, status = wsbench("compare", file, file)
			require.Zero(t, status, stderr)
		case "bench":
			require.Equal(t, points, strings.Count(text, "\nBenchmarkDeque/experiment="))
			stdout, stderr, status = wsbench("compare", file, file)
			require.Zero(t, status, stderr)
			require.Contains(t, stdout, "sec/node, lower is better")
			require.Contains(t, stdout, "steals/s, higher is better")
		case "text":
			for _, e := range bench.DequeExperiments() {
				require.Contains(t, text,
					"\n"+e.Name+" (figure "+e.Figure+"): "+e.About+"\nmedians of 1 repetition; capacity 64, ")
			}
			require.True(t, strings.HasSuffix(text, "\n\n"+strings.Join(shortNotes, "\n")+"\n"))
		}
	}
}

// TestDequeOptions: flags may stand anywhere, and without arguments the short form of all experiments runs.
func TestDequeOptions(t *testing.T) {
	tool := newTool(nil, nil)
	for _, args := range []string{
		"tree owner -deque padws,abp -block 8,1 -stolen 5,0 -thieves 3 -workers 4 -tree 2:2,thin " +
			"-work 7 -n 9 -reps 2 -seed 3 -capacity 99",
		"-deque abp,padws -block=8,1,8 owner --stolen 5,0 -thieves 3 -tree 2:2,thin -work 7 " +
			"tree -workers 4 -n 9 -reps 2 -seed 3 -capacity 99 owner",
	} {
		o, err := tool.parseDeque(strings.Fields(args))
		require.NoError(t, err)
		s := o.session
		require.Equal(t, []string{"owner", "tree"}, []string{s.Experiments[0].Name, s.Experiments[1].Name})
		require.Equal(t, []string{"abp", "padws"}, []string{s.Kinds[0].Name, s.Kinds[1].Name})
		require.Equal(t, []int{8, 1}, s.Blocks)
		require.Equal(t, []int{5, 0}, s.Stolen)
		require.Equal(t, []int{3}, s.Thieves)
		require.Equal(t, []string{"2:2", "thin"}, []string{s.Trees[0].Name, s.Trees[1].Name})
		require.Equal(t, []int{4, 7, 9, 2, 99}, []int{s.Workers, s.Work[0], s.N, s.Reps, s.Capacity})
		require.EqualValues(t, 3, s.Seed)
		require.False(t, s.Short)
		require.Empty(t, o.notes)
	}

	o, err := tool.parseDeque(nil)
	require.NoError(t, err)
	require.Len(t, o.session.Experiments, 5)
	require.True(t, o.session.Short)
	require.Equal(t, shortReps, o.session.Reps)
	require.NotEmpty(t, o.notes)
	o, err = tool.parseDeque([]string{"tree"})
	require.NoError(t, err)
	require.Equal(t, defaultReps, o.session.Reps)
	require.Len(t, o.session.Experiments, 1)
}

// lossy is a queue that loses the tenth item.
type lossy struct {
	deque.Queue[bench.Item]
	pushes int
}

func (l *lossy) Push(p *bench.Item) deque.Effect {
	if l.pushes++; l.pushes == 10 {
		return deque.Shown
	}
	return l.Queue.Push(p)
}

// TestDequeWrong: for a queue that loses an item the command prints one line that says so, and no time, and exits with
// status 1. A kind that cannot be made is bad input if it is named, and left out otherwise.
func TestDequeWrong(t *testing.T) {
	possible := func(int, int, int) error { return nil }
	kinds := []*bench.DequeKind{
		{Name: "lossy", Check: possible, Open: func(n, capacity, _ int) (queues []deque.Queue[bench.Item], err error) {
			g, err := deque.NewGroup[bench.Item](deque.KindLocked, n, deque.Options{Capacity: capacity})
			for i := range n {
				queues = append(queues, &lossy{Queue: g.Queue(i)})
			}
			return queues, err
		}},
		{Name: "none", Check: func(int, int, int) error { return input.Errorf("none: there is none") }},
	}
	for _, tt := range []struct {
		kinds  string
		status int
		want   string
	}{
		{"", 1, "wsbench: wrong answer: owner on lossy, stolen 20: item 23 of "},
		{"-deque lossy", 1, "wsbench: wrong answer: owner on lossy, stolen 20: item 23 of "},
		{"-deque none,lossy", 2, "wsbench: none: there is none\n"},
	} {
		for _, format := range bench.Formats() {
			var out, errs bytes.Buffer
			tool := newTool(&out, &errs)
			tool.dequeKinds = kinds
			args := strings.Fields("deque owner" + tiny + " " + tt.kinds + " -format " + format)
			require.Equal(t, tt.status, tool.run(context.Background(), args))
			require.Empty(t, out.String())
			require.Contains(t, errs.String(), tt.want)
			require.Equal(t, 1, strings.Count(errs.String(), "\n"))
		}
	}
}
