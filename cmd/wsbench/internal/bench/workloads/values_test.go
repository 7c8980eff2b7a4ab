package workloads

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wValuesFor returns the values of the parameters of w, as in "view=3/unit=1ms". Others than those of w are ignored.
func valuesFor(t *testing.T, w *Workload, s string) Values {
	asked := make(map[string]string)
	for pair := range strings.SplitSeq(s, "/") {
		name, value, _ := strings.Cut(pair, "=")
		asked[name] = value
	}
	v, err := w.ReadValues(asked)
	require.NoError(t, err)
	return v
}
