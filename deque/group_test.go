package deque_test

import (
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/stretchr/testify/require"
)

func TestKindNames(t *testing.T) {
	for _, k := range deque.Kinds() {
		parsed, err := deque.ParseKind(k.String())
		require.NoError(t, err)
		require.Equal(t, k, parsed)
	}
	_, err := deque.ParseKind("lifo")
	require.EqualError(t, err, `deque: there is no kind "lifo": choose one of chaselev, abp, bwos, bwos-fifo, padws, adws, pdqr, pdqs, locked`)
	require.Equal(t, "Kind(200)", deque.Kind(200).String())
}
