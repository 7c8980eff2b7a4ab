/*
Command wsfigures draws figures of measurements, given as JSON, as SVG files:

	wsfigures [-o DIR] [-png] FILE…

FILE - is the standard input. A file has a document like this one:

	{"figures": [{
	  "file": "fig1", "title": "Time of a chain", "kind": "lines",
	  "x": {"label": "workers"}, "y": {"label": "time in s", "zero": true},
	  "series": [{"name": "adaptive", "points": [
	    {"x": 1, "y": 0.5, "low": 0.4, "high": 0.6}, {"x": 2, "y": 0.3, "low": 0.3, "high": 0.4}]}],
	  "marks": [{"name": "lower bound", "points": [{"x": 1, "y": 0.4}, {"x": 2, "y": 0.2}]}],
	  "note": "Medians of 5; band: least to most"
	}]}

The kinds are:

  - lines: a line with points for each series, with a band from low to high. Marks are dashed lines.
  - bars: a group of bars for each of x.categories, with whiskers from low to high. A point's x is the index of its
    category. Marks are ticks across the groups.
  - steps: a step function for each series. Marks are dashed steps.
  - dots: a row for each of x.categories, downwards, with a dot for each series and a line from low to high. Values are
    points' y, and a point's x is the index of its category, as with bars. Marks are ticks across the rows.

Of the field document are values of a document whose figure is repeated, as series: open diamonds, which are joined by
dashed lines between lines and steps. The name of each is that of the series to be compared with, or empty.

An axis has the fields label, log, zero, min and max. low, high, marks and note may be missing, and so may the name of
an only series. Unknown fields are errors. Nothing is drawn unless all figures of all files can be drawn. The exit
status is 2 if a figure cannot be drawn, and 1 if a file cannot be written.

The command is a module of its own, so that users of Magpie do not depend on its drawing library.
*/
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/magpie-go/magpie/cmd/wsfigures/internal/figure"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("wsfigures", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("o", ".", "write the files into `DIR`, which is made if it does not exist")
	png := flags.Bool("png", false, "write a PNG file beside each SVG file")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: wsfigures [-o DIR] [-png] FILE…\n\nIt draws the figures of each FILE, - for the "+
			"standard input, as SVG files.")
		flags.PrintDefaults()
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	if flags.NArg() == 0 {
		fmt.Fprintln(stderr, "wsfigures: no files: name some, or - for the standard input")
		return 2
	}
	var figures []figure.Figure
	status := 0
	from := make(map[string]string)
	for _, name := range flags.Args() {
		read, err := readFile(name, stdin)
		if err != nil {
			fmt.Fprintf(stderr, "wsfigures: %v\n", err)
			status = 2
		}
		for _, f := range read {
			if other, ok := from[f.File]; ok {
				fmt.Fprintf(stderr, "wsfigures: %s and %s both have a figure %s\n", other, name, f.File)
				status = 2
			}
			from[f.File] = name
		}
		figures = append(figures, read...)
	}
	if status != 0 {
		return status
	}
	if err := write(*dir, *png, figures, stdout); err != nil {
		fmt.Fprintf(stderr, "wsfigures: %v\n", err)
		return 1
	}
	return 0
}

func readFile(name string, stdin io.Reader) ([]figure.Figure, error) {
	in := stdin
	if name == "-" {
		name = "standard input"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	figures, err := figure.Read(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return figures, nil
}

// write draws the figures into files of dir and lists these.
func write(dir string, png bool, figures []figure.Figure, stdout io.Writer) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	save := func(name string, content []byte) error {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, content, 0o666); err != nil {
			return err
		}
		_, err := fmt.Fprintln(stdout, name)
		return err
	}
	for i := range figures {
		f := &figures[i]
		svg, err := f.SVG()
		if err != nil {
			return err
		}
		if err := save(f.File+".svg", svg); err != nil {
			return err
		}
		if !png {
			continue
		}
		var b bytes.Buffer
		if err := f.PNG(&b); err != nil {
			return err
		}
		if err := save(f.File+".png", b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
