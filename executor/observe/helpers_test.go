package observe_test

import (
	"context"
	"iter"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/stretchr/testify/require"
)

// set returns a set of tasks by hand. The tasks with an empty name have none. after has the edges.
func set(job string, names []string, after ...[]int) *executor.TaskSet {
	s := &executor.TaskSet{Job: job, Tasks: make([]executor.TaskInfo, len(names))}
	for i, name := range names {
		s.Tasks[i] = executor.TaskInfo{Set: s, Index: i, Name: name}
	}
	if len(after) > 0 {
		s.Successors = func(i int) iter.Seq[int] { return slices.Values(after[i]) }
	}
	return s
}

// newRun returns a run, which is over. Observers do not look whether it is.
func newRun(t testing.TB, ctx context.Context, name string) *executor.Run {
	t.Helper()
	ex := executor.NewInline(1)
	r := ex.Start(ctx, executor.NewJob(name, func(*executor.Scope) error { return nil }))
	require.NoError(t, r.Wait())
	require.NoError(t, ex.Close())
	return r
}
