// Command browse opens an HTML file in a headless Chromium at a width of 1200 pixels and lists its defects:
//
//	browse FILE.html [-png OUT]
//
// The exit status is 1 if it has any, and 2 if it cannot be opened.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/magpie-go/magpie/cmd/wsfigures/internal/browser"
)

func main() {
	png := flag.String("png", "", "write a picture of the page into `OUT`")
	width := flag.Int("width", 1200, "`pixels` of the window")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: browse FILE.html [-png OUT] [-width pixels]")
		flag.PrintDefaults()
	}
	args := os.Args[1:]
	var file string
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		file, args = args[0], args[1:]
	}
	_ = flag.CommandLine.Parse(args) // it exits
	if file == "" && flag.NArg() == 1 {
		file = flag.Arg(0)
	} else if file == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	p, err := open(ctx, file, *width, *png)
	if err != nil {
		fmt.Fprintf(os.Stderr, "browse: %v\n", err)
		os.Exit(2)
	}
	problems := p.Problems()
	for _, line := range problems {
		fmt.Println(line)
	}
	fmt.Printf("%s: %d figures, %d images, %d problems\n", file, len(p.Figures), len(p.Images), len(problems))
	if len(problems) > 0 {
		os.Exit(1)
	}
}

func open(ctx context.Context, file string, width int, png string) (*browser.Page, error) {
	path, err := browser.Find()
	if err != nil {
		return nil, err
	}
	p, err := browser.Open(ctx, path, file, width)
	if err != nil || png == "" {
		return p, err
	}
	return p, os.WriteFile(png, p.PNG, 0o666)
}
