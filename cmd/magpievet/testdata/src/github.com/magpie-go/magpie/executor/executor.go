// Package executor stands for the real one.
package executor

import "context"

type (
	Executor struct{}
	Config   struct{}
	Group    struct{}
	Scope    struct{}
	Job      interface{ Name() string }

	Forked[A, R any] struct{}
)

func New(Config) (*Executor, error)                                         { return nil, nil }
func NewInline(uint64) *Executor                                            { return nil }
func (*Executor) Run(context.Context, Job) error                            { return nil }
func NewGroup(*Executor) *Group                                             { return nil }
func (*Group) Go(func() error)                                              {}
func NewJob(string, func(*Scope) error) Job                                 { return nil }
func (*Scope) Go(func(context.Context) error)                               {}
func (*Scope) Spawn(func(*Scope) error)                                     {}
func (*Scope) Stopped() bool                                                { return false }
func Blocking(func())                                                       {}
func Fork[A, R any](s *Scope, fn func(*Scope, A) R, arg A) (f Forked[A, R]) { return f }
func (Forked[A, R]) Join(*Scope) (r R)                                      { return r }
