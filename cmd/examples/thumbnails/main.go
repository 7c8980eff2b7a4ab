// Thumbnails makes thumbnails of all photographs in a directory, as one task graph: a task reads a photograph, and one
// task for each size makes a thumbnail of it.
//
//	thumbnails -o small photos
//
// It is an example, to copy from: values that pass from task to task, an error that concerns one photograph and not the
// others, and an interrupt that ends the work cleanly.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	_ "image/png"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "thumbnails:", err)
		os.Exit(1)
	}
}

// sizes are the widths of the thumbnails.
var sizes = []int{64, 160, 320}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("thumbnails", flag.ContinueOnError)
	to := flags.String("o", "thumbnails", "the `directory` for the thumbnails")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("give one directory with photographs, as in: thumbnails -o small photos")
	}
	photos, err := find(flags.Arg(0))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(*to, 0o777); err != nil {
		return err
	}

	var failed errorList
	g := graph.New("thumbnails")
	for _, photo := range photos {
		// A worker that has read a photograph makes its thumbnails next, since it runs the newest tasks first. So about
		// as many photographs are in memory as there are workers, however many there are.
		read := graph.Source(g, func(context.Context) (image.Image, error) {
			img, err := decode(photo)
			failed.add(err) // and no error of the task, which would end the work on all others
			return img, nil
		}).Named("read " + filepath.Base(photo))
		for _, width := range sizes {
			graph.Sink(read, func(_ context.Context, img image.Image) error {
				if img == nil {
					return nil
				}
				return encode(filepath.Join(*to, thumbnail(photo, width)), scale(img, width))
			}).Named(thumbnail(photo, width))
		}
	}

	ex, err := executor.New(executor.Config{Name: "thumbnails"})
	if err != nil {
		return err
	}
	defer ex.Close()
	if err := ex.Run(ctx, g); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d photographs, %d thumbnails in %s\n", len(photos)-len(failed.errs),
		(len(photos)-len(failed.errs))*len(sizes), *to)
	return errors.Join(failed.errs...)
}

// find returns the photographs in dir.
func find(dir string) (photos []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		switch strings.ToLower(filepath.Ext(e.Name())) {
		case ".jpg", ".jpeg", ".png":
			photos = append(photos, filepath.Join(dir, e.Name()))
		}
	}
	if len(photos) == 0 {
		return nil, fmt.Errorf("%s has no photographs: no .jpg, .jpeg or .png files", dir)
	}
	return photos, nil
}

func thumbnail(photo string, width int) string {
	return fmt.Sprintf("%s-%d.jpg", filepath.Base(photo), width)
}

// decode reads a photograph.
func decode(file string) (image.Image, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	img, _, err := image.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return img, nil
}

// scale returns img at the given width, or as it is if it is no wider. Each pixel is the mean of those that it covers.
func scale(img image.Image, width int) image.Image {
	from := img.Bounds()
	if width >= from.Dx() {
		return img
	}
	height := max(from.Dy()*width/from.Dx(), 1)
	to := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			to.Set(x, y, mean(img, image.Rect(
				from.Min.X+x*from.Dx()/width, from.Min.Y+y*from.Dy()/height,
				from.Min.X+(x+1)*from.Dx()/width, from.Min.Y+(y+1)*from.Dy()/height)))
		}
	}
	return to
}

func mean(img image.Image, of image.Rectangle) color.Color {
	var r, g, b, n uint64
	for y := of.Min.Y; y < max(of.Max.Y, of.Min.Y+1); y++ {
		for x := of.Min.X; x < of.Max.X; x++ {
			pr, pg, pb, _ := img.At(x, y).RGBA()
			r, g, b, n = r+uint64(pr), g+uint64(pg), b+uint64(pb), n+1
		}
	}
	return color.RGBA64{uint16(r / n), uint16(g / n), uint16(b / n), 0xffff}
}

// encode writes a thumbnail.
func encode(file string, img image.Image) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return jpeg.Encode(f, img, nil)
}

// An errorList collects errors of several tasks.
type errorList struct {
	mu   sync.Mutex
	errs []error
}

func (l *errorList) add(err error) {
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.errs = append(l.errs, err)
	}
}
