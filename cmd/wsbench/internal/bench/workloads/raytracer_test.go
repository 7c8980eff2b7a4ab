package workloads

import (
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
)

// TestScene: the spheres stand on the plane and none is inside another. Rays hit what is before them, and nothing else.
func TestScene(t *testing.T) {
	s := newScene()
	for i, a := range s.spheres {
		require.InDelta(t, a.radius, a.centre.y, 1e-12)
		for _, b := range s.spheres[:i] {
			d := a.centre.minus(b.centre)
			require.Greater(t, d.dot(d), (a.radius+b.radius)*(a.radius+b.radius))
		}
		above := a.centre.plus(vec{0, 5, 0})
		at, normal, body, ok := s.hit(above, vec{0, -1, 0})
		require.True(t, ok)
		require.Equal(t, a.surface, body)
		require.InDelta(t, 2*a.radius, at.y, 1e-12)
		require.InDelta(t, 1, normal.y, 1e-12)
		_, found := s.nearest(above, vec{0, 1, 0}, farAway)
		require.Negative(t, found, "a sphere behind the eye")
	}
	_, _, _, ok := s.hit(s.eye, vec{0, 0, -1})
	require.False(t, ok, "the sky")
	at, normal, _, ok := s.hit(vec{90, 2, 0}, vec{0, -1, 0})
	require.True(t, ok, "the plane")
	require.Equal(t, vec{90, 0, 0}, at)
	require.Equal(t, vec{0, 1, 0}, normal)
}

// TestPicture: the picture has many colours. Keep writes it to a file, pixel by pixel, and leaves nothing else. It
// fails where it cannot write.
func TestPicture(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.png")
	p, err := raytracer.Program(96, 0, askedValues(t, raytracer, map[string]string{"picture": file}))
	require.NoError(t, err)
	r := p.(*raytracerProgram)
	require.Equal(t, 72, r.rows())
	require.NoError(t, r.Keep())
	f, err := os.Open(file)
	require.NoError(t, err)
	got, err := png.Decode(f)
	require.NoError(t, f.Close())
	require.NoError(t, err)
	require.Equal(t, r.picture.Bounds(), got.Bounds())
	colours := make(map[color.Color]bool)
	for y := range r.rows() {
		for x := range 96 {
			c := color.RGBAModel.Convert(got.At(x, y))
			require.Equal(t, r.picture.RGBAAt(x, y), c)
			colours[c] = true
		}
	}
	require.Greater(t, len(colours), 1000)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)

	r.file = filepath.Join(dir, "none", "a.png")
	require.ErrorContains(t, r.Keep(), "none/a.png: no such file or directory")
	r.file = dir
	require.ErrorContains(t, r.Keep(), "is a directory")
	r.file = ""
	require.NoError(t, r.Keep())
}

// TestOutputParam: a file that cannot be written is bad input, and one that can be is not there yet, nor among the
// inputs.
func TestOutputParam(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct{ file, want string }{
		{"", "-picture needs the name of a file"},
		{dir, "-picture: " + dir + ": is a directory"},
		{filepath.Join(dir, "none", "x"), "-picture: " + filepath.Join(dir, "none", "x") + ": no such file"},
	} {
		_, err := raytracer.ReadValues(map[string]string{"picture": tt.file})
		var bad *input.Error
		require.ErrorAs(t, err, &bad)
		require.ErrorContains(t, err, tt.want)
	}
	v := askedValues(t, raytracer, map[string]string{"picture": filepath.Join(dir, "x")})
	require.Equal(t, filepath.Join(dir, "x"), outputFile(v, pictureParam))
	require.Empty(t, v.String())
	require.Empty(t, outputFile(askedValues(t, raytracer, nil), pictureParam))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func askedValues(t *testing.T, w *Workload, asked map[string]string) Values {
	t.Helper()
	v, err := w.ReadValues(asked)
	require.NoError(t, err)
	return v
}
