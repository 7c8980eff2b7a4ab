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
// up is found in what mutants put in, too. Quick tests look at a tenth of the packages.
func TestMutantsHaveTypes(t *testing.T) {
	root, err := module.Root(t.Context(), "")
	require.NoError(t, err)
	all, err := load(root)
	require.NoError(t, err)
	type source struct{ dir, tags string }
	var sources []source
	of := map[source][]*mutant{}
	for _, m := range all {
		s := source{path.Dir(m.file), m.killers.tags}
		if of[s] == nil {
			sources = append(sources, s)
		}
		of[s] = append(of[s], m)
	}
	for _, s := range testkit.Part(t, sources) {
		p, err := typed.Load(root, s.dir, s.tags)
		require.NoError(t, err)
		// A check of mutants of different files takes as long as a check of one: the nth has the nth of each file.
		var checks []map[string]*mutant // by the file's name
		for _, m := range of[s] {
			name, n := path.Base(m.file), 0
			for n < len(checks) && checks[n][name] != nil {
				n++
			}
			if n == len(checks) {
				checks = append(checks, map[string]*mutant{})
			}
			checks[n][name] = m
		}
		for _, mutants := range checks {
			texts := map[string]string{}
			for name, m := range mutants {
				texts[name], err = m.mutate(root)
				require.NoError(t, err)
			}
			if p.CheckWith(texts) == nil {
				continue
			}
			for name, m := range mutants { // which of them is it?
				require.NoError(t, p.CheckWith(map[string]string{name: texts[name]}), m.name)
			}
		}
	}
}
