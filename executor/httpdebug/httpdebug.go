/*
Package httpdebug shows executors over HTTP, in the manner of package [net/http/pprof]: what their workers do, what
waits, counters, stacks of the workers, and a trace.

	http.Handle(httpdebug.Path, httpdebug.New(ex))

Then

	/debug/magpie/                                 lists the executors and the pages
	/debug/magpie/dump                             Executor.Dump
	/debug/magpie/stats                            the metrics of package metrics as a table
	/debug/magpie/stats?format=json                the same as JSON, by executor
	/debug/magpie/stacks                           the stack of each worker's goroutine
	/debug/magpie/trace?executor=NAME&seconds=5    what happens in the next seconds, at most 60, see Handler.Trace

Each page but the trace shows all executors, or one with ?executor=NAME. If several have one name, it shows them all.

Importing the package registers nothing: unlike net/http/pprof, it leaves [http.DefaultServeMux] alone, and a program
decides where the Handler is and which requests reach it.

# Security

The pages tell names of tasks, functions and files, and stacks and traces cost time of the process. They are for
operators: serve them on an address of their own that only operators reach, or behind authentication, and never to the
public. All pages only read. They answer GET and HEAD.
*/
package httpdebug

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/metrics"
	"github.com/magpie-go/magpie/internal/xsync"
)

// Path is where a [Handler] is usually registered.
const Path = "/debug/magpie/"

// A Handler serves the pages of some executors. It goes by the last element of a request's path, so it may be
// registered at any path that ends with a slash. All methods may be called from any goroutine.
//
// A Handler keeps its executors reachable. Executors that are closed are shown with their last values.
type Handler struct {
	// Trace writes a trace of ex to out until ctx ends, for the page trace. The error of ctx is no failure. If Trace
	// fails before it has written anything, the response has the error. It is called once at a time for each executor.
	// nil means that there is no such page. It is constant once the Handler serves.
	Trace func(ctx context.Context, ex *executor.Executor, out io.Writer) error

	mu        xsync.Mutex // guards what follows
	executors []*executor.Executor
	traced    map[*executor.Executor]bool // a trace is being taken
}

// New returns a Handler of these executors. It panics if one of them is nil.
func New(executors ...*executor.Executor) *Handler {
	h := new(Handler)
	h.Add(executors...)
	return h
}

// Add adds executors. It panics if one of them is nil.
func (h *Handler) Add(executors ...*executor.Executor) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, ex := range executors {
		if ex == nil {
			panic("httpdebug: a Handler needs executors, got nil")
		}
		h.executors = append(h.executors, ex)
	}
}

// Remove takes an executor out. It does nothing if the Handler does not have it.
func (h *Handler) Remove(ex *executor.Executor) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var rest []*executor.Executor
	for _, other := range h.executors {
		if other != ex {
			rest = append(rest, other)
		}
	}
	h.executors = rest
}

// A page is what a Handler serves under a name.
type page struct {
	about string
	serve func(h *Handler, w http.ResponseWriter, r *http.Request, executors []*executor.Executor)
}

// pages has each page by its name. "" is the index.
var pages map[string]page

func init() { // the index refers to pages
	pages = map[string]page{
		"":       {"", (*Handler).index},
		"dump":   {"state of every worker, lengths of the queues, runs in progress", (*Handler).dump},
		"stats":  {"counters and gauges", (*Handler).stats},
		"stacks": {"stack of each worker's goroutine; stops the process for a moment", (*Handler).stacks},
		"trace":  {"what happens in the next seconds", (*Handler).trace},
	}
}

// order is the order of the pages in the index.
var order = []string{"dump", "stats", "stacks", "trace"}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "httpdebug: the pages answer GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	p, ok := pages[name]
	if !ok || name == "trace" && h.Trace == nil {
		http.Error(w, fmt.Sprintf("httpdebug: no page %q: there are %s", name, strings.Join(h.names(), ", ")),
			http.StatusNotFound)
		return
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		http.Error(w, "httpdebug: bad query: "+err.Error(), http.StatusBadRequest)
		return
	}
	executors, err := h.chosen(query)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	p.serve(h, w, r, executors)
}

// names returns the names of the pages that there are.
func (h *Handler) names() []string {
	if h.Trace == nil {
		return order[:len(order)-1]
	}
	return order
}

// chosen returns the executors that a query asks for.
func (h *Handler) chosen(query url.Values) ([]*executor.Executor, error) {
	h.mu.Lock()
	all := append([]*executor.Executor(nil), h.executors...)
	h.mu.Unlock()
	if !query.Has("executor") {
		return all, nil
	}
	var found []*executor.Executor
	var names []string
	for _, ex := range all {
		names = append(names, strconv.Quote(ex.Name()))
		if ex.Name() == query.Get("executor") {
			found = append(found, ex)
		}
	}
	if found == nil {
		return nil, fmt.Errorf("httpdebug: no executor %q: there are %s", query.Get("executor"), strings.Join(names, ", "))
	}
	return found, nil
}

var indexPage = template.Must(template.New("index").Parse(`<!DOCTYPE html>
<html><head><title>Magpie executors</title><style>td, th { text-align: left; padding-right: 2em }</style></head><body>
<h1>Magpie executors</h1>
<table><tr><th>Page</th><th></th></tr>
{{range .Pages}}<tr><td><a href="{{.Name}}">{{.Name}}</a></td><td>{{.About}}</td></tr>
{{end}}</table>
<table><tr><th>Executor</th><th>Workers</th><th>Active</th><th>Queued</th><th>Runs</th><th>Futures</th><th></th></tr>
{{range .Executors}}<tr><td>{{.Name}}{{if .Closed}} (closed){{end}}</td><td>{{.Workers}}</td><td>{{.Active}}</td>` +
	`<td>{{.Queued}}</td><td>{{.Runs}}</td><td>{{.Futures}}</td><td>` +
	`{{range .Links}}<a href="{{.URL}}">{{.Page}}</a> {{end}}</td></tr>
{{end}}</table></body></html>
`))

// index serves the list of executors and pages.
func (h *Handler) index(w http.ResponseWriter, _ *http.Request, executors []*executor.Executor) {
	type link struct{ Page, URL string }
	type entry struct{ Name, About string }
	type line struct {
		Name                                   string
		Workers, Active, Queued, Runs, Futures int
		Closed                                 bool
		Links                                  []link
	}
	var data struct {
		Pages     []entry
		Executors []line
	}
	for _, name := range h.names() {
		if name != "trace" { // it is for one executor
			data.Pages = append(data.Pages, entry{name, pages[name].about})
		}
	}
	for _, ex := range executors {
		s := ex.Stats()
		l := line{ex.Name(), s.Gauges.Workers, s.Gauges.Active, s.Gauges.Pending(), s.Gauges.Runs, s.Gauges.Futures,
			s.Gauges.Closed, nil}
		for _, name := range h.names() {
			l.Links = append(l.Links, link{name, name + "?executor=" + url.QueryEscape(ex.Name())})
		}
		data.Executors = append(data.Executors, l)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = indexPage.Execute(w, data) // the client may have gone
}

func plain(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/plain; charset=utf-8") }

// dump serves the dumps.
func (h *Handler) dump(w http.ResponseWriter, _ *http.Request, executors []*executor.Executor) {
	plain(w)
	for i, ex := range executors {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if ex.Dump(w) != nil {
			return // the client has gone
		}
	}
}

// stacks serves the stacks.
func (h *Handler) stacks(w http.ResponseWriter, _ *http.Request, executors []*executor.Executor) {
	plain(w)
	for _, ex := range executors {
		for i, stack := range ex.Stacks() {
			if stack == "" {
				stack = "no goroutine\n"
			}
			fmt.Fprintf(w, "executor %q, worker %d: %s\n", ex.Name(), i, stack)
		}
	}
}

// stats serves the metrics.
func (h *Handler) stats(w http.ResponseWriter, r *http.Request, executors []*executor.Executor) {
	switch format := r.URL.Query().Get("format"); format {
	case "", "text":
		plain(w)
		table(w, executors)
	case "json":
		list := make([]json.RawMessage, len(executors))
		for i, ex := range executors {
			list[i] = json.RawMessage(metrics.NewVar(ex).String())
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(list) // the client may have gone
	default:
		http.Error(w, fmt.Sprintf("httpdebug: no format %q: use text or json", format), http.StatusBadRequest)
	}
}

// table writes the metrics of each executor, with a column for each worker.
func table(w io.Writer, executors []*executor.Executor) {
	all := metrics.All()
	samples := make([]metrics.Sample, len(all))
	for i, d := range all {
		samples[i].Name = d.Name
	}
	for i, ex := range executors {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "executor %q\n", ex.Name())
		metrics.Read(ex, samples)
		columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, s := range samples {
			if s.Value.Kind() == metrics.KindBad {
				continue
			}
			fmt.Fprintf(columns, "%s\t%v", s.Name, s.Value.Float())
			for id, v := range s.Workers {
				sep := ", "
				if id == 0 {
					sep = "\tworkers: "
				}
				fmt.Fprintf(columns, "%s%v", sep, v.Float())
			}
			fmt.Fprintln(columns)
		}
		_ = columns.Flush() // the client may have gone
	}
}

// The default and the bound of a trace's duration. While one is taken, others of the same executor are refused, so that
// nobody is to take one for long. A longer one is for a program, see observe.NewTrace. The rest of a trace is written
// within sendTime after its end, which is arbitrary: a client that does not read is waited for until then.
const (
	defaultSeconds = 1
	maxSeconds     = 60
	sendTime       = 10 * time.Second
)

// trace serves a trace of one executor.
func (h *Handler) trace(w http.ResponseWriter, r *http.Request, executors []*executor.Executor) {
	bad := func(format string, args ...any) {
		http.Error(w, "httpdebug: "+fmt.Sprintf(format, args...), http.StatusBadRequest)
	}
	query := r.URL.Query()
	seconds := float64(defaultSeconds)
	if text := query.Get("seconds"); text != "" {
		var err error
		if seconds, err = strconv.ParseFloat(text, 64); err != nil || !(seconds > 0 && seconds <= maxSeconds) {
			bad("seconds is %q: give a number above 0 and at most %d", text, maxSeconds)
			return
		}
	}
	if len(executors) != 1 {
		bad("a trace is of one executor, and %d are meant: give executor=NAME, and each executor a name of its own",
			len(executors))
		return
	}
	lasts := time.Duration(seconds * float64(time.Second))
	limit := time.Duration(math.MaxInt64)
	if s, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok && s.WriteTimeout > 0 {
		limit = s.WriteTimeout
	}
	if lasts >= limit {
		bad("seconds is %v, and the server ends each response after %v", seconds, limit)
		return
	}
	if r.Method == http.MethodHead {
		return
	}
	if !h.beginTrace(executors[0]) {
		http.Error(w, fmt.Sprintf("httpdebug: somebody else is taking a trace of this executor: "+
			"try again, as a rule in %v at the latest", maxSeconds*time.Second+sendTime), http.StatusConflict)
		return
	}
	defer h.endTrace(executors[0])
	if lasts+sendTime < limit { // it takes the place of the server's deadline
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(lasts + sendTime)) // not all writers have one
	}
	ctx, cancel := context.WithTimeout(r.Context(), lasts)
	defer cancel()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="trace.json"`)
	out := &counted{Writer: w}
	err := h.Trace(ctx, executors[0], out)
	switch {
	case err == nil || ctx.Err() != nil && errors.Is(err, ctx.Err()):
	case out.n == 0:
		w.Header().Del("Content-Disposition")
		http.Error(w, "httpdebug: no trace: "+err.Error(), http.StatusInternalServerError)
	default:
		panic(http.ErrAbortHandler) // the client sees that the trace is cut off
	}
}

// beginTrace reports whether the caller may take a trace of ex. It then calls endTrace afterwards.
func (h *Handler) beginTrace(ex *executor.Executor) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.traced[ex] {
		return false
	}
	if h.traced == nil {
		h.traced = make(map[*executor.Executor]bool)
	}
	h.traced[ex] = true
	return true
}

func (h *Handler) endTrace(ex *executor.Executor) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.traced, ex)
}

// counted counts the bytes written.
type counted struct {
	io.Writer
	n int
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += n
	return n, err
}
