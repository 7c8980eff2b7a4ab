// Service answers requests and draws pictures of the Mandelbrot set in the background, on workers that leave the
// processors to the handlers of requests.
//
//	service -addr localhost:8080
//	curl -i -X POST 'localhost:8080/pictures?width=2000'    202 Accepted, Location: /pictures/1
//	curl -o 1.png localhost:8080/pictures/1                 how far it is, and in the end the picture
//
// It is an example, to copy from: a bound on the work that is taken in, which callers see, and on the results that are
// kept; progress; an executor that yields to the handlers; a log of failures and stalls, labels, and pages with metrics
// and traces; and an orderly end at SIGTERM.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"log"
	"net"
	"net/http"
	"os/signal"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/httpdebug"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/executor/service"
)

// Together these bound the memory. A picture of the widest takes 16 MB while it is drawn.
const (
	widest     = 4000
	kept       = 32 // pictures, more than are drawn at a time
	inProgress = 16
)

func main() {
	addr := flag.String("addr", "localhost:8080", "the `address` to listen at")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
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
	ex, err := service.New(executor.Config{
		Name:    "pictures",
		MaxRuns: inProgress,                                 // further pictures are refused, and the callers told so
		Host:    host.Options{Share: host.QuotaShare(0.25)}, // of a CPU quota, as a container has
		Threads: host.Threads{Nice: 5, BestEffort: true},    // without Nice where it is refused; /debug/magpie/dump tells
	}, service.Options{})
	if err != nil {
		return err
	}
	server := &http.Server{Handler: (&pictures{ex: ex}).handler()}
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

type pictures struct {
	ex   *service.Service
	last atomic.Int64
	all  sync.Map // each *picture by its number, a string
}

// A picture is one that is being drawn, or was.
type picture struct {
	width int
	rows  atomic.Int64 // that are drawn
	png   bytes.Buffer // complete when the run has ended
	run   *executor.Run
}

func (s *pictures) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /pictures", s.start)
	mux.HandleFunc("GET /pictures/{number}", s.show)
	mux.Handle(httpdebug.Path, s.ex.Pages) // in production at an address that only operators reach
	return mux
}

// start begins a picture.
func (s *pictures) start(w http.ResponseWriter, r *http.Request) {
	width, err := strconv.Atoi(r.FormValue("width"))
	if err != nil || width < 1 || width > widest {
		http.Error(w, fmt.Sprint("give a width from 1 to ", widest, ", as in ?width=2000"), http.StatusBadRequest)
		return
	}
	p := &picture{width: width}
	job := executor.NewJob("mandelbrot", p.draw)
	p.run, err = s.ex.TryStart(context.Background(), job) // not r.Context(): the picture outlives the request
	if err != nil {                                       // ErrBusy or, at the end, ErrClosed
		w.Header().Set("Retry-After", "1")
		http.Error(w, "try again later", http.StatusServiceUnavailable)
		return
	}
	number := s.last.Add(1)
	s.all.Store(fmt.Sprint(number), p)
	if old, ok := s.all.LoadAndDelete(fmt.Sprint(number - kept)); ok {
		old.(*picture).run.Cancel(errors.New("there are too many newer pictures")) // if it is not over by now
	}
	w.Header().Set("Location", fmt.Sprint("/pictures/", number))
	w.WriteHeader(http.StatusAccepted)
}

// show sends a picture, or tells how far it is.
func (s *pictures) show(w http.ResponseWriter, r *http.Request) {
	found, _ := s.all.Load(r.PathValue("number"))
	if p, ok := found.(*picture); !ok {
		http.NotFound(w, r)
	} else if !p.run.Progress().Over {
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, "%d of %d rows\n", p.rows.Load(), p.width)
	} else if err := p.run.Wait(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	} else {
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write(p.png.Bytes()) // fails if the client has gone
	}
}

// draw draws the Mandelbrot set. Every some microseconds it lets handlers that are ready go first.
func (p *picture) draw(s *executor.Scope) error {
	img := image.NewGray(image.Rect(0, 0, p.width, p.width)) // not before: a picture that is refused takes no memory
	err := parallel.ForErr(s.Context(), parallel.Options{}, 0, p.width, func(ctx context.Context, y int) error {
		for x := range p.width {
			if x%32 == 0 && executor.Yield(ctx) != nil {
				return ctx.Err()
			}
			c := complex(3*float64(x)/float64(p.width)-2.25, 3*float64(y)/float64(p.width)-1.5)
			z, n := complex128(0), uint8(0)
			for ; n < 255 && real(z)*real(z)+imag(z)*imag(z) < 4; n++ {
				z = z*z + c
			}
			img.Pix[y*img.Stride+x] = n
		}
		p.rows.Add(1)
		return nil
	})
	if err != nil {
		return err
	}
	return png.Encode(&p.png, img)
}
