package scopes

import (
	"context"

	"github.com/magpie-go/magpie/executor"
)

func uses(s *executor.Scope, g *executor.Group) {
	s.Go(func(context.Context) error {
		s.Spawn(func(*executor.Scope) error { return nil }) // want `Scope s belongs to the function around this one`
		return nil
	})
	s.Spawn(func(own *executor.Scope) error {
		own.Go(func(context.Context) error { return nil })
		_ = s.Stopped() // want `Scope s belongs`
		return nil
	})
	s.Spawn(func(s *executor.Scope) error { // its own, of the same name
		_ = s.Stopped()
		executor.Blocking(func() { _ = s.Stopped() }) // the same goroutine
		func() { _ = s.Stopped() }()
		return nil
	})
	var kept *executor.Scope
	s.Spawn(func(own *executor.Scope) error {
		kept = own
		return nil
	})
	_ = kept
	f := executor.Fork(s, func(_ *executor.Scope, n int) bool { return s.Stopped() }, 1) // want `Scope s belongs`
	f.Join(s)
	g.Go(func() error { _ = s; return nil }) // want `Scope s belongs`
	go func(*executor.Scope) {}(s)           // want `a Scope is given to another goroutine`
	go func() { _ = s.Stopped() }()          // want `Scope s belongs`
	_ = executor.NewJob("job", func(own *executor.Scope) error {
		_ = own
		return nil
	})
}
