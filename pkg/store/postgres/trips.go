package postgres

import (
	"context"
	"net"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// counted wraps a dial function so that its connections report their round trips.
func counted(dial pgconn.DialFunc, trip func()) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &tripConn{Conn: conn, trip: trip}, nil
	}
}

// tripConn counts how often it is written to after it was read from.
type tripConn struct {
	net.Conn

	trip func()
	mu   sync.Mutex
	sent bool
}

func (c *tripConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	first := !c.sent
	c.sent = true
	c.mu.Unlock()
	if first {
		c.trip()
	}
	return c.Conn.Write(b)
}

func (c *tripConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.mu.Lock()
		c.sent = false
		c.mu.Unlock()
	}
	return n, err
}
