package main

import (
	"path"
	"testing"

	"github.com/magpie-go/magpie/internal/module"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/typed"
	"github.com/stretchr/testify/require"
)

// TestMutantsHaveTypes: every mutant's package passes the type checker, so that a name that a change of the core gives
// up is found in what mutants put in, too. Quick tests look at a tenth.
func TestMutantsHaveTypes(t *testing.T) {
	root, err := module.Root(t.Context(), "")
	require.NoError(t, err)
	all, err := load(root)
	require.NoError(t, err)
	type source struct{ dir, tags string }
	packages := map[source]*typed.Package{}
	for _, m := range testkit.Part(t, all) {
		of := source{path.Dir(m.file), m.killers.tags}
		if packages[of] == nil {
			packages[of], err = typed.Load(root, of.dir, of.tags)
			require.NoError(t, err)
		}
		text, err := m.mutate(root)
		require.NoError(t, err)
		require.NoError(t, packages[of].CheckWith(path.Base(m.file), text), m.name)
	}
}
