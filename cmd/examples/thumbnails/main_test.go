package main

import (
	"context"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	photos, small := t.TempDir(), filepath.Join(t.TempDir(), "small")
	for _, name := range []string{"a.png", "b.PNG"} {
		img := image.NewRGBA(image.Rect(0, 0, 200, 100))
		for y := range 100 {
			for x := range 200 {
				img.Set(x, y, color.RGBA{uint8(x), uint8(y), 0, 255})
			}
		}
		f, err := os.Create(filepath.Join(photos, name))
		require.NoError(t, err)
		require.NoError(t, png.Encode(f, img))
		require.NoError(t, f.Close())
	}
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{"-o", small, photos}, &out))
	require.Equal(t, "2 photographs, 6 thumbnails in "+small+"\n", out.String())
	for name, width := range map[string]int{"a.png-64.jpg": 64, "b.PNG-160.jpg": 160, "a.png-320.jpg": 200} {
		img, err := decode(filepath.Join(small, name))
		require.NoError(t, err)
		require.Equal(t, image.Pt(width, width/2), img.Bounds().Size(), name)
		r, g, _, _ := img.At(width/2, width/4).RGBA()
		require.InDelta(t, 100, r>>8, 6)
		require.InDelta(t, 50, g>>8, 6)
	}

	// A file that is no photograph is told, and the others are done.
	require.NoError(t, os.WriteFile(filepath.Join(photos, "c.jpg"), []byte("no"), 0o666))
	out.Reset()
	require.ErrorContains(t, run(t.Context(), []string{"-o", small, photos}, &out), "c.jpg: image: unknown format")
	require.Contains(t, out.String(), "2 photographs, 6 thumbnails")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, run(ctx, []string{"-o", small, photos}, &out), context.Canceled)
	require.ErrorContains(t, run(t.Context(), nil, &out), "give one directory")
	require.ErrorContains(t, run(t.Context(), []string{t.TempDir()}, &out), "has no photographs")
}
