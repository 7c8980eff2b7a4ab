package jet

import (
	"context"
	"sync"

	"github.com/nats-io/nats.go"
)

// A reconnects tells that a connection is there again after it was lost. A server that was started again has forgotten
// the requests that wait at it, and who watches what. Without being told, a client finds that out after many seconds of
// silence. It also tells that the connection is closed, and will not be there again. Any thread.
type reconnects struct {
	nc     *nats.Conn
	status chan nats.Status

	closed context.Context // ends with the connection

	mu   sync.Mutex
	next context.Context // ends with the next reconnection
	end  context.CancelFunc
}

// newReconnects calls again after each reconnection too.
func newReconnects(nc *nats.Conn, again func()) *reconnects {
	r := &reconnects{nc: nc, status: nc.StatusChanged(nats.CONNECTED, nats.CLOSED)}
	r.next, r.end = context.WithCancel(context.Background())
	closed, end := context.WithCancel(context.Background())
	r.closed = closed
	go func() {
		for !nc.IsClosed() { // r.status does not tell what was before it
			now, open := <-r.status
			if !open {
				return
			}
			if now != nats.CONNECTED {
				continue
			}
			again()
			r.mu.Lock()
			r.end()
			r.next, r.end = context.WithCancel(context.Background())
			r.mu.Unlock()
		}
		end()
	}()
	return r
}

func (r *reconnects) close() { r.nc.RemoveStatusListener(r.status) }

// until returns a context that ends with ctx, and with the next reconnection.
func (r *reconnects) until(ctx context.Context) (context.Context, context.CancelFunc) {
	r.mu.Lock()
	next := r.next
	r.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(next, cancel)
	return ctx, func() { stop(); cancel() }
}
