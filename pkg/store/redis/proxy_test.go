package redis_test

import (
	"bytes"
	"net"
	"sync/atomic"
	"testing"
	"time"
)

// proxy stands between a store and its server, and spoils what comes back.
type proxy struct {
	address string
	// scripts counts the scripts that went to the server.
	scripts atomic.Int64
	// cut breaks the connection in place of the answer to the next script; late is how long answers take.
	cut  atomic.Bool
	late atomic.Int64
}

func startProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	p := &proxy{address: l.Addr().String()}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				_ = client.Close()
				continue
			}
			go p.serve(client, server)
		}
	}()
	return p
}

func (p *proxy) serve(client, server net.Conn) {
	var spoiled atomic.Bool
	go func() {
		defer server.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := client.Read(buf)
			if bytes.Contains(buf[:n], []byte("evalsha")) {
				p.scripts.Add(1)
				if p.cut.CompareAndSwap(true, false) {
					spoiled.Store(true)
				}
			}
			if _, failed := server.Write(buf[:n]); err != nil || failed != nil {
				return
			}
		}
	}()
	defer client.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		time.Sleep(time.Duration(p.late.Load()))
		if spoiled.Load() {
			return
		}
		if _, failed := client.Write(buf[:n]); err != nil || failed != nil {
			return
		}
	}
}
