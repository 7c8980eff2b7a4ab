package metrics

import (
	"encoding/json"
	"weak"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A Var shows all metrics of an executor in package [expvar]. It implements [expvar.Var]:
//
//	expvar.Publish("magpie", metrics.NewVar(ex))
//
// Package metrics does not import expvar, which registers an HTTP handler when it is imported.
//
// A Var does not keep its executor open: the garbage collector may close an executor that nothing else refers to. All
// methods may be called from any goroutine.
type Var struct {
	mu xsync.Mutex
	ex weak.Pointer[executor.Executor]
}

// NewVar returns a Var of ex. A nil ex is as good as one that is gone.
func NewVar(ex *executor.Executor) *Var { return &Var{ex: weak.Make(ex)} }

// Set makes v show ex from now on. A name of expvar cannot be published again or withdrawn, so a program that closes an
// executor and makes another sets the Var.
func (v *Var) Set(ex *executor.Executor) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ex = weak.Make(ex)
}

// String returns the metrics as a JSON object: the executor's name, whether it is closed, and the value of each metric
// by its name. It is null if the executor is gone.
func (v *Var) String() string {
	v.mu.Lock()
	ex := v.ex.Value()
	v.mu.Unlock()
	if ex == nil {
		return "null"
	}
	s := ex.Stats()
	object := map[string]any{"name": ex.Name(), "closed": s.Gauges.Closed}
	for i := range table {
		var sample Sample
		table[i].read(&s, &sample)
		switch sample.Value.kind {
		case KindUint64:
			object[table[i].Name] = sample.Value.whole
		case KindFloat64:
			object[table[i].Name] = sample.Value.real
		}
	}
	text, err := json.Marshal(object)
	if err != nil {
		panic(err) // an infinite efficiency, which no executor has
	}
	return string(text)
}
