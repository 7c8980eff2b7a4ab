package cluster

import (
	"context"
	"strconv"
)

// An Info says which call a function runs for.
type Info struct {
	Run      string // the ID of the run
	Graph    string // the name of the graph
	Call     string // as errors name it: resize#3, or its name and the function's
	Function string

	// Key is the same for every attempt of the call, on any machine, and other for every other call and run. A function
	// whose effects must not happen twice hands it to the system that has the effects.
	Key string
}

// InfoFrom returns what call the function runs that was given ctx. ok is false outside of such functions.
func InfoFrom(ctx context.Context) (info Info, ok bool) {
	c, ok := ctx.Value(contextKey{}).(*step)
	if !ok {
		return Info{}, false
	}
	e := c.in
	return Info{
		Run:      e.run,
		Graph:    e.graph.name,
		Call:     e.graph.label(c.index),
		Function: e.graph.prototypes[e.graph.calls[c.index].function].name,
		Key:      c.key(),
	}, true
}

// Key returns [Info].Key of the call that the function runs for, or "" outside of such functions.
func Key(ctx context.Context) string {
	info, _ := InfoFrom(ctx)
	return info.Key
}

type contextKey struct{}

// A callContext is the context of a call.
type callContext struct {
	context.Context
	step *step
}

func (c callContext) Value(key any) any {
	if key == (contextKey{}) {
		return c.step
	}
	return c.Context.Value(key)
}

// key returns the key of the call: that of the run, or of the call around, and the index.
func (s *step) key() string { return s.in.keys + "/" + strconv.Itoa(int(s.index)) }
