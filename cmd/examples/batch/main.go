// Batch computes the SHA-256 checksums of all files below a directory, shows how far it is, and ends cleanly at an
// interrupt or a SIGTERM: what is done by then is printed, and the exit status is 1.
//
//	batch photos > photos.sha256
//
// It is an example, to copy from: a run in the background, its progress, and a deadline for the tasks that run when the
// program is told to stop.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "batch:", err)
		os.Exit(1)
	}
}

// progressEvery is how often the line with the progress is written.
const progressEvery = 200 * time.Millisecond

func run(ctx context.Context, args []string, out, status io.Writer) error {
	flags := flag.NewFlagSet("batch", flag.ContinueOnError)
	quiet := flags.Bool("q", false, "do not show the progress")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("give one directory, as in: batch photos")
	}
	files, err := find(flags.Arg(0))
	if err != nil {
		return err
	}
	if *quiet {
		status = io.Discard
	}

	sums := make([][]byte, len(files)) // each is written by one task, and read after the run
	g := graph.New("checksums")
	for i, file := range files {
		g.Task(func(ctx context.Context) (err error) {
			// Most of the time goes into the sum. A disk that keeps a worker waiting would be a reason for
			// executor.Blocking around the reads.
			sums[i], err = checksum(ctx, file)
			return err
		}).Named(file)
	}
	ex, err := executor.New(executor.Config{Name: "batch"})
	if err != nil {
		return err
	}
	defer ex.Close()

	r := ex.Start(ctx, g) // ends early if ctx does
	show(status, r)
	err = r.Wait()
	for i, sum := range sums {
		if sum != nil {
			fmt.Fprintf(out, "%x  %s\n", sum, files[i])
		}
	}
	if err != nil {
		return fmt.Errorf("%d of %d files done: %w", count(sums), len(files), err)
	}
	return nil
}

// show writes the progress of a run until it has ended.
func show(status io.Writer, r *executor.Run) {
	r.Progress() // the workers tell what they have done at once from the first call on
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-r.Done():
			fmt.Fprintf(status, "\r\033[K")
			return
		case <-tick.C:
			p := r.Progress()
			fmt.Fprintf(status, "\r\033[K%d of %d files, %d workers", p.Done, p.Total, p.Running)
		}
	}
}

// find returns the files below dir.
func find(dir string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

// checksum returns the sum of a file. It looks at ctx after each megabyte, so that an interrupt does not wait for the
// end of a large file.
func checksum(ctx context.Context, file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		_, err := io.CopyN(sum, f, 1<<20)
		if err == io.EOF {
			return sum.Sum(nil), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func count(sums [][]byte) (n int) {
	for _, sum := range sums {
		if sum != nil {
			n++
		}
	}
	return n
}
