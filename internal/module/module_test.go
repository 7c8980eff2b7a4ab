package module

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRoot(t *testing.T) {
	root, err := Root(t.Context(), "")
	require.NoError(t, err)
	here, err := os.Getwd()
	require.NoError(t, err)
	require.Equal(t, filepath.Dir(filepath.Dir(here)), root)
}

func TestNoModule(t *testing.T) {
	_, err := Root(t.Context(), t.TempDir())
	require.ErrorContains(t, err, "call this in Magpie's tree")
}
