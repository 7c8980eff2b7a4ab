package experiment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/executor/internal/policy"
	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	require.Equal(t, "[adaptive adaptive-published abp mbws mbws-role bws-same bws-clock bws-pull wsgi taskflow]",
		fmt.Sprint(Policies()))
	require.Equal(t, policy.Table[0].Name, Policies()[policy.Adaptive], "the zero value is a good executor")
	require.Equal(t, "[private pushed]", fmt.Sprint(Forks()))
	require.Equal(t, "[each never delayed selective]", fmt.Sprint(Yields()))
	for _, list := range []func() []string{Policies, Forks, Yields} {
		list()[0] = "changed"
		require.NotEqual(t, "changed", list()[0], "a list is a copy")
	}
}

func TestAbout(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Policies() {
		about := About(p)
		require.Equal(t, 2, strings.Count(about, "\n"), p)
		require.False(t, seen[about], p)
		seen[about] = true
	}
	require.Empty(t, About("fair"))
	require.Empty(t, About(""))
}

func TestAvailableUnknown(t *testing.T) {
	require.EqualError(t, Available("fair"), fmt.Sprintf(`executor: Policy is "fair": use one of %v`, Policies()))
	require.NoError(t, Available(""))
	require.NoError(t, Available("adaptive"))
}
