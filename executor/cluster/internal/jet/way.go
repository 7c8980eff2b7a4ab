package jet

import (
	"context"
	"time"
)

// wayKey is the key of what Way writes.
const wayKey = "p.way"

// Way measures the way of a message to the server and back: the shortest of a few writes. The server removes what they
// have written after a second.
func (q *Queue) Way(ctx context.Context) (time.Duration, error) {
	const writes = 3 // the first may have to wake something up
	least := time.Duration(0)
	for i := range writes {
		begin := time.Now()
		if err := q.Note(ctx, wayKey, nil, time.Second); err != nil {
			return 0, err
		}
		if d := time.Since(begin); i == 0 || d < least {
			least = d
		}
	}
	return least, nil
}
