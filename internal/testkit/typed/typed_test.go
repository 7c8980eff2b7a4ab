package typed

import (
	"go/ast"
	"go/types"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPackage(t *testing.T) {
	p, err := Load("../../..", "internal/module", "")
	require.NoError(t, err)
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := p.Check(info)
	require.NoError(t, err)
	require.NotNil(t, pkg.Scope().Lookup("Root"))
	require.NotEmpty(t, info.Uses)
	with := func(text string) error { return p.CheckWith(map[string]string{"module.go": text}) }
	require.NoError(t, with("package module\n"))
	require.ErrorContains(t, with("package module\nvar x = gone\n"), "undefined: gone")
	require.Error(t, with("package"))
	require.NoError(t, with("package module\n"), "an earlier text was kept")
}

func TestLoad(t *testing.T) {
	for tags, file := range map[string]string{"": "check.go", "modelcheck": "check_model.go"} {
		p, err := Load("../../..", "internal/left", tags)
		require.NoError(t, err)
		require.Contains(t, p.Files, file)
	}
	_, err := Load("../../..", "internal/none", "")
	require.Error(t, err)
}
