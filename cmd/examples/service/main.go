// Service answers requests and draws pictures of the Mandelbrot set in the background, on workers that leave the
// processors to the handlers of requests.
//
//	service -addr localhost:8080
//	curl -i -X POST 'localhost:8080/pictures?width=2000'    202 Accepted, Location: /pictures/1
//	curl -o 1.png localhost:8080/pictures/1                 how far it is, and in the end the picture
//
// It is an example, to copy from: a bound on the work that is taken in, which callers see, and on the results that are
// kept; progress; an executor that yields to the handlers; metrics, a log of stalls, and pages for its diagnosis; and
// an orderly end at SIGTERM.
package main

import (
	"bytes"
	"context"
	"errors"
	"expvar"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log"
	"maps"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/httpdebug"
	"github.com/magpie-go/magpie/executor/metrics"
	"github.com/magpie-go/magpie/executor/watch"
	"github.com/magpie-go/magpie/graph"
)

// Together these bound the memory: 32 pictures of 16 MB that can be shown, and 16 that are drawn although they were
// deleted.
const (
	widest     = 4000
	kept       = 32 // pictures, more than are drawn at a time
	inProgress = 16
)

// magpie has the metrics of the executor, for whoever collects those of the process.
var magpie = metrics.NewVar(nil)

func init() { expvar.Publish("magpie", magpie) }

func main() {
	addr := flag.String("addr", "localhost:8080", "the `address` to listen at")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", *addr)
	if err == nil {
		log.Printf("listening at http://%s", listener.Addr())
		err = serve(ctx, listener, 10*time.Second)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// serve answers requests until ctx ends. Then it lets the requests and pictures in progress end, for as long as grace.
func serve(ctx context.Context, listener net.Listener, grace time.Duration) error {
	ex, err := executor.New(executor.Config{
		Name:    "pictures",
		MaxRuns: inProgress,                                 // further pictures are refused, and the callers told so
		Host:    host.Options{Share: host.QuotaShare(0.25)}, // of a CPU quota, as a container has
		Threads: host.Threads{Nice: 5, BestEffort: true},    // without Nice where it is refused; /debug/magpie/dump tells
	})
	if err != nil {
		return err
	}
	magpie.Set(ex)
	defer watch.Start(ex, watch.Options{}).Close() // logs stalls, and tasks that take a minute
	s := &service{ex: ex, pictures: make(map[int]*picture)}
	server := &http.Server{Handler: s.handler()}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()

	select {
	case err = <-failed:
	case <-ctx.Done():
		log.Printf("ending: what is in progress has %v", grace)
	}
	end, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return errors.Join(err, server.Shutdown(end), ex.Shutdown(end))
}

type service struct {
	ex *executor.Executor

	mu       sync.Mutex // guards what follows
	pictures map[int]*picture
	last     int
}

// A picture is one that is being drawn, or was.
type picture struct {
	img *image.Gray // complete when the run has ended
	run *executor.Run
}

func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ping", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "pong") })
	mux.HandleFunc("POST /pictures", s.start)
	mux.HandleFunc("GET /pictures/{number}", s.show)
	mux.HandleFunc("DELETE /pictures/{number}", s.stop)
	// In production at an address that only operators reach.
	mux.Handle("GET /debug/vars", expvar.Handler())
	mux.Handle(httpdebug.Path, httpdebug.New(s.ex))
	return mux
}

// start begins a picture.
func (s *service) start(w http.ResponseWriter, r *http.Request) {
	width, err := strconv.Atoi(r.FormValue("width"))
	if err != nil || width < 1 || width > widest {
		message := fmt.Sprintf("width must be a number from 1 to %d, as in /pictures?width=2000", widest)
		http.Error(w, message, http.StatusBadRequest)
		return
	}
	p := &picture{}
	g := graph.New("mandelbrot")
	paper := g.Task(func(context.Context) error { // not here: a picture that is refused takes no memory
		p.img = image.NewGray(image.Rect(0, 0, width, width))
		return nil
	})
	for y := range width {
		paper.Precede(g.Task(func(ctx context.Context) error { return drawRow(ctx, p.img, y) }))
	}
	// Not the request's context: the picture outlives the request.
	p.run, err = s.ex.TryStart(context.Background(), g)
	switch {
	case errors.Is(err, executor.ErrBusy):
		w.Header().Set("Retry-After", "1")
		http.Error(w, "busy: try again later", http.StatusServiceUnavailable)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.pictures[s.last] = p
	s.forget()
	w.Header().Set("Location", fmt.Sprintf("/pictures/%d", s.last))
	w.WriteHeader(http.StatusAccepted)
}

// forget forgets the oldest pictures that have ended, as many as are too many. The caller holds mu.
func (s *service) forget() {
	for _, number := range slices.Sorted(maps.Keys(s.pictures)) {
		if len(s.pictures) > kept && s.pictures[number].run.Progress().Over {
			delete(s.pictures, number)
		}
	}
}

// find returns the picture that a request names. If there is none, it answers the request.
func (s *service) find(w http.ResponseWriter, r *http.Request) (*picture, int) {
	number, _ := strconv.Atoi(r.PathValue("number"))
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pictures[number]
	if p == nil {
		http.NotFound(w, r)
	}
	return p, number
}

// show sends a picture, or tells how far it is.
func (s *service) show(w http.ResponseWriter, r *http.Request) {
	p, _ := s.find(w, r)
	if p == nil {
		return
	}
	if progress := p.run.Progress(); !progress.Over {
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, "%d of %d steps\n", progress.Done, progress.Total)
		return
	}
	if err := p.run.Wait(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	var file bytes.Buffer
	if err := png.Encode(&file, p.img); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "image/png")
	_, _ = w.Write(file.Bytes()) // fails if the client has gone
}

// stop ends a picture early and forgets it.
func (s *service) stop(w http.ResponseWriter, r *http.Request) {
	p, number := s.find(w, r)
	if p == nil {
		return
	}
	p.run.Cancel(errors.New("the picture was deleted"))
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pictures, number)
}

// drawRow draws a row of the Mandelbrot set. Every some microseconds it lets handlers that are ready go first.
func drawRow(ctx context.Context, img *image.Gray, y int) error {
	width := img.Bounds().Dx()
	for x := range width {
		if x%32 == 0 {
			if err := executor.Yield(ctx); err != nil {
				return err
			}
		}
		c := complex(3*float64(x)/float64(width)-2.25, 3*float64(y)/float64(width)-1.5)
		z, n := complex128(0), 0
		for ; n < 255 && real(z)*real(z)+imag(z)*imag(z) < 4; n++ {
			z = z*z + c
		}
		img.SetGray(x, y, color.Gray{uint8(n)})
	}
	return nil
}
