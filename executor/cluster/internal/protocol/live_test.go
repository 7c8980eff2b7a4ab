package protocol

import (
	"iter"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// A coroutine is a program that goes on from call to call.
type coroutine struct {
	last   result // of the call before
	yield  func(op) bool
	resume func() (op, bool)
	stop   func() // the program does not come to its next call
}

// walking is newTexts for a walk.
func walking(s *scenario) *texts {
	t := newTexts(s)
	t.walks = true
	return t
}

func newCoroutine(t *texts, call func(*env) (wire.State, error)) *coroutine {
	c := new(coroutine)
	c.resume, c.stop = iter.Pull(func(yield func(op) bool) {
		defer func() {
			if p := recover(); p != nil {
				if _, stopped := p.(paused); !stopped {
					panic(p)
				}
			}
		}()
		c.yield = yield
		state, err := call(&env{texts: t, live: c})
		yield(op{kind: opReturns, err: err, state: state})
	})
	return c
}

// do makes a call of the program, which goOn returns. The result is that of the next goOn.
func (c *coroutine) do(o op) result {
	if !c.yield(o) {
		panic(paused{o})
	}
	return c.last
}

func (c *coroutine) goOn(r result) op {
	c.last = r
	o, _ := c.resume()
	return o
}
