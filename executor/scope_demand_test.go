package executor_test

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// While a worker is a thief there is demand, until the caller has forked more than the thief takes. Without a thief
// there is none once a fork was shown.
func TestScopeDemand(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	inScope(t, ex, func(s *executor.Scope) {
		testkit.Until(t, "the other worker has found nothing", s.Demand)
	})

	alone := newExecutor(t, executor.Config{Workers: 1, Spares: -1})
	inScope(t, alone, func(s *executor.Scope) {
		require.False(t, s.Demand(), "there is no thief")
	})
}

// The first failure of Scope.Fail is the run's, whatever the function returns, and stops the run.
func TestScopeFail(t *testing.T) {
	onEach(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		other := context.DeadlineExceeded
		err := runFunc(t, ex, func(s *executor.Scope) error {
			f := executor.Fork(s, func(s *executor.Scope, err error) error {
				require.PanicsWithValue(t, "executor: Scope.Fail of a nil error", func() { s.Fail(nil) })
				s.Fail(err)
				s.Fail(other)
				return s.Context().Err()
			}, errTest)
			require.Equal(t, context.Canceled, f.Join(s))
			require.True(t, s.Stopped())
			s.Fail(context.Cause(s.Context()))
			return nil
		})
		require.ErrorIs(t, err, errTest)
		require.NotErrorIs(t, err, other)
	})
}

func TestScopeOfNothingHasNoDemand(t *testing.T) {
	var zero executor.Scope
	for _, s := range []*executor.Scope{nil, &zero} {
		require.Panics(t, func() { s.Demand() })
		require.Panics(t, func() { s.Fail(errTest) })
	}
}
