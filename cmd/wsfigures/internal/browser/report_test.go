package browser

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// root is the main module, whose command makes reports.
const root = "../../../.."

// TestReport reads reports of wsbench replay: the one that the repository keeps, and one made now.
func TestReport(t *testing.T) {
	made := filepath.Join(t.TempDir(), "replay")
	make := exec.Command("go", "run", "-C", root, "./cmd/wsbench", "replay", "001/f5", "002/fig2d", "-reps", "1",
		"-o", made)
	out, err := make.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for file, figures := range map[string]int{
		filepath.Join(made, "index.html"):                       2,
		filepath.Join(root, "testdata", "replay", "index.html"): 50,
	} {
		path := find(t)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		p, err := Open(ctx, path, file, 1200)
		require.NoError(t, err)
		require.Contains(t, p.Title, "Replay of the experiments of documents 00")
		require.Empty(t, p.Problems(), file)
		require.GreaterOrEqual(t, len(p.Figures), figures, file)
		for _, f := range p.Figures {
			require.True(t, f.Visible, f.Name)
		}
	}
}
