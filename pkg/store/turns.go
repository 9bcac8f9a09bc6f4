package store

import (
	"context"
	"sync"
)

// Turns lets callers in one process take turns on a conversation, so that they do not cause conflicts for each other, and do not all wait
// for a server. Correctness does not depend on it: a commit compares versions. The zero value is ready for use.
type Turns struct {
	mu    sync.Mutex
	lines map[Key]*line
}

type line struct {
	turn  chan struct{} // holds one token while a caller has the turn
	users int
}

// Wait waits for the turn of the key, and returns a function that passes the turn on.
func (q *Turns) Wait(ctx context.Context, key Key) (done func(), err error) {
	l := q.join(key)
	select {
	case l.turn <- struct{}{}:
		return func() { <-l.turn; q.leave(key, l) }, nil
	case <-ctx.Done():
		q.leave(key, l)
		return nil, ctx.Err()
	}
}

// Try takes the turn if it is free.
func (q *Turns) Try(key Key) (done func(), ok bool) {
	l := q.join(key)
	select {
	case l.turn <- struct{}{}:
		return func() { <-l.turn; q.leave(key, l) }, true
	default:
		q.leave(key, l)
		return nil, false
	}
}

// Users is the number of callers who have the turn of the key or wait for it.
func (q *Turns) Users(key Key) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.lines[key]; l != nil {
		return l.users
	}
	return 0
}

func (q *Turns) join(key Key) *line {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[key]
	if l == nil {
		l = &line{turn: make(chan struct{}, 1)}
		if q.lines == nil {
			q.lines = make(map[Key]*line)
		}
		q.lines[key] = l
	}
	l.users++
	return l
}

func (q *Turns) leave(key Key, l *line) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(q.lines, key)
	}
}
