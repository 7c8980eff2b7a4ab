//go:build !modelcheck

// Package xsync is the seam through which executor and graph reach locks, wait groups and new goroutines. They use
// these to start, to end and to report, not on any hot path.
//
// In a normal build its types are aliases of those in sync and cost nothing. Under the build tag modelcheck they are
// twins that tell package model before every step.
package xsync

import (
	"sync"
	"time"
)

// The types of sync.
type (
	Mutex     = sync.Mutex
	Once      = sync.Once
	WaitGroup = sync.WaitGroup
)

// Go starts f on a goroutine of its own.
func Go(f func()) { go f() }

// Close closes c, which threads may wait for in Await.
func Close(c chan struct{}) { close(c) }

// IsClosed reports whether c is closed. Nothing is ever sent on it.
func IsClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Await waits until one of the channels is closed. A nil channel never is.
func Await(a, b <-chan struct{}) {
	select {
	case <-a:
	case <-b:
	}
}

// AwaitFor waits until c is closed, but for d at most.
func AwaitFor(c <-chan struct{}, d time.Duration) {
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-c:
	case <-over.C:
	}
}
