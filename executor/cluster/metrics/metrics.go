/*
Package metrics shows what workers and clients of package cluster count: to Prometheus in its text format, in package
expvar, and as values for other libraries. It depends on none of these libraries.

	http.Handle("/metrics", metrics.Handler(metrics.Worker(w), metrics.Client("albums", c)))
	expvar.Publish("magpie-worker", metrics.NewVar(metrics.Worker(w)))

These metrics exist. New ones may be added, and the meaning of a name does not change.

	magpie_worker_slots                           that a worker has
	magpie_worker_slots_busy                      of these, with a message
	magpie_worker_partitions_running              whose calls run
	magpie_worker_messages_total                  handled
	magpie_worker_messages_redelivered_total      that were delivered before
	magpie_worker_messages_buried_total           given up: they are dead letters
	magpie_worker_leases_lost_total               that have ended before their message was handled
	magpie_worker_partitions_started_total
	magpie_worker_partitions_done_total
	magpie_worker_partitions_failed_total         of which a call has failed
	magpie_worker_partitions_stopped_total        given up: the run or the worker ends, or something is missing
	magpie_worker_partitions_twice_total          done, and another worker was faster
	magpie_worker_partition_run_seconds           histogram
	magpie_worker_message_wait_seconds            histogram, from publication to the first delivery
	magpie_worker_write_seconds                   histogram, of a write to the server and back

	magpie_client_graphs_local_total              that Client.Run has run in its process
	magpie_client_graphs_submitted_total
	magpie_client_graphs_refused_total
	magpie_client_runs_done_total                 as Handle.Wait has seen
	magpie_client_runs_failed_total               as Handle.Wait has seen
	magpie_client_submit_seconds                  histogram
	magpie_client_run_seconds                     histogram, from the end of Submit to that of the run

Those of a worker have the label worker, and those of a client the label client. [cluster.WorkerStats] and
[cluster.ClientStats] say what they mean.
*/
package metrics

import (
	"fmt"
	"strings"

	"github.com/magpie-go/magpie/executor/cluster"
)

// A Metric is a metric and its value.
type Metric struct {
	Name        string // as the list of the package has it
	Description string
	Kind        Kind
	Value       uint64             // of a [Counter] or [Gauge]
	Histogram   *cluster.Histogram // of a [Histogram]
}

// Kind is the kind of a [Metric].
type Kind uint8

// The kinds of metrics.
const (
	Counter   Kind = iota // it never decreases
	Gauge                 // it goes up and down
	Histogram             // of durations, in seconds
)

// String returns the kind as Prometheus names it.
func (k Kind) String() string {
	if k > Histogram {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return [...]string{"counter", "gauge", "histogram"}[k]
}

// A Source is a worker or a client that has metrics. Any thread may read it.
type Source struct {
	label, name string
	read        func() []Metric
}

// Worker returns the source of a worker.
func Worker(w *cluster.Worker) Source {
	return Source{"worker", w.Name(), func() []Metric { s := w.Stats(); return ofWorker(&s) }}
}

// Client returns the source of a client, under a name that no other client of the program has.
func Client(name string, c *cluster.Client) Source {
	return Source{"client", name, func() []Metric { s := c.Stats(); return ofClient(&s) }}
}

// Label returns the label of all metrics of the source, and its value.
func (s Source) Label() (label, value string) { return s.label, s.name }

// Read returns the metrics, always the same ones in the same order.
func (s Source) Read() []Metric { return s.read() }

func ofWorker(s *cluster.WorkerStats) []Metric {
	return []Metric{
		gauge("magpie_worker_slots", "Partitions that may be under way at the same time.", s.Slots),
		gauge("magpie_worker_slots_busy", "Slots that have a message.", s.Busy),
		gauge("magpie_worker_partitions_running", "Partitions whose calls run.", s.Running),
		counter("magpie_worker_messages_total", "Messages handled.", s.Messages),
		counter("magpie_worker_messages_redelivered_total", "Messages that were delivered before.", s.Redelivered),
		counter("magpie_worker_messages_buried_total", "Messages that were given up.", s.Buried),
		counter("magpie_worker_leases_lost_total", "Leases that have ended before their message was handled.",
			s.LostLeases),
		counter("magpie_worker_partitions_started_total", "Partitions whose calls were begun.", s.Started),
		counter("magpie_worker_partitions_done_total", "Partitions whose calls have ended without an error.", s.Done),
		counter("magpie_worker_partitions_failed_total", "Partitions of which a call has failed.", s.Failed),
		counter("magpie_worker_partitions_stopped_total", "Partitions that were given up by this worker.", s.Stopped),
		counter("magpie_worker_partitions_twice_total", "Partitions that another worker had done before.", s.Twice),
		histogram("magpie_worker_partition_run_seconds", "Time of the calls of a partition.", &s.Run),
		histogram("magpie_worker_message_wait_seconds", "Time from the publication of a message to its first delivery.",
			&s.Wait),
		histogram("magpie_worker_write_seconds", "Time of a write to the server and back.", &s.Write),
	}
}

func ofClient(s *cluster.ClientStats) []Metric {
	return []Metric{
		counter("magpie_client_graphs_local_total", "Graphs that were run in this process.", s.Local),
		counter("magpie_client_graphs_submitted_total", "Graphs that the queue has.", s.Submitted),
		counter("magpie_client_graphs_refused_total", "Graphs whose submission has failed.", s.Refused),
		counter("magpie_client_runs_done_total", "Runs that have ended with results.", s.Done),
		counter("magpie_client_runs_failed_total", "Runs that have ended without results.", s.Failed),
		histogram("magpie_client_submit_seconds", "Time of a submission.", &s.Submit),
		histogram("magpie_client_run_seconds", "Time from the submission of a graph to the end of its run.", &s.Run),
	}
}

func gauge(name, about string, n int) Metric {
	return Metric{Name: name, Description: about, Kind: Gauge, Value: uint64(max(n, 0))}
}

func counter(name, about string, n uint64) Metric {
	return Metric{Name: name, Description: about, Kind: Counter, Value: n}
}

func histogram(name, about string, h *cluster.Histogram) Metric {
	return Metric{Name: name, Description: about, Kind: Histogram, Histogram: h}
}

// quoted returns the value of a label as the text format has it.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
