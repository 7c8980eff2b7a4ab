package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Drawer is the command wsfigures, which draws figures.
type Drawer []string

const drawerName = "wsfigures"

// FindDrawer finds the drawer beside this program, among the commands of the PATH, or in the source tree around the
// working directory. It returns nil if there is none.
func FindDrawer() Drawer {
	if exe, err := os.Executable(); err == nil {
		if beside := filepath.Join(filepath.Dir(exe), drawerName); isExecutable(beside) {
			return Drawer{beside}
		}
	}
	if path, err := exec.LookPath(drawerName); err == nil {
		return Drawer{path}
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	for {
		source := filepath.Join(dir, "cmd", drawerName)
		if _, err := os.Stat(filepath.Join(source, "go.mod")); err == nil {
			return Drawer{"go", "run", "-C", source, "."}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil
		}
		dir = parent
	}
}

func isExecutable(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// Draw draws each figure into a file of dir with its name and the extension svg.
func (d Drawer) Draw(ctx context.Context, dir string, figures []*Figure) error {
	if len(figures) == 0 {
		return nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	input, err := json.Marshal(struct {
		Figures []*Figure `json:"figures"`
	}{figures})
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, d[0], append(d[1:len(d):len(d)], "-o", dir, "-")...)
	cmd.Stdin = bytes.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("drawing the figures: %s: %v: %s", strings.Join(d, " "), err, bytes.TrimSpace(out))
	}
	return nil
}
