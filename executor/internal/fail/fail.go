// Package fail lets package parallel fail a run from any function that has a scope of it. It is not part of the public
// API of a Scope: there a function fails by what it returns.
//
// Package executor sets the function when the program starts.
package fail

// First makes err the failure of the run of scope, an *executor.Scope that the caller may use, and stops the run. It
// does nothing if the run has a failure already, or if err only says why the run was stopped.
var First func(scope any, err error)
