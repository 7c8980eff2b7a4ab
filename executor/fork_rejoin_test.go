package executor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
)

// A second Join panics, also if the first was that of another function, and later forks are not affected.
func TestJoinByAnotherFunction(t *testing.T) {
	onEachDeque(t, []int{1}, func(t *testing.T, ex *executor.Executor) {
		ran := 0
		leaf := func(_ *executor.Scope, n int) int { ran++; return n }
		require.NoError(t, ex.Run(t.Context(), executor.NewJob("misuse", func(s *executor.Scope) error {
			b := executor.Fork(s, leaf, 7)
			x := executor.Fork(s, func(s *executor.Scope, _ int) int {
				executor.Fork(s, leaf, 2)
				return b.Join(s)
			}, 0)
			require.Equal(t, 7, x.Join(s))
			require.Panics(t, func() { b.Join(s) })
			return nil
		})))
		ran = 0
		require.NoError(t, ex.Run(t.Context(), executor.NewJob("next", func(s *executor.Scope) error {
			executor.Fork(s, leaf, 5) // not joined: it runs before Run returns
			return nil
		})))
		require.Equal(t, 1, ran)
	})
}
