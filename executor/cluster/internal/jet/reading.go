package jet

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"
)

// A Reading reads the records whose keys match one of some patterns again and again: each time those that were written
// since. One call at a time.
type Reading struct {
	q        *Queue
	patterns []string
	at       place
}

// NewReading returns a Reading that has read nothing.
func (q *Queue) NewReading(patterns ...string) *Reading { return &Reading{q: q, patterns: patterns} }

// Next calls f with the records that were written since the last call, and with some of them again after an error. A
// record that was removed by hand has no value; of those that the server removes with age nothing is told. At the first
// call, and if the server has lost records, it calls begin, and then f with all there are.
func (r *Reading) Next(ctx context.Context, begin func(), f func(key string, n Note)) error {
	now, err := r.q.end(ctx)
	if err != nil {
		return r.q.explain("read records", err)
	}
	if r.at.made.IsZero() || r.at.isGone(now) {
		r.at = place{made: now.made}
		begin()
	}
	// Not now.seen: a server that is behind may not have had all until then.
	return r.q.read(ctx, func(e jetstream.KeyValueEntry) {
		r.at.seen = e.Revision()
		f(e.Key(), noteOf(e))
	}, r.patterns, jetstream.ResumeFromRevision(r.at.seen+1))
}
