package mem0test

import (
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Fault is what befalls a request. The zero value is none.
type Fault struct {
	Status int           // answered without acting; 0 acts
	Header http.Header   // of that answer
	Body   string        // of that answer, or instead of the right one
	Cut    bool          // the connection ends without an answer; the service has acted if there is no Status
	Delay  time.Duration // before anything
}

// Faults stands before a service and breaks it as tests ask.
type Faults struct {
	next http.Handler

	mu   sync.Mutex
	pick func(*http.Request) Fault
	seen map[string]int
}

// Before puts faults before a service.
func Before(next http.Handler) *Faults { return &Faults{next: next, seen: map[string]int{}} }

// Break picks a fault for each request from now on, one at a time; nil mends.
func (f *Faults) Break(pick func(*http.Request) Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pick = pick
}

// BreakNext lets a fault befall the next requests of a method and a path.
func (f *Faults) BreakNext(times int, fault Fault, method, path string) {
	f.breakWhere(times, fault, func(r *http.Request) bool { return r.Method == method && strings.HasPrefix(r.URL.Path, path) })
}

func (f *Faults) breakWhere(times int, fault Fault, where func(*http.Request) bool) {
	f.Break(func(r *http.Request) Fault {
		if times == 0 || !where(r) {
			return Fault{}
		}
		times--
		return fault
	})
}

// LoseAdd cuts the connection of the next add to either service, after it was done.
func (f *Faults) LoseAdd() {
	f.breakWhere(1, Fault{Cut: true}, func(r *http.Request) bool {
		return r.Method == http.MethodPost && (r.URL.Path == "/memories" || r.URL.Path == "/v3/memories/add/")
	})
}

// Asked counts requests of a method to a path.
func (f *Faults) Asked(method, path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen[method+" "+path]
}

// ServeHTTP implements http.Handler.
func (f *Faults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.seen[r.Method+" "+r.URL.Path]++
	fault := Fault{}
	if f.pick != nil {
		fault = f.pick(r)
	}
	f.mu.Unlock()
	if !wait(r, fault.Delay) {
		return
	}
	switch {
	case fault.Status == 0 && !fault.Cut && fault.Body == "":
		f.next.ServeHTTP(w, r)
		return
	case fault.Status == 0:
		f.next.ServeHTTP(&unseen{header: http.Header{}}, r)
		fault.Status = http.StatusOK
	}
	if fault.Cut {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), fault.Header)
	w.WriteHeader(fault.Status)
	_, _ = io.WriteString(w, fault.Body)
}

func wait(r *http.Request, d time.Duration) bool {
	if d == 0 {
		return true
	}
	// The server notices that the caller has gone once it has read what was sent.
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return false
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	select {
	case <-r.Context().Done():
		return false
	case <-time.After(d):
		return true
	}
}

// unseen takes an answer that nobody gets.
type unseen struct{ header http.Header }

func (u *unseen) Header() http.Header         { return u.header }
func (u *unseen) Write(p []byte) (int, error) { return len(p), nil }
func (u *unseen) WriteHeader(int)             {}
