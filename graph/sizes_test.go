//go:build !modelcheck && (amd64 || arm64)

package graph_test

import (
	"testing"

	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// TestSizes: what each of many nested subflows needs fits the size class of 512 bytes. The next takes a quarter more.
func TestSizes(t *testing.T) {
	state, part := graph.Sizes()
	require.LessOrEqual(t, state, uintptr(512))
	require.LessOrEqual(t, part, uintptr(512))
}
