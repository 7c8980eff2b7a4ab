package bench

import (
	"context"
	"errors"
	"testing"

	"github.com/magpie-go/magpie/internal/plan"
	"github.com/stretchr/testify/require"
)

func TestOrderCheck(t *testing.T) {
	ctx := context.Background()
	check, target, err := newOrderCheck("dag", dag.Make(3000, 1))
	require.NoError(t, err)
	serially := func() {
		_, err := plan.NewSerial(target.Plan).Run(ctx)
		require.NoError(t, err)
	}
	run := func(task int) { require.NoError(t, target.Plan.Funcs[task](ctx)) }
	tests := []struct {
		name    string
		violate func()
		want    string
	}{
		{"right", serially, ""},
		{"not run", func() {}, "task 0 ran 0 times"},
		{"twice", func() { serially(); run(2999) }, "task 2999 ran 2 times"},
		{"backwards", func() {
			for i := target.Plan.Len() - 1; i >= 0; i-- {
				run(i)
			}
		}, "before its predecessor"},
		{"right again", serially, ""},
	}
	for _, tt := range tests {
		check.Reset()
		tt.violate()
		if err := check.Verify(); tt.want == "" {
			require.NoError(t, err, tt.name)
		} else {
			require.ErrorContains(t, err, tt.want, tt.name)
		}
	}
}

// TestOrderCheckEveryEdge violates one edge at a time.
func TestOrderCheckEveryEdge(t *testing.T) {
	ctx := context.Background()
	check, target, err := newOrderCheck("btree", btree.Make(15, 0))
	require.NoError(t, err)
	for _, e := range target.Plan.EdgeList() {
		check.Reset()
		// Ascending order is right. Here e.To runs just before e.From.
		for i := range uint32(target.Plan.Len()) {
			if i == e.From {
				require.NoError(t, target.Plan.Funcs[e.To](ctx))
			}
			if i != e.To {
				require.NoError(t, target.Plan.Funcs[i](ctx))
			}
		}
		require.ErrorContains(t, check.Verify(), "before its predecessor", "edge %v", e)
	}
}

func TestWrongAnswerUnwraps(t *testing.T) {
	cause := errors.New("cause")
	err := error(&WrongAnswer{"chain", Setting{"serial", None, None, None, 1, nil, false}, cause})
	require.ErrorIs(t, err, cause)
	require.Equal(t, "wrong answer: chain on serial, 1 worker: cause", err.Error())
}
