package jet

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A place is how far the records were read. The zero place is that of a reader that has not begun.
type place struct {
	made time.Time // when their stream was made
	seen uint64    // the last revision that was there
}

// isGone reports whether the server has no longer what was read: it has made the stream anew, or has lost the last
// messages of it. A reader that waited for the next revision would wait until the stream has grown to it.
func (p place) isGone(now place) bool {
	return !p.made.IsZero() && !p.made.Equal(now.made) || now.seen < p.seen
}

// errGone is what a watch reports when it begins again because of isGone.
var errGone = errors.New("the server has lost records: reading begins again")

// end returns the place behind all records.
func (q *Queue) end(ctx context.Context) (place, error) {
	s, err := asked(ctx, func(ctx context.Context) (jetstream.Stream, error) { return q.js.Stream(ctx, q.recordStream()) })
	if err != nil {
		return place{}, err
	}
	info := s.CachedInfo()
	return place{info.Created, info.State.LastSeq}, nil
}
