package postgres

import (
	"context"
	"sync"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// queue lets one writer of a conversation through at a time, before it takes a connection. The zero value is ready.
type queue struct {
	mu    sync.Mutex
	lines map[store.Key]*line
}

type line struct {
	turn chan struct{} // holds one token while somebody has the turn
	in   int
}

// wait waits for the turn of the key, which done ends.
func (q *queue) wait(ctx context.Context, key store.Key) (done func(), err error) {
	l := q.join(key)
	select {
	case l.turn <- struct{}{}:
		return func() {
			<-l.turn
			q.leave(key, l)
		}, nil
	case <-ctx.Done():
		q.leave(key, l)
		return nil, ctx.Err()
	}
}

// enter takes the turn if nobody has it.
func (q *queue) enter(key store.Key) (done func(), ok bool) {
	l := q.join(key)
	select {
	case l.turn <- struct{}{}:
		return func() {
			<-l.turn
			q.leave(key, l)
		}, true
	default:
		q.leave(key, l)
		return nil, false
	}
}

func (q *queue) join(key store.Key) *line {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[key]
	if l == nil {
		l = &line{turn: make(chan struct{}, 1)}
		if q.lines == nil {
			q.lines = make(map[store.Key]*line)
		}
		q.lines[key] = l
	}
	l.in++
	return l
}

func (q *queue) leave(key store.Key, l *line) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l.in--; l.in == 0 {
		delete(q.lines, key)
	}
}
