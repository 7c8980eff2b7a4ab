package httpdebug_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/httpdebug"
	"github.com/magpie-go/magpie/executor/observe"
	"github.com/stretchr/testify/require"
)

func newExecutor(t *testing.T, cfg executor.Config) *executor.Executor {
	ex, err := executor.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ex.Close()) })
	return ex
}

// serve starts a server with two executors, "a" and "b & c".
func serve(t *testing.T) (*httpdebug.Handler, *httptest.Server) {
	h := httpdebug.New(newExecutor(t, executor.Config{Workers: 2, Name: "a"}))
	h.Add(newExecutor(t, executor.Config{Workers: 1, Name: "b & c"}))
	mux := http.NewServeMux()
	mux.Handle(httpdebug.Path, h)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return h, server
}

// get returns the status and the body of a page.
func get(t *testing.T, server *httptest.Server, page string) (int, string) {
	r, err := http.Get(server.URL + httpdebug.Path + page)
	require.NoError(t, err)
	defer r.Body.Close()
	require.Equal(t, "nosniff", r.Header.Get("X-Content-Type-Options"))
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return r.StatusCode, string(body)
}

// ok returns the body of a page that must be there.
func ok(t *testing.T, server *httptest.Server, page string) string {
	status, body := get(t, server, page)
	require.Equal(t, http.StatusOK, status, body)
	return body
}

func TestPages(t *testing.T) {
	h, server := serve(t)
	index := ok(t, server, "")
	require.Contains(t, index, `<a href="dump">dump</a>`)
	require.Contains(t, index, `<td>b &amp; c</td>`)
	require.Contains(t, index, `<a href="stats?executor=b&#43;%26&#43;c">stats</a>`)
	require.NotContains(t, index, "trace")

	both := ok(t, server, "dump")
	require.Contains(t, both, `executor "a": 2 workers`)
	require.Contains(t, both, `executor "b & c": 1 workers`)
	require.NotContains(t, ok(t, server, "dump?executor=a"), `"b & c"`)
	require.Contains(t, ok(t, server, "dump?executor=b+%26+c"), `executor "b & c"`)

	require.Regexp(t, `(?m)^/magpie/workers/configured:workers +2$`, ok(t, server, "stats?executor=a"))
	require.Regexp(t, `(?m)^/magpie/tasks:tasks +0 +workers: 0, 0$`, ok(t, server, "stats?executor=a&format=text"))
	require.Contains(t, ok(t, server, "stats"), `executor "b & c"`)

	var list []map[string]any
	require.NoError(t, json.Unmarshal([]byte(ok(t, server, "stats?format=json")), &list))
	require.Len(t, list, 2)
	require.Equal(t, "b & c", list[1]["name"])
	require.EqualValues(t, 2, list[0]["/magpie/workers/configured:workers"])

	stacks := ok(t, server, "stacks?executor=a")
	require.Contains(t, stacks, `executor "a", worker 1: goroutine `)
	require.Contains(t, stacks, "executor.(*Worker).live(")

	// An executor that is closed is shown, and one that is removed is not.
	ex := newExecutor(t, executor.Config{Workers: 1, Name: "late"})
	h.Add(ex)
	require.NoError(t, ex.Close())
	require.Contains(t, ok(t, server, ""), "<td>late (closed)</td>")
	require.Contains(t, ok(t, server, "stacks?executor=late"), `executor "late", worker 0: no goroutine`)
	h.Remove(ex)
	h.Remove(ex)
	require.NotContains(t, ok(t, server, ""), "late")
}

func TestBadInput(t *testing.T) {
	h, server := serve(t)
	h.Trace = func(context.Context, *executor.Executor, io.Writer) error { return errors.New("no room") }
	for page, want := range map[string]struct {
		status int
		says   string
	}{
		"nothing":                          {http.StatusNotFound, `no page "nothing": there are dump, stats, stacks, trace`},
		"dump/":                            {http.StatusOK, "Magpie executors"}, // an index
		"dump?executor=x":                  {http.StatusNotFound, `no executor "x": there are "a", "b & c"`},
		"dump?executor=":                   {http.StatusNotFound, `no executor ""`},
		"dump?executor=%zz":                {http.StatusBadRequest, "bad query"},
		"stats?format=xml":                 {http.StatusBadRequest, `no format "xml": use text or json`},
		"trace":                            {http.StatusBadRequest, "a trace is of one executor, and 2 are meant"},
		"trace?executor=a&seconds=abc":     {http.StatusBadRequest, `seconds is "abc": give a number above 0`},
		"trace?executor=a&seconds=-1":      {http.StatusBadRequest, `seconds is "-1"`},
		"trace?executor=a&seconds=0":       {http.StatusBadRequest, `seconds is "0"`},
		"trace?executor=a&seconds=NaN":     {http.StatusBadRequest, `seconds is "NaN"`},
		"trace?executor=a&seconds=1e99":    {http.StatusBadRequest, `at most 60`},
		"trace?executor=x&seconds=1":       {http.StatusNotFound, `no executor "x"`},
		"trace?executor=a&seconds=0.00001": {http.StatusInternalServerError, "no trace: no room"},
	} {
		status, body := get(t, server, page)
		require.Equal(t, want.status, status, page)
		require.Contains(t, body, want.says, page)
	}
	r, err := http.Post(server.URL+httpdebug.Path+"dump", "text/plain", strings.NewReader("x"))
	require.NoError(t, err)
	r.Body.Close()
	require.Equal(t, http.StatusMethodNotAllowed, r.StatusCode)
	require.Equal(t, "GET, HEAD", r.Header.Get("Allow"))
	require.Panics(t, func() { httpdebug.New(nil) })
	h.Trace = nil
	status, body := get(t, server, "trace?executor=a")
	require.Equal(t, http.StatusNotFound, status)
	require.NotContains(t, body, "stacks, trace")
}

// Importing the package, and making a Handler, registers nothing.
func TestRegistersNothing(t *testing.T) {
	httpdebug.New()
	_, pattern := http.DefaultServeMux.Handler(httptest.NewRequest(http.MethodGet, httpdebug.Path, nil))
	require.Empty(t, pattern)
}

// A trace lasts as long as it is asked to, or until the client has gone. One that breaks off is seen to be incomplete.
func TestTrace(t *testing.T) {
	h, server := serve(t)
	h.Trace = func(ctx context.Context, ex *executor.Executor, out io.Writer) error {
		if _, err := fmt.Fprintf(out, "trace of %s", ex.Name()); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}
	require.Contains(t, ok(t, server, ""), `<a href="trace?executor=a">trace</a>`)
	begin := time.Now()
	require.Equal(t, "trace of b & c", ok(t, server, "trace?executor=b+%26+c&seconds=0.05"))
	require.GreaterOrEqual(t, time.Since(begin), 50*time.Millisecond)

	head, err := http.Head(server.URL + httpdebug.Path + "trace?executor=a&seconds=50")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, head.StatusCode)

	begun, release := make(chan struct{}), make(chan struct{})
	h.Trace = func(context.Context, *executor.Executor, io.Writer) error {
		close(begun)
		<-release
		return nil
	}
	first := httptest.NewRecorder()
	over := make(chan struct{})
	go func() {
		defer close(over)
		h.ServeHTTP(first, httptest.NewRequest(http.MethodGet, "/trace?executor=a", nil))
	}()
	<-begun
	status, body := get(t, server, "trace?executor=a")
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, body, "somebody else is taking a trace")
	close(release)
	<-over
	require.Equal(t, http.StatusOK, first.Code)

	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h.Trace = func(ctx context.Context, _ *executor.Executor, _ io.Writer) error {
		cancel() // the client goes
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	}
	long := server.URL + httpdebug.Path + "trace?executor=a&seconds=59"
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, long, nil)
	require.NoError(t, err)
	_, err = http.DefaultClient.Do(r)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, <-ended, context.Canceled)

	h.Trace = func(_ context.Context, _ *executor.Executor, out io.Writer) error {
		fmt.Fprint(out, strings.Repeat("x", 1<<16))
		return errors.New("broken")
	}
	// Of the other executor: the trace whose client has gone counts until its handler has returned.
	response, err := http.Get(server.URL + httpdebug.Path + "trace?executor=b+%26+c")
	if err == nil {
		_, err = io.ReadAll(response.Body)
		response.Body.Close()
	}
	require.Error(t, err)

	limited := httptest.NewUnstartedServer(h)
	limited.Config.WriteTimeout = time.Minute
	limited.Start()
	defer limited.Close()
	status, body = get(t, limited, "trace?executor=a&seconds=60")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, body, "the server ends each response after 1m0s")
}

// A deadlined response has the deadline that its handler has set.
type deadlined struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (d *deadlined) SetWriteDeadline(at time.Time) error {
	d.deadline = at
	return nil
}

// A client that does not read holds the trace of an executor for some seconds after its end, or for as long as the
// server lets it, if that is shorter.
func TestTraceDeadline(t *testing.T) {
	const lasts, limit = 20 * time.Second, 10 * time.Minute
	h := httpdebug.New(newExecutor(t, executor.Config{Workers: 1}))
	h.Trace = func(context.Context, *executor.Executor, io.Writer) error { return nil }
	for name, c := range map[string]struct {
		server *http.Server
		sets   bool
	}{
		"no server":    {nil, true},
		"no limit":     {&http.Server{}, true},
		"none either":  {&http.Server{WriteTimeout: -1}, true},
		"a later one":  {&http.Server{WriteTimeout: limit}, true},
		"an early one": {&http.Server{WriteTimeout: lasts + time.Second}, false},
	} {
		ctx := t.Context()
		if c.server != nil {
			ctx = context.WithValue(ctx, http.ServerContextKey, c.server)
		}
		w := &deadlined{ResponseRecorder: httptest.NewRecorder()}
		begin := time.Now()
		h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/trace?seconds=20", nil))
		require.Equal(t, http.StatusOK, w.Code, name)
		require.Equal(t, c.sets, !w.deadline.IsZero(), name)
		if c.sets {
			require.WithinRange(t, w.deadline, begin.Add(lasts+time.Second), begin.Add(limit), name)
		}
	}
}

// The page trace of an executor that is closed says that there is no trace.
func TestTraceOfAClosedExecutor(t *testing.T) {
	tap := observe.NewSwitch()
	ex := newExecutor(t, executor.Config{Workers: 1, Observers: []*executor.Observer{tap.Observer()}})
	h := httpdebug.New(ex)
	h.Trace = func(ctx context.Context, _ *executor.Executor, out io.Writer) error {
		return tap.Record(ctx, out, observe.TraceOptions{})
	}
	server := httptest.NewServer(h)
	defer server.Close()
	require.NoError(t, ex.Close())
	status, body := get(t, server, "trace?seconds=0.01")
	require.Equal(t, http.StatusInternalServerError, status)
	require.Equal(t, "httpdebug: no trace: "+observe.ErrNoExecutor.Error()+"\n", body)
}

// A trace of several executors of one name is none of any.
func TestExecutorsOfOneName(t *testing.T) {
	h, server := serve(t)
	h.Add(newExecutor(t, executor.Config{Workers: 1, Name: "a"}))
	require.Equal(t, 2, strings.Count(ok(t, server, "dump?executor=a"), `executor "a"`))
	h.Trace = func(context.Context, *executor.Executor, io.Writer) error { return nil }
	status, body := get(t, server, "trace?executor=a")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, body, "give executor=NAME, and each executor a name of its own")
}

// Pages are served flat out while the workers are busy.
func TestPagesWhileRunning(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, Name: "busy"})
	h := httpdebug.New(ex)
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			for _, page := range []string{"", "dump", "stats", "stats?format=json", "stacks"} {
				select {
				case <-over:
					return
				default:
					h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, httpdebug.Path+page, nil))
				}
			}
		}
	}()
	for range 500 {
		require.NoError(t, ex.Run(t.Context(), executor.NewJob("work", func(*executor.Scope) error { return nil })))
	}
	close(over)
	<-ended
}

func Example() {
	ex, err := executor.New(executor.Config{Workers: 2, Name: "thumbnails"})
	if err != nil {
		log.Fatal(err)
	}
	defer ex.Close()
	mux := http.NewServeMux() // served on an address that only operators reach
	mux.Handle(httpdebug.Path, httpdebug.New(ex))

	response := httptest.NewRecorder()
	mux.ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/debug/magpie/dump?executor=thumbnails", nil))
	first, _, _ := strings.Cut(response.Body.String(), ",")
	fmt.Println(first)
	// Output: executor "thumbnails": 2 workers
}
