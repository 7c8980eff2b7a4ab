package jet

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// watch calls f with the entries of a watcher, until stop is called or the connection is closed. open opens the watcher,
// and again each time the connection is there again after it was lost, or the records are gone. It is told of the place
// behind all records.
func (q *Queue) watch(caller context.Context, open func(place) (jetstream.KeyWatcher, error),
	f func(jetstream.KeyValueEntry)) (stop func(), err error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(caller))
	lost, forget := q.reconnects.until(ctx)
	opened := func(ctx context.Context) (jetstream.KeyWatcher, place, error) {
		at, err := q.end(ctx) // before there is a watcher, so that it does not miss that the records are gone
		if err != nil {
			return nil, at, err
		}
		w, err := open(at)
		return w, at, err
	}
	w, at, err := opened(caller)
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
				q.each(lost, w, at, f)
			}
			forget()
			if ctx.Err() != nil || q.nc.IsClosed() {
				return
			}
			lost, forget = q.reconnects.until(ctx)
			var failed error
			if w, at, failed = opened(ctx); failed == nil {
				continue
			}
			w = nil // the server is not ready, or the connection is lost again
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	}()
	return func() { cancel(); <-ended }, nil
}

// each calls f with the entries of a watcher that was opened at a place, until ctx ends, the connection is closed, or
// the records are gone. Of the last the client library tells nothing: it makes a consumer that waits for the next
// revision.
func (q *Queue) each(ctx context.Context, w jetstream.KeyWatcher, at place, f func(jetstream.KeyValueEntry)) {
	// Stop fails if the connection is closed, and then it has stopped too.
	defer context.AfterFunc(ctx, func() { _ = w.Stop() })()
	look := time.NewTicker(q.c.Look)
	defer look.Stop()
	for {
		select {
		case e, open := <-w.Updates():
			if !open {
				return
			}
			if e != nil {
				at.seen = max(at.seen, e.Revision())
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
