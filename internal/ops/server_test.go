package ops

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// The standard library gives a client that was refused for its headers half a second to read why.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// start returns the address of a server in this process.
func start(t *testing.T, h *Health) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(h, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "m 1\n") }))
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// answered is what came back.
type answered struct {
	code  int
	body  string
	allow string
	last  bool // the connection ends with it
}

// ask sends a request as it is.
func ask(t *testing.T, address, request string) answered {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: strings.SplitN(request, " ", 2)[0]})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{answer.StatusCode, string(body), answer.Header.Get("Allow"), answer.Close}
}

func TestServer_Serve_AnswersGetAndHeadOfThreePathsAlone(t *testing.T) {
	h := NewHealth()
	h.Serve()
	address := start(t, h)
	for request, want := range map[string]string{
		"GET /livez":                    "200 live\n",
		"GET /readyz":                   "200 ready\n",
		"GET /metrics":                  "200 m 1\n",
		"HEAD /readyz":                  "200 ",
		"POST /readyz":                  "405 only GET and HEAD are answered\n",
		"DELETE /metrics":               "405 only GET and HEAD are answered\n",
		"OPTIONS *":                     "404 there is nothing here\n",
		"GET /":                         "404 there is nothing here\n",
		"GET /readyz/":                  "404 there is nothing here\n",
		"GET /debug/pprof/":             "404 there is nothing here\n",
		"GET /metrics?name[]=x":         "400 neither a query nor a body is read\n",
		"GET /livez\nContent-Length: 5": "400 neither a query nor a body is read\n",
		"POST /livez\nTransfer-Encoding: chunked": "405 only GET and HEAD are answered\n",
	} {
		line, headers, _ := strings.Cut(request, "\n")
		if headers != "" {
			headers += "\r\n"
		}
		answer := ask(t, address, line+" HTTP/1.1\r\nHost: localhost:1\r\n"+headers+"\r\n")
		if got := fmt.Sprintf("%d %s", answer.code, answer.body); got != want {
			t.Errorf("%q is answered %q, want %q", request, got, want)
		}
		if (answer.code == http.StatusMethodNotAllowed) != (answer.allow == "GET, HEAD") {
			t.Errorf("%q: Allow is %q", request, answer.allow)
		}
		if headers != "" && !answer.last {
			t.Errorf("%q: the connection goes on, with a body that nobody read", request)
		}
	}
}

func TestServer_Serve_HeadersHaveALimit(t *testing.T) {
	conn, err := net.Dial("tcp", start(t, NewHealth()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /livez HTTP/1.1\r\nHost: localhost:1\r\nX: "+strings.Repeat("x", 64<<10)+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "HTTP/1.1 431 ") {
		t.Errorf("64 KiB of headers are answered %q, %v", line, err)
	}
}

func TestServer_Serve_ForeignHost_IsRefused(t *testing.T) {
	address := start(t, NewHealth())
	for host, want := range map[string]int{
		address: 200, "localhost:9464": 200, "[::1]:9464": 200, "rebound.example:9464": 421, "rebound.example": 421, "192.0.2.1:9464": 421, "": 421,
	} {
		if got := ask(t, address, "GET /metrics HTTP/1.1\r\nHost: "+host+"\r\n\r\n"); got.code != want {
			t.Errorf("%q is answered %d, want %d", host, got.code, want)
		}
	}
}

// TestServer_Serve_ConnectionsHeld_AProbeIsAnswered: clients that have said nothing, half of a request, or that a body will come.
func TestServer_Serve_ConnectionsHeld_AProbeIsAnswered(t *testing.T) {
	for _, said := range []string{"", "GET /livez HTTP/1.1\r\n", "GET /livez HTTP/1.1\r\nHost: localhost:1\r\n\r\n", "POST /livez HTTP/1.1\r\nHost: localhost:1\r\nContent-Length: 5\r\n\r\n"} {
		address := start(t, NewHealth())
		for range 2 * maxConnections {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, said); err != nil {
				t.Fatal(err)
			}
		}
		begin := time.Now()
		got := ask(t, address, "GET /livez HTTP/1.1\r\nHost: localhost:1\r\n\r\n")
		if took := time.Since(begin); got.body != "live\n" || !got.last || took > time.Second {
			t.Errorf("beside clients that say %q, a probe is answered %+v after %v", said, got, took)
		}
	}
}

func TestConnections_Follow_TheOldestThatHasNotAskedGivesWay(t *testing.T) {
	var c connections
	var ends []net.Conn
	for range maxConnections {
		near, far := net.Pipe()
		defer near.Close()
		c.follow(near, http.StateNew)
		ends = append(ends, far)
	}
	c.follow(c.open[0].Conn, http.StateActive)
	ended := func(i int) bool {
		_ = ends[i].SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		_, err := ends[i].Read(make([]byte, 1))
		return errors.Is(err, io.EOF)
	}
	c.follow(c.open[5].Conn, http.StateClosed)
	one, two := &net.TCPConn{}, &net.TCPConn{}
	c.follow(one, http.StateNew)
	if len(c.open) != maxConnections || ended(1) {
		t.Errorf("%d are open, and one gave way without need", len(c.open))
	}
	c.follow(two, http.StateNew)
	if len(c.open) != maxConnections || ended(0) || !ended(1) || ended(2) {
		t.Errorf("%d are open; of the first: %v, %v, %v gave way", len(c.open), ended(0), ended(1), ended(2))
	}
}

func TestHealth_States_AnswerAsTheyShould(t *testing.T) {
	h := NewHealth()
	address := start(t, h)
	expect := func(when, live, ready string) {
		t.Helper()
		for path, want := range map[string]string{LivePath: live, ReadyPath: ready} {
			if got := ask(t, address, "GET "+path+" HTTP/1.1\r\nHost: localhost:1\r\n\r\n"); got.body != want+"\n" {
				t.Errorf("%s, %s answers %q, want %q", when, path, got.body, want)
			}
		}
	}
	expect("before it serves", "live", "not ready: starting")
	h.SetWritable(false)
	h.Serve()
	expect("with a store that failed", "live", "not ready: the store takes no writes")
	h.SetWritable(true)
	expect("serving", "live", "ready")
	h.FollowWriter(func() time.Duration { return 59 * time.Second })
	expect("with a slow disk", "live", "ready")
	h.FollowWriter(func() time.Duration { return 61 * time.Second })
	expect("with a disk that hangs", "not live: the store's writer hangs in a commit", "ready")
	h.FollowWriter(func() time.Duration { return 0 })
	h.Drain()
	h.Serve()
	expect("draining", "live", "not ready: draining")
}
