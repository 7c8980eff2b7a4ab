package cluster

import (
	"errors"
	"fmt"
)

var (
	// ErrAbsent is the error of the result of a call that did not run, because of a [Choose].
	ErrAbsent = errors.New("cluster: the call did not run: a choice left it out")
	// ErrNotKept is the error of the result of a call that other calls take, unless it has [Call.Keep].
	ErrNotKept = errors.New("cluster: the result was not kept: other calls take it, and Keep was not called")
	// ErrNoWorker is the error of [Client.Submit] and [Client.Run] for a graph that has a partition whose functions no
	// worker of the queue has. If there are workers, it is a [*MissingError] too for each function that none has. With
	// [ClientConfig.Patient] it comes when the context ends.
	ErrNoWorker = errors.New("cluster: no worker has the functions")
)

// A noWorkerError is an [ErrNoWorker] that says which functions.
type noWorkerError struct{ error }

func (e *noWorkerError) Unwrap() error { return e.error }

// Is reports whether the error is target.
func (e *noWorkerError) Is(target error) bool { return target == ErrNoWorker }

// A MissingError says that a registry lacks a function that a graph calls.
type MissingError struct {
	Function string
	Want     Signature // of the graph
	Have     Signature // of the registry; "" if it has no function of that name
}

func (e *MissingError) Error() string {
	if e.Have == "" {
		return fmt.Sprintf("cluster: function %q, with signature %s, is not registered", e.Function, e.Want)
	}
	return fmt.Sprintf("cluster: function %q is registered with signature %s, and the graph calls one with %s: "+
		"their types or codecs differ", e.Function, e.Have, e.Want)
}
