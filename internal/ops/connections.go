package ops

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// connections are a server's, at most maxConnections. One more takes the place of the oldest that has not asked yet, or of the oldest: a
// kubelet's probe must not wait behind clients that hold connections.
type connections struct {
	mu   sync.Mutex
	open []connection // oldest first
}

type connection struct {
	net.Conn
	asked bool
}

// follow is told of each connection's states, as http.Server has them.
func (c *connections) follow(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.open, func(o connection) bool { return o.Conn == conn })
	switch {
	case state == http.StateNew:
		c.makeRoom()
		c.open = append(c.open, connection{Conn: conn})
	case at < 0: // it made room
	case state == http.StateClosed:
		c.open = slices.Delete(c.open, at, at+1)
	default:
		c.open[at].asked = true
	}
}

func (c *connections) makeRoom() {
	if len(c.open) < maxConnections {
		return
	}
	oldest := max(0, slices.IndexFunc(c.open, func(o connection) bool { return !o.asked }))
	_ = c.open[oldest].Close() // the server notices, and is done with it
	c.open = slices.Delete(c.open, oldest, oldest+1)
}
