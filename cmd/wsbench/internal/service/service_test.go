package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/magpie-go/magpie/cmd/internal/environment"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if status, ok := Child(os.Stdin, os.Stdout, os.Stderr); ok {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

func TestLoads(t *testing.T) {
	for _, l := range Loads() {
		want := l.results()
		require.Len(t, want, seeds)
		require.Equal(t, want, l.results(), l.Name)
		distinct := make(map[uint64]bool)
		for _, r := range want {
			distinct[r] = true
		}
		require.Len(t, distinct, seeds, l.Name)
		require.Positive(t, l.UnitsOf(time.Microsecond), l.Name)
		require.Greater(t, l.UnitsOf(time.Hour), 10, l.Name)
	}
}

// TestWrongResult: a unit whose result is wrong does not count, and ends the work with an error.
func TestWrongResult(t *testing.T) {
	for _, b := range Backgrounds() {
		if b.Name == None || !b.Usable() {
			continue
		}
		w := newWork(pureLoad, 3, 4)
		w.want[seeds/2]++
		stop, err := b.start(w)
		require.NoError(t, err)
		for w.err() == nil {
			time.Sleep(time.Millisecond)
		}
		w.stopped.Store(true)
		require.NoError(t, stop())
		require.ErrorContains(t, w.err(), "background pure: unit with seed 32", b.Name)
	}
}

// TestStop: all tasks that have begun have ended when stop returns.
func TestStop(t *testing.T) {
	for _, b := range Backgrounds() {
		if b.Name == None || !b.Usable() {
			continue
		}
		w := newWork(allocatingLoad, 3, 4)
		stop, err := b.start(w)
		require.NoError(t, err)
		for w.done.Load() < 100 {
			time.Sleep(time.Millisecond)
		}
		w.stopped.Store(true)
		require.NoError(t, stop())
		require.NoError(t, w.err())
		require.EqualValues(t, 3*w.begun.Load(), w.done.Load(), b.Name)
	}
}

func TestPlan(t *testing.T) {
	const rate = 1000.0
	all := plan(rate, 2*time.Second, 1)
	require.Len(t, all, 2000)
	for i := range all {
		require.Equal(t, i, int(float64(all[i].due)/1e9*rate), "request %d is due outside its interval", i)
	}
	require.Equal(t, all[7].due, plan(rate, time.Second, 1)[7].due, "a seed gives the same times")
	require.NotEqual(t, all[7].due, plan(rate, time.Second, 2)[7].due)
	require.Len(t, plan(1, 10*time.Millisecond, 1), 1)
}

// load runs the load process, in this process, on a server.
func load(t *testing.T, h http.Handler, rate float64, measure time.Duration) (loadResult, error) {
	web := httptest.NewServer(h)
	defer web.Close()
	g := &generator{address: strings.TrimPrefix(web.URL, "http://"), failed: make(chan struct{})}
	g.prepare()
	require.NoError(t, g.connect(2))
	defer g.close()
	return g.measure(loadConfig{Address: g.address, Rate: rate, Warm: 10 * time.Millisecond, Measure: measure})
}

// TestStall: a server that stalls once delays every request that is due meanwhile, and each latency says so.
func TestStall(t *testing.T) {
	const stall, rate, measure = 300 * time.Millisecond, 200.0, 600 * time.Millisecond
	s := &server{work: new(work)}
	var mu sync.Mutex
	requests := 0
	result, err := load(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/answer/") {
			mu.Lock()
			if requests++; requests == 50 {
				time.Sleep(stall)
			}
			mu.Unlock()
		}
		s.handler().ServeHTTP(w, r)
	}), rate, measure)
	require.NoError(t, err)
	require.Len(t, result.Latencies, int(rate*measure.Seconds()))
	slow := 0
	for _, l := range result.Latencies {
		if time.Duration(l) > stall/3 {
			slow++
		}
	}
	// A load that waited for the answer would see one. On a busy machine there are more than those of the stall.
	require.GreaterOrEqual(t, slow, int(rate*stall.Seconds()*2/3)-2)
}

func TestWrongAnswers(t *testing.T) {
	s := &server{work: new(work)}
	for _, tt := range []struct {
		want   string
		answer func(http.ResponseWriter)
	}{
		{"wrong answer to question", func(w http.ResponseWriter) { _, _ = w.Write([]byte("{}")) }},
		{"an answer begins with \"HTTP/1.1 404", func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) }},
		{"9000 bytes is too long", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "9000")
			_, _ = w.Write(make([]byte, 9000))
		}},
		{"a header that is too long", func(w http.ResponseWriter) {
			w.Header().Set("Long", strings.Repeat("x", 9000))
		}},
		{"an answer begins with", func(w http.ResponseWriter) { // chunked, without a length
			_, _ = w.Write(make([]byte, 100))
			w.(http.Flusher).Flush()
		}},
		{"load: ", func(http.ResponseWriter) { panic(http.ErrAbortHandler) }},
	} {
		_, err := load(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/answer/"+strconv.Itoa(questions-1) {
				tt.answer(w)
				return
			}
			s.handler().ServeHTTP(w, r)
		}), 5000, time.Second)
		require.ErrorContains(t, err, tt.want)
	}
}

func TestServerErrors(t *testing.T) {
	s := &server{work: new(work)}
	for path, want := range map[string]int{
		"/answer/x": http.StatusBadRequest, "/end": http.StatusBadRequest, "/": http.StatusNotFound,
		"/answer/5": http.StatusOK, "/begin": http.StatusOK,
	} {
		r := httptest.NewRecorder()
		s.handler().ServeHTTP(r, httptest.NewRequest("GET", path, nil))
		if path == "/end" {
			want = r.Code // it depends on whether /begin came before
		}
		require.Equal(t, want, r.Code, path)
	}
	var out bytes.Buffer
	in := json.NewDecoder(strings.NewReader(`{"Background": "nope"}`))
	require.ErrorContains(t, serve(in, json.NewEncoder(&out)), `no background "nope"`)
	in = json.NewDecoder(strings.NewReader(`{"Background": "none", "Load": "pure"} {}`))
	require.ErrorContains(t, serve(in, json.NewEncoder(&out)), "unexpected input")
}

func session(t *testing.T) *Session {
	exe, err := os.Executable()
	require.NoError(t, err)
	return &Session{
		Backgrounds: Backgrounds()[:1], Loads: Loads()[:1], Tasks: []time.Duration{time.Millisecond},
		Rate: 200, Measure: 60 * time.Millisecond, Rounds: 1, Command: []string{exe, "-test.run=^$"},
	}
}

// TestSession measures every background of the default table with every load, or some if tests are quick.
func TestSession(t *testing.T) {
	s := session(t)
	s.Backgrounds, s.Loads = nil, testkit.Part(t, Loads())
	for _, b := range Backgrounds() {
		if b.Usable() && !b.Extra {
			s.Backgrounds = append(s.Backgrounds, b)
		}
	}
	if testkit.Quick() {
		s.Backgrounds = append(s.Backgrounds[:1], testkit.Some(t, s.Backgrounds[1:])...)
	}
	var steps []string
	s.Step = func(what string, _ time.Duration) { steps = append(steps, what) }
	cases, err := s.Run(t.Context())
	require.NoError(t, err)
	require.Len(t, cases, len(s.Backgrounds)*len(s.Loads))
	require.Len(t, steps, len(cases))
	require.Equal(t, "round 1 of 1: none", steps[0])
	for i, c := range cases {
		b := s.Backgrounds[i%len(s.Backgrounds)]
		require.Equal(t, []string{b.Name, s.Loads[i/len(s.Backgrounds)].Name, "1ms"}, []string{c.Name, c.Load, c.Task})
		require.Equal(t, 12, c.Sent)
		require.Positive(t, c.P50)
		require.LessOrEqual(t, c.P50, c.P90)
		require.LessOrEqual(t, c.P90, c.P99)
		require.LessOrEqual(t, c.P99, c.P999)
		require.LessOrEqual(t, c.P999, c.Max)
		if b.Name == None {
			require.Zero(t, c.Background)
		} else if c.Background == 0 { // it had no core in so short a time
			progresses(t, b, s.Loads[i/len(s.Backgrounds)])
		}
		require.Positive(t, c.Procs)
	}
	var text bytes.Buffer
	require.NoError(t, WriteText(&text, environment.Read(), cases))
	require.Equal(t, len(s.Loads), strings.Count(text.String(), "\nbackground: "), text.String())
	for _, b := range s.Backgrounds {
		require.Equal(t, len(s.Loads), strings.Count(text.String(), "\n"+b.Name+" "), text.String())
	}
	figures := Figures("f", cases)
	require.Len(t, figures, len(s.Loads))
	last := figures[len(figures)-1]
	if len(figures) > 1 {
		require.Equal(t, "f-gc-1ms", last.File)
	}
	require.Len(t, last.Series, len(s.Backgrounds))
	require.Equal(t, "f", Figures("f", cases[:2])[0].File)
}

// progresses measures a background until it gets something done, for longer each time.
func progresses(t *testing.T, b *Background, l *Load) {
	s := session(t)
	s.Backgrounds, s.Loads = []*Background{b}, []*Load{l}
	testkit.Fits(t, func() (wrong string) {
		s.Measure = min(2*s.Measure, 10*time.Second)
		cases, err := s.Run(t.Context())
		require.NoError(t, err)
		if cases[0].Background == 0 {
			wrong = b.Name + " got nothing done"
		}
		return wrong
	})
}

// TestSessionQuota: under a quota the server's work is throttled, and the group does not stay behind.
func TestSessionQuota(t *testing.T) {
	s := session(t)
	s.Backgrounds, s.Measure, s.Quota = []*Background{named(Backgrounds(), "errgroup")}, 150*time.Millisecond, 0.1
	var cases []*Case
	attempts := 0
	testkit.Fits(t, func() (wrong string) {
		var err error
		cases, err = s.Run(t.Context())
		var bad *input.Error
		if errors.As(err, &bad) {
			require.ErrorContains(t, err, "run as root")
			t.Skip(err)
		}
		require.NoError(t, err)
		require.Equal(t, 0.1, cases[0].Quota)
		if cases[0].Throttled > 0 {
			return ""
		}
		if attempts++; attempts > 3 && machineIsBusy() {
			t.Skip("the server does not get the time that its quota allows")
		}
		s.Measure = min(2*s.Measure, 10*time.Second)
		return "the server was not throttled"
	})
	s.Measure, s.Quota = LeastTime, 0.5 // it starts sooner
	var text bytes.Buffer
	require.NoError(t, WriteText(&text, environment.Read(), cases))
	require.Contains(t, text.String(), "the service has a quota of 0.1 CPUs\n")
	_, err := s.Run(t.Context()) // a group of the same name
	require.NoError(t, err)
}

// machineIsBusy reports whether a thread that computes gets less than half of a core.
func machineIsBusy() bool {
	begin, before := time.Now(), osthread.ProcessCPU()
	for time.Since(begin) < 200*time.Millisecond {
	}
	wall := time.Since(begin)
	return osthread.ProcessCPU()-before < wall/2
}

// TestSessionError: what a process says about its failure is the session's error.
func TestSessionError(t *testing.T) {
	s := session(t)
	s.Backgrounds = []*Background{{Name: "nope"}}
	_, err := s.Run(t.Context())
	require.ErrorContains(t, err, `service with background nope, pure in tasks of 1ms: server: no background "nope"`)

	s = session(t)
	s.Command = []string{"/nowhere/wsbench"}
	_, err = s.Run(t.Context())
	require.ErrorContains(t, err, "/nowhere/wsbench")

	if runtime.GOOS != "windows" {
		s.Command = []string{"sh", "-c", "kill -9 $$"}
		_, err = s.Run(t.Context())
		require.ErrorContains(t, err, "server: signal: killed")
	}
}

// TestSessionCancel: a session whose context ends kills its processes.
func TestSessionCancel(t *testing.T) {
	s := session(t)
	s.Measure, s.Rounds = MostTime, 1
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	testkit.Within(t, testkit.Patience, func() {
		_, err := s.Run(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestValidate(t *testing.T) {
	require.NoError(t, session(t).Validate())
	for want, change := range map[string]func(*Session){
		"quota -1: choose 0.05 to ":          func(s *Session) { s.Quota = -1 },
		"rate 0: choose 1 to 20000":          func(s *Session) { s.Rate = 0 },
		"choose 50ms to 1h0m0s":              func(s *Session) { s.Measure = time.Millisecond },
		"rounds must be 1 to 1000, not 0":    func(s *Session) { s.Rounds = 0 },
		"task 2s: choose 10µs to 1s":         func(s *Session) { s.Tasks = []time.Duration{2 * time.Second} },
		"more than 10000000 requests":        func(s *Session) { s.Rate, s.Measure, s.Rounds = 20_000, time.Hour, 9 },
		"background x is for Linux only: ch": func(s *Session) { s.Backgrounds = []*Background{unusable} },
	} {
		if strings.Contains(want, "Linux") && unusable.Usable() {
			continue
		}
		s := session(t)
		change(s)
		err := s.Validate()
		var bad *input.Error
		require.True(t, errors.As(err, &bad))
		require.ErrorContains(t, err, want)
	}
}

var unusable = &Background{Name: "x", OnLinux: true}

func TestQuantile(t *testing.T) {
	sorted := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for q, want := range map[float64]int64{0: 1, 0.1: 1, 0.11: 2, 0.5: 5, 0.99: 10, 1: 10} {
		require.Equal(t, want, quantile(sorted, q), q)
	}
	require.EqualValues(t, 7, quantile([]int64{7}, 0.5))
	require.Equal(t, 2.0, median([]float64{3, 1, 2}))
	require.Equal(t, 2.5, median([]float64{4, 1, 2, 3}))
}

func TestHistogram(t *testing.T) {
	h := &histogram{Counts: []uint64{0, 3, 0, 1}, Buckets: []float64{0, 1, 2, 3, 4}}
	require.EqualValues(t, 4, h.count())
	require.Equal(t, 2.0, h.quantile(0.5))
	require.Equal(t, 2.0, h.quantile(0.75))
	require.Equal(t, 4.0, h.quantile(0.76))
	require.Equal(t, 4.0, h.quantile(1))
	require.Zero(t, (&histogram{Counts: []uint64{0}, Buckets: []float64{0, 1}}).quantile(0.5))
}
