package process

import (
	"bytes"
	"regexp"
	"sync"
)

// log keeps what a child process writes, and finds in it where the process listens.
type log struct {
	ready   chan struct{} // closed when address is known
	address string

	mu      sync.Mutex
	written bytes.Buffer
}

func newLog() *log { return &log{ready: make(chan struct{})} }

var readyLine = regexp.MustCompile(`"msg":"ready","addresses":\["([^"]+)"`)

var operationsLine = regexp.MustCompile(`"msg":"operations","address":"([^"]+)"`)

// Write implements io.Writer.
func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.written.Write(p)
	if l.address == "" {
		if found := readyLine.FindSubmatch(l.written.Bytes()); found != nil {
			l.address = string(found[1])
			close(l.ready)
		}
	}
	return n, err
}

// String is everything written so far.
func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.written.String()
}
