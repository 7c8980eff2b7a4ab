package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/magpie-go/magpie/internal/cgroup"
)

// A serverConfig says what a server runs.
type serverConfig struct {
	Background string
	Load       string
	Units      int // of a task
	Window     int
}

// A serverReady is the first that a server says.
type serverReady struct{ Address string }

// serve is the server process. It ends when its input ends. Its last word is the state at the end of the work.
func serve(in *json.Decoder, out *json.Encoder) error {
	var cfg serverConfig
	if err := in.Decode(&cfg); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	background, load := named(Backgrounds(), cfg.Background), named(Loads(), cfg.Load)
	if background == nil || load == nil {
		return fmt.Errorf("server: no background %q or load %q", cfg.Background, cfg.Load)
	}
	w := &work{}
	if background.Name != None {
		w = newWork(load, cfg.Units, cfg.Window)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &server{work: w}
	web := &http.Server{Handler: s.handler()}
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	stop, err := background.start(w)
	if err != nil {
		return fmt.Errorf("background %s: %w", background.Name, err)
	}
	if err := out.Encode(serverReady{listener.Addr().String()}); err != nil {
		return err
	}
	if err := in.Decode(new(struct{})); err != io.EOF {
		return fmt.Errorf("server: unexpected input: %v", err)
	}
	w.stopped.Store(true)
	err = stop()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = web.Shutdown(ctx) // the load process may have connections open
	if e := <-served; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return errors.Join(err, w.err())
}

// named returns the element of that name, or nil.
func named[T interface{ name() string }](all []T, name string) (none T) {
	for _, x := range all {
		if x.name() == name {
			return x
		}
	}
	return none
}

func (b *Background) name() string { return b.Name }
func (l *Load) name() string       { return l.Name }

// A server answers requests, and says how its background does.
type server struct {
	work *work

	mu     sync.Mutex
	before *snapshot // at /begin
}

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /answer/{question}", func(w http.ResponseWriter, r *http.Request) {
		question, err := strconv.Atoi(r.PathValue("question"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_, _ = w.Write(answer(question)) // the load process misses what is not written
	})
	mux.HandleFunc("GET /begin", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.before = takeSnapshot(s.work)
		_, _ = w.Write([]byte("{}"))
	})
	mux.HandleFunc("GET /end", func(w http.ResponseWriter, _ *http.Request) {
		after := takeSnapshot(s.work)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.before == nil {
			http.Error(w, "no /begin", http.StatusBadRequest)
			return
		}
		text, err := json.Marshal(after.since(s.before))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(text)
	})
	return mux
}

// A snapshot is the state of a server at a time.
type snapshot struct {
	at        time.Time
	units     uint64
	gc        gcState
	throttled uint64 // periods
}

func takeSnapshot(w *work) *snapshot {
	group, _ := cgroup.Read() // without control groups nothing is throttled
	return &snapshot{at: time.Now(), units: w.done.Load(), gc: readGC(), throttled: group.Throttled}
}

// A window is what a server did between /begin and /end.
type window struct {
	Seconds float64 `json:"seconds"`
	Units   uint64  `json:"units"` // of background work, verified
	Procs   int     `json:"procs"` // GOMAXPROCS, with what an executor has reserved
	GC      gcTimes `json:"gc"`
	// Throttled is the number of periods in which the server was stopped because its CPU quota was used up.
	Throttled uint64 `json:"throttled"`
}

func (s *snapshot) since(before *snapshot) window {
	return window{
		Seconds: s.at.Sub(before.at).Seconds(),
		Units:   s.units - before.units,
		Procs:   runtime.GOMAXPROCS(0),
		GC:      s.gc.since(before.gc),

		Throttled: s.throttled - before.throttled,
	}
}
