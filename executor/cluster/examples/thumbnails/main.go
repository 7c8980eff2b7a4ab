// Thumbnails makes thumbnails of the photographs in a directory, contact sheets, and an index page of all. Workers do
// it, on any number of machines:
//
//	thumbnails -o small photos                    four worker processes of this machine, which end with the program
//	thumbnails -nats URL -o small photos          those that serve the queue "thumbnails" of a server
//	thumbnails worker -nats URL                   one of those
//
// It is an example, to copy from. The workers need no common file system: the photographs go through a bucket of the
// server, and the thumbnails come back as results. A file that is no photograph is told, and the others are done.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/magpie-go/magpie/executor/cluster/examples/internal/site"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "thumbnails:", err)
		os.Exit(1)
	}
}

// queue is the name of the queue, if no flag says another.
const queue = "thumbnails"

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == "worker" {
		return site.Work(ctx, args[1:], queue, registry)
	}
	c := site.Config{Queue: queue}
	flags := flag.NewFlagSet("thumbnails", flag.ExitOnError)
	c.AddFlags(flags)
	to := flags.String("o", "thumbnails", "the `directory` for the thumbnails")
	_ = flags.Parse(args) // exits if it fails
	if flags.NArg() != 1 {
		return errors.New("give one directory with photographs, after the flags, as in: thumbnails -o small photos")
	}
	from := flags.Arg(0)
	photos, err := find(from, *to)
	if err != nil {
		return err
	}
	if err := makeWritable(*to); err != nil {
		return err
	}

	s, err := site.Start(ctx, c)
	if err != nil {
		return err
	}
	defer s.Close()
	b, err := newBucket(ctx, s.JetStream(), c.Replicas)
	if err != nil {
		return err
	}
	defer b.remove()
	for i, name := range photos {
		if err := b.put(ctx, i, filepath.Join(from, name)); err != nil {
			return err
		}
	}
	a := newAlbum(b.name, photos)
	results, err := s.Run(ctx, a.graph, out)
	if err != nil {
		return err
	}
	return a.write(results, from, *to, out)
}

// find returns the names of the photographs in dir and below, but for those in skip.
func find(dir, skip string) (photos []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	skipped, _ := os.Stat(skip) // nil if it is not there yet
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := d.Info(); err != nil {
			return err
		} else if d.IsDir() && skipped != nil && os.SameFile(info, skipped) {
			return fs.SkipDir
		}
		switch strings.ToLower(filepath.Ext(name)) {
		case ".jpg", ".jpeg", ".png":
			if d.Type().IsRegular() {
				photos = append(photos, name)
			}
		}
		return nil
	})
	if err == nil && len(photos) == 0 {
		err = fmt.Errorf("%s has no photographs: no .jpg, .jpeg or .png files", dir)
	}
	return photos, err
}

// makeWritable makes a directory, and returns an error if no file can be written there: before the work, not after it.
func makeWritable(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".thumbnails-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
