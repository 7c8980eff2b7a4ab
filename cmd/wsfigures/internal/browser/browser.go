// Package browser opens HTML files in a headless Chromium and lists their defects.
package browser

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// names are the commands of Chromium and its kin. Those without a window come first: they start sooner.
var names = []string{
	"chromium-headless-shell", "headless-shell", "chromium", "chromium-browser",
	"google-chrome", "google-chrome-stable",
	"/Applications/Chromium.app/Contents/MacOS/Chromium",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
}

// Find returns the path of an installed browser.
func Find() (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no chromium-headless-shell, chromium or google-chrome is installed")
}

// A Page is an HTML file as the browser shows it, with its folded parts open.
type Page struct {
	Title    string
	Figures  []Figure // the SVG elements
	Images   []Image
	Width    float64  // of the window
	Wide     []string // elements beyond the right or left edge of the window
	Console  []string // errors and warnings
	Requests []string // URLs other than the file's own and data: URLs
	PNG      []byte   // a picture of the page, at most 16000 pixels tall

	own string // the file's URL
}

// A Figure is an SVG element.
type Figure struct {
	Name          string // its label, or its place among the figures
	Width, Height float64
	Visible       bool
	Outside       []string // texts that are not wholly inside the figure
	Overlaps      []string // pairs of level texts that overlap
}

// An Image is an element img.
type Image struct {
	Source string // the beginning
	Loaded bool
}

//go:embed measure.js
var measure string

// Open opens a file in the browser at path, in a window of the width. Requests to other hosts fail, and are in the
// result.
func Open(ctx context.Context, path, file string, width int) (*Page, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(file); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", file)
	}
	slashed := "/" + strings.TrimPrefix(filepath.ToSlash(file), "/") // a volume of Windows has none
	own := (&url.URL{Scheme: "file", Path: slashed}).String()
	r := &recorder{own: own}
	ctx, stop, err := start(ctx, path, width, r.event)
	if err != nil {
		return nil, err
	}
	defer stop()
	if err := chromedp.Do(ctx, chromedp.Navigate(own)); err != nil {
		return nil, fmt.Errorf("%s does not open: %w", file, err)
	}
	p, err := chromedp.Run(ctx, chromedp.Evaluate[Page](measure, chromedp.EvalAwaitPromise))
	if err != nil {
		return nil, fmt.Errorf("%s cannot be measured: %w", file, err)
	}
	tall, err := chromedp.Run(ctx, chromedp.Evaluate[float64]("document.documentElement.scrollHeight"))
	if err != nil {
		return nil, fmt.Errorf("%s cannot be measured: %w", file, err)
	}
	if p.PNG, err = chromedp.Run(ctx, picture(float64(width), min(tall, tallest))); err != nil {
		return nil, fmt.Errorf("no picture of %s: %w", file, err)
	}
	p.own = own
	p.Console, p.Requests = r.lists()
	return &p, nil
}

// start starts the browser at path with a tab, whose events it passes on. The window has the width. No other host
// than this one has an address. The function ends the browser.
func start(ctx context.Context, path string, width int, event func(any)) (context.Context, func(), error) {
	const height = 1000
	options := slices.Concat(chromedp.DefaultExecAllocatorOptions[:], []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path),
		chromedp.WindowSize(width, height),
		chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.WSURLReadTimeout(time.Minute), // a busy machine starts it slowly
	})
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium's sandbox refuses root
	}
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	ctx, closeTab := chromedp.NewContext(ctx, chromedp.WithLogf(discard), chromedp.WithErrorf(discard))
	end := func() { closeTab(); stop() }
	err := chromedp.Listen(ctx, event) // starts the browser
	if err == nil {
		err = chromedp.Do(ctx, chromedp.EmulateViewport(int64(width), height))
	}
	if err != nil {
		end()
		return nil, nil, fmt.Errorf("%s does not start: %w", path, err)
	}
	return ctx, end, nil
}

// tallest is the height of a picture up to which Chromium makes one. The picture of a taller page is of its beginning.
const tallest = 16000

// picture takes a picture of the upper left part of a page.
func picture(width, height float64) chromedp.Action[[]byte] {
	return func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
		beyond := true
		r, err := cdp.Call(ctx, t, page.CaptureScreenshot, page.CaptureScreenshotParams{
			CaptureBeyondViewport: &beyond,
			Clip:                  &page.Viewport{Width: width, Height: height, Scale: 1},
			Format:                page.CaptureScreenshotFormatPng,
		})
		if err != nil {
			return nil, err
		}
		return r.Data, nil
	}
}

func discard(string, ...any) {}

// recorder collects the events of a tab.
type recorder struct {
	own      string
	mu       sync.Mutex
	console  []string
	requests []string
}

func (r *recorder) event(ev any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch ev := ev.(type) {
	case *network.EventRequestWillBeSent:
		if u := ev.Request.URL; u != r.own && !strings.HasPrefix(u, "data:") {
			r.requests = append(r.requests, u)
		}
	case *network.EventWebSocketCreated:
		r.requests = append(r.requests, ev.URL)
	case *runtime.EventConsoleAPICalled:
		switch ev.Type {
		case runtime.ConsoleAPICalledTypeError, runtime.ConsoleAPICalledTypeWarning, runtime.ConsoleAPICalledTypeAssert:
			var words []string
			for _, a := range ev.Args {
				if words = append(words, a.Description); a.Description == "" {
					words[len(words)-1] = strings.Trim(string(a.Value), `"`)
				}
			}
			r.console = append(r.console, string(ev.Type)+": "+strings.Join(words, " "))
		}
	case *runtime.EventExceptionThrown:
		text := ev.ExceptionDetails.Text
		if e := ev.ExceptionDetails.Exception; e != nil {
			text += " " + e.Description
		}
		r.console = append(r.console, "exception: "+text)
	case *log.EventEntryAdded:
		if e := ev.Entry; e.Level == log.EntryLevelError || e.Level == log.EntryLevelWarning {
			r.console = append(r.console, strings.TrimSpace(fmt.Sprintf("%s: %s %s", e.Level, e.Text, e.URL)))
		}
	}
}

func (r *recorder) lists() (console, requests []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.console), slices.Clone(r.requests)
}

// Problems lists the page's defects, a line each.
func (p *Page) Problems() (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for _, c := range p.Console {
		add("the console has %s", c)
	}
	for _, r := range p.Requests {
		add("the page requests %s", r)
	}
	for _, w := range p.Wide {
		add("beyond the %v pixels of the window is %s", p.Width, w)
	}
	for _, i := range p.Images {
		if !i.Loaded {
			add("the image %s does not load", i.Source)
		}
	}
	for _, f := range p.Figures {
		if f.Width < 1 || f.Height < 1 {
			add("figure %q has the size %v×%v", f.Name, f.Width, f.Height)
		} else if !f.Visible {
			add("figure %q is not visible", f.Name)
		}
		for _, text := range f.Outside {
			add("figure %q does not hold its text %q", f.Name, text)
		}
		for _, pair := range f.Overlaps {
			add("in figure %q two texts overlap: %s", f.Name, pair)
		}
	}
	return all
}
