package jet

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// watch calls f with the entries of a watcher, until stop is called or the connection is closed. open opens the watcher,
// and again each time the connection is there again after it was lost, or the records are gone. Its context is that of
// the caller, and later one that ends with stop. It is for what open asks, and not for the watcher.
func (q *Queue) watch(caller context.Context, open func(context.Context) (jetstream.KeyWatcher, error),
	f func(jetstream.KeyValueEntry)) (stop func(), err error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(caller))
	lost, forget := q.reconnects.until(ctx)
	w, err := open(caller)
	if err != nil {
		forget()
		cancel()
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if w != nil {
				q.each(lost, w, f)
			}
			forget()
			if ctx.Err() != nil || q.nc.IsClosed() {
				return
			}
			lost, forget = q.reconnects.until(ctx)
			w = again(ctx, open)
		}
	}()
	return func() { cancel(); <-ended }, nil
}

// again opens a watcher again. It returns nil, some time later, if the server is not ready, or the connection is lost
// again.
func again(ctx context.Context, open func(context.Context) (jetstream.KeyWatcher, error)) jetstream.KeyWatcher {
	w, err := open(ctx)
	if err == nil {
		return w
	}
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
	return nil
}

// each calls f with the entries of a watcher until ctx ends, the connection is closed, or the records are gone. Of the
// last the client library tells nothing: it makes a consumer that waits for the next revision.
func (q *Queue) each(ctx context.Context, w jetstream.KeyWatcher, f func(jetstream.KeyValueEntry)) {
	// Stop fails if the connection is closed, and then it has stopped too.
	defer context.AfterFunc(ctx, func() { _ = w.Stop() })()
	look := time.NewTicker(q.c.Look)
	defer look.Stop()
	var at place
	for {
		select {
		case e, open := <-w.Updates():
			if !open {
				return
			}
			if e != nil {
				at.seen = e.Revision()
			}
			f(e)
		case <-look.C:
			now, err := q.end(ctx)
			if err != nil {
				continue
			}
			if at.isGone(now) {
				_ = w.Stop()
			}
			at = now
		}
	}
}
