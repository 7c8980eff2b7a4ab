package metrics

import (
	"encoding/json"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/observe"
	"github.com/magpie-go/magpie/internal/xsync"
)

// LatencyOptions are the choices of [NewLatencies].
type LatencyOptions struct {
	_ [0]func() // no comparisons, so that a field of any type may be added

	// Tasks measures each task too, calls of [executor.Async] among them.
	Tasks bool
	// Asyncs measures each call of [executor.Async] whose function is called, also without Tasks.
	Asyncs bool
}

// Latencies are the numbers of runs by how they have ended, and how long they took and waited, for package [expvar].
// [NewLatencies] makes them. They implement [expvar.Var]:
//
//	l := metrics.NewLatencies(metrics.LatencyOptions{})
//	ex, err := executor.New(executor.Config{Observers: []*executor.Observer{l.Observer()}})
//	if err != nil { … }
//	expvar.Publish("magpie_latencies", l)
//
// The modules executor/metrics/prom and executor/metrics/otel have the same, by names of tasks too. All methods may be
// called from any goroutine.
type Latencies struct {
	choice observe.MeasureOptions

	mu     xsync.Mutex // guards what follows
	values latencies
}

// latencies are the values of a [Latencies], as JSON has them.
type latencies struct {
	Bounds []float64             `json:"bounds"`
	Runs   map[string]*histogram `json:"runs"`
	Wait   *histogram            `json:"wait"`
	Tasks  map[string]*histogram `json:"tasks,omitempty"`
	Asyncs map[string]*histogram `json:"asyncs,omitempty"`
}

// A histogram counts durations. Counts[i] has those of at most Bounds[i], and more than the bound before.
type histogram struct {
	Count   uint64                  `json:"count"`
	Seconds float64                 `json:"seconds"`
	Counts  [len(bounds) + 1]uint64 `json:"counts"`
}

// bounds are those of the buckets, each four times the one before.
var bounds = func() (all [13]time.Duration) {
	b := 10 * time.Microsecond
	for i := range all {
		all[i] = b
		b *= 4
	}
	return all
}()

func (h *histogram) add(d time.Duration) {
	h.Count++
	h.Seconds += d.Seconds()
	i := 0
	for i < len(bounds) && d > bounds[i] {
		i++
	}
	h.Counts[i]++
}

// NewLatencies returns a Latencies without values.
func NewLatencies(o LatencyOptions) *Latencies {
	l := &Latencies{choice: observe.MeasureOptions{Tasks: o.Tasks, Asyncs: o.Asyncs}}
	l.values.Runs, l.values.Wait = byOutcome(observe.Cancelled), &histogram{}
	for _, b := range bounds {
		l.values.Bounds = append(l.values.Bounds, b.Seconds())
	}
	if o.Tasks {
		l.values.Tasks = byOutcome(observe.Skipped)
	}
	if o.Asyncs {
		l.values.Asyncs = byOutcome(observe.Cancelled)
	}
	return l
}

// byOutcome returns a histogram for each outcome up to last.
func byOutcome(last observe.Outcome) map[string]*histogram {
	all := map[string]*histogram{}
	for outcome := observe.OK; outcome <= last; outcome++ {
		all[outcome.String()] = &histogram{}
	}
	return all
}

// Observer returns an observer that adds what happens to l, for the Config of one executor at a time. An executor that
// takes the place of one that is closed may have another observer of the same l. It costs what that of
// [observe.Measures] does.
func (l *Latencies) Observer() *executor.Observer {
	return observe.Measures(l.choice, l.record)
}

func (l *Latencies) record(m observe.Measure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	outcome := m.Outcome.String()
	if m.Task == nil {
		l.values.Runs[outcome].add(m.Took)
		l.values.Wait.add(m.Wait)
		return
	}
	if l.choice.Tasks {
		l.values.Tasks[outcome].add(m.Took)
	}
	if l.choice.Asyncs && m.Run == nil {
		l.values.Asyncs[outcome].add(m.Took)
	}
}

// String returns a JSON object. It has histograms in "runs" by outcome, which is ok, failed, panicked or cancelled, one
// in "wait" of the time from the begin of a run to that of its first task, without the wait for room under
// [executor.Config].MaxRuns, with Tasks some in "tasks", also with the outcome skipped, and with Asyncs some in
// "asyncs". A histogram has the number of values as "count", their sum in "seconds", and in "counts" how many there are
// of at most each of "bounds", in seconds, and more than the bound before, and last how many are above all.
func (l *Latencies) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, err := json.Marshal(l.values)
	if err != nil {
		panic(err) // numbers that are not finite, which no duration is
	}
	return string(text)
}
