/*
Package metrics reads the metrics of an executor in the manner of package [runtime/metrics]: each has a name, a
description and a kind, and several are read from one snapshot.

	samples := []metrics.Sample{{Name: "/magpie/tasks:tasks"}, {Name: "/magpie/queue/injected:items"}}
	metrics.Read(ex, samples)
	fmt.Println(samples[0].Value.Uint64(), samples[1].Value.Uint64())

A name has a path and, after a colon, a unit. These metrics exist; [All] has their descriptions. New ones may be added,
and the meaning of a name does not change.

	/magpie/futures:futures
	/magpie/intake/inside:runs               with Config.MaxRuns
	/magpie/intake/maximum:runs              with Config.MaxRuns
	/magpie/intake/refused:calls             counter, with Config.MaxRuns
	/magpie/intake/waited:calls              counter, with Config.MaxRuns
	/magpie/intake/waiting:calls             with Config.MaxRuns
	/magpie/parks:events                     counter, per worker
	/magpie/pops:items                       counter, per worker
	/magpie/queue/deques:items               per worker
	/magpie/queue/injected:items
	/magpie/quota/limit:cpus                 with host.QuotaShare
	/magpie/quota/throttled:periods          counter, with host.QuotaShare
	/magpie/quota/workers:cpus               with host.QuotaShare
	/magpie/runs:runs
	/magpie/share/allotment:processors       with host.Share
	/magpie/share/desire:processors          with host.Share
	/magpie/share/efficiency:ratio           with host.Share
	/magpie/share/rests:events               counter, with host.Share
	/magpie/spares/serving:workers
	/magpie/spares/standby:workers
	/magpie/steals/lost:steals               counter, per worker
	/magpie/steals/tried:steals              counter, per worker
	/magpie/steals/won:steals                counter, per worker
	/magpie/tasks/silent:events              counter
	/magpie/tasks/skipped:tasks              counter, per worker
	/magpie/tasks:tasks                      counter, per worker
	/magpie/wakeups:events                   counter, per worker
	/magpie/workers/active:workers
	/magpie/workers/blocked:workers
	/magpie/workers/configured:workers
	/magpie/workers/parked:workers
	/magpie/workers/resting:workers
	/magpie/workers/searching:workers
	/magpie/workers/silent:workers
	/magpie/workers/waiting:workers

The metrics with host.QuotaShare are there under a CPU quota, and those with host.Share while the executor has a
place in the table, the counter also after that. The values come from [executor.Executor.Stats], whose documentation
says by how much they may lag. Reading them disturbs no worker.

A [Var] shows all metrics of an executor under a name of package [expvar]. [Latencies] are for expvar too: how many runs
succeed, fail, panic and are cancelled, and how long they take and wait. The modules
github.com/magpie-go/magpie/executor/metrics/prom and github.com/magpie-go/magpie/executor/metrics/otel hand the same
to Prometheus and to OpenTelemetry. They are modules of their own, so that other programs do not depend on those
libraries: a program requires one of them beside Magpie, at the same version.
*/
package metrics

import (
	"strings"

	"github.com/magpie-go/magpie/executor"
)

// A Description describes a metric.
type Description struct {
	// Name is the metric's name, a path and a unit, as in "/magpie/steals/won:steals".
	Name string
	// Description is a sentence about the metric.
	Description string
	// Kind is the kind of its values.
	Kind ValueKind
	// Cumulative says that the metric is a counter: it never decreases. Other metrics are gauges.
	Cumulative bool
	// PerWorker says that each worker has a value of its own. The metric's value is their sum.
	PerWorker bool
}

// Unit returns the unit, which the name ends with.
func (d Description) Unit() string {
	_, unit, _ := strings.Cut(d.Name, ":")
	return unit
}

// Identifier returns the name for systems that allow letters, digits and sep only: the path with sep for each slash,
// then the unit if it is not a count of something. With "_" for example "magpie_steals_won".
func (d Description) Identifier(sep string) string {
	path, unit, _ := strings.Cut(strings.TrimPrefix(d.Name, "/"), ":")
	id := strings.ReplaceAll(path, "/", sep)
	if unit == "ratio" {
		id += sep + unit
	}
	return id
}

// All returns the descriptions of all metrics, ordered by name.
func All() []Description {
	all := make([]Description, len(table))
	for i := range table {
		all[i] = table[i].Description
	}
	return all
}

// A Sample is a metric to read, and its value.
type Sample struct {
	// Name is the name of the metric to read. It is set before a call of [Read].
	Name string
	// Value is the value that Read has found. Its kind is [KindBad] if there is no metric of that name, or if the
	// executor does not have it.
	Value Value
	// Workers has the value of each worker, by worker index, if the metric is per worker. Spare workers follow the others,
	// as many as were needed so far. Read uses the memory of the slice again.
	Workers []Value
}

// Read reads samples of an executor, all from one snapshot. It does not block on the executor's work. It may be called
// from any goroutine, from tasks and after Close too, but not at the same time for the same samples.
func Read(ex *executor.Executor, samples []Sample) {
	s := ex.Stats()
	for i := range samples {
		sample := &samples[i]
		if r := rows[sample.Name]; r != nil {
			r.read(&s, sample)
		} else {
			sample.Value, sample.Workers = Value{}, sample.Workers[:0]
		}
	}
}

// ValueKind is the kind of a [Value].
type ValueKind uint8

// The kinds of values.
const (
	KindBad     ValueKind = iota // no value
	KindUint64                   // see [Value.Uint64]
	KindFloat64                  // see [Value.Float64]
)

// String returns "uint64", "float64" or, for all other values, "bad".
func (k ValueKind) String() string {
	switch k {
	case KindUint64:
		return "uint64"
	case KindFloat64:
		return "float64"
	}
	return "bad"
}

// A Value is the value of a metric. The zero value is none.
type Value struct {
	kind  ValueKind
	whole uint64
	real  float64
}

// Kind returns the kind of the value.
func (v Value) Kind() ValueKind { return v.kind }

// Uint64 returns the value. It panics if the kind is not [KindUint64].
func (v Value) Uint64() uint64 {
	if v.kind != KindUint64 {
		panic("metrics: Uint64 of a value of kind " + v.kind.String())
	}
	return v.whole
}

// Float64 returns the value. It panics if the kind is not [KindFloat64].
func (v Value) Float64() float64 {
	if v.kind != KindFloat64 {
		panic("metrics: Float64 of a value of kind " + v.kind.String())
	}
	return v.real
}

// Float returns the value of either kind as a floating-point number, and 0 if there is none.
func (v Value) Float() float64 {
	if v.kind == KindFloat64 {
		return v.real
	}
	return float64(v.whole)
}
