package plan_test

import (
	"testing"
	"unsafe"

	"github.com/magpie-go/magpie/internal/plan"
	"github.com/stretchr/testify/require"
)

// pretend returns a slice of length n with only one element: enough for code that must refuse it by its length.
func pretend[T any](n int) []T {
	var s []T
	*(*struct {
		data     unsafe.Pointer
		len, cap int
	})(unsafe.Pointer(&s)) = struct {
		data     unsafe.Pointer
		len, cap int
	}{unsafe.Pointer(new(T)), n, n}
	return s
}

func TestFreezeRefusesTooMuch(t *testing.T) {
	const tooMuch = "at most 536870911 together fit a graph: split it, or join through common tasks"
	for _, test := range []struct {
		tasks, edges int
		want         string
	}{
		{plan.Max + 1, 0, "536870912 tasks and 0 edges, " + tooMuch},
		{1, plan.Max, "1 tasks and 536870911 edges, " + tooMuch},
		{1 << 28, 1 << 28, "268435456 tasks and 268435456 edges, " + tooMuch},
	} {
		p, err := plan.Freeze(pretend[plan.Func](test.tasks), pretend[plan.Edge](test.edges), nil)
		require.EqualError(t, err, test.want)
		require.Nil(t, p)
	}
}

// pretendRow is a row of more successors than fit a plan.
func pretendRow() []uint32 { return pretend[uint32](plan.Max) }
