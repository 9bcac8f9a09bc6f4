// Package agentcoretest is AgentCore Memory on loopback, in memory, for tests: its events, records and pages, its idempotency, late extraction
// by a strategy that takes sentences for facts, and its failures. Where botocore is installed every request and every answer is held to
// AWS's own model of the service, and signatures are checked.
package agentcoretest

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// What a server knows.
const (
	MemoryID = "palimpsest-Ab3dE5fG7h"
	Region   = "eu-central-1"
	Key      = "AKIDEXAMPLE"
	Secret   = "a secret that is none"
)

// Credentials are those that a server accepts.
func Credentials() aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider(Key, Secret, "")
}

// Options configures a Server.
type Options struct {
	// Namespace is the template of its strategy; /actors/{actorId} by default.
	Namespace string
	// Extraction is how long after its event a fact is there.
	Extraction time.Duration
	// Rate is the least time between events of one session; 0 for none.
	Rate time.Duration
	// Prefixes takes a path for any beginning of a namespace, as the service once did.
	Prefixes bool
	// Model holds requests and answers to AWS's model; nil without it.
	Model *Model
}

// Fault is what goes wrong with a request.
type Fault struct {
	Status     int           // of the answer
	Code       string        // of AWS's error
	RetryAfter string        // header
	Delay      time.Duration // before anything is done
	Lose       bool          // does what is asked and breaks the connection instead of answering
	Body       string        // is the answer, with status 200, and nothing is done
}

// Server is a memory. Its methods are safe for concurrent use.
type Server struct {
	URL string

	t       testing.TB
	o       Options
	mu      sync.Mutex
	next    []Fault
	always  *Fault
	calls   []string
	ids     int
	events  []*event
	records []*record
	tokens  map[string]any
	last    map[string]time.Time
}

// Start starts a server, which ends with the test.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	o.Namespace = cmp.Or(o.Namespace, "/actors/{actorId}")
	s := &Server{t: t, o: o, tokens: map[string]any{}, last: map[string]time.Time{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Next makes the next requests fail, one each.
func (s *Server) Next(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = append(s.next, faults...)
}

// Always makes all requests fail; nil ends that.
func (s *Server) Always(f *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always = f
}

// Calls are the operations that were asked for, in order.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Holds is how many events and records there are, and whether a text occurs in any.
func (s *Server) Holds(text string) (events, records int, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, _ := json.Marshal([]any{s.events, s.records})
	quoted, _ := json.Marshal(text)
	return len(s.events), len(s.records), strings.Contains(string(all), strings.Trim(string(quoted), `"`))
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 16<<20))
	if err != nil {
		return
	}
	f := s.fault()
	select {
	case <-time.After(f.Delay):
	case <-r.Context().Done():
		return
	}
	operation, answer, failed := s.serve(r, body, f)
	switch {
	case f.Lose:
		panic(http.ErrAbortHandler)
	case f.Body != "":
		_, _ = io.WriteString(w, f.Body)
	case failed != nil:
		failed.write(w, f.RetryAfter)
	default:
		text, _ := json.Marshal(answer)
		s.o.Model.checkAnswer(s.t, operation, text)
		w.WriteHeader(statusOf(operation))
		_, _ = w.Write(text)
	}
}

func statusOf(operation string) int {
	if operation == "CreateEvent" || operation == "BatchCreateMemoryRecords" {
		return http.StatusCreated
	}
	return http.StatusOK
}

func (s *Server) fault() (f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.always != nil:
		return *s.always
	case len(s.next) > 0:
		f, s.next = s.next[0], s.next[1:]
	}
	return f
}

// failure is an answer that is none.
type failure struct {
	status  int
	code    string
	message string
}

func (f *failure) write(w http.ResponseWriter, retryAfter string) {
	w.Header().Set("X-Amzn-Errortype", f.code)
	if retryAfter != "" {
		w.Header().Set("Retry-After", retryAfter)
	}
	w.WriteHeader(f.status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": f.message, "reason": "FieldValidationFailed"})
}

func invalid(message string) *failure {
	return &failure{status: http.StatusBadRequest, code: "ValidationException", message: message}
}

func missing(what string) *failure {
	return &failure{status: http.StatusNotFound, code: "ResourceNotFoundException", message: what}
}

// serve does what a request asks for.
func (s *Server) serve(r *http.Request, body []byte, f Fault) (operation string, answer any, failed *failure) {
	operation, q, failed := parse(r, body)
	if failed != nil {
		return operation, nil, failed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, operation)
	if f.Status != 0 {
		return operation, nil, &failure{status: f.Status, code: f.Code, message: "injected: " + string(body)}
	}
	if failed := s.check(r, body, operation); failed != nil {
		return operation, nil, failed
	}
	if f.Body != "" {
		return operation, nil, nil
	}
	if q.MemoryID != MemoryID {
		return operation, nil, missing("no such memory")
	}
	answer, failed = map[string]func(*query) (any, *failure){
		"CreateEvent": s.createEvent, "ListEvents": s.listEvents, "DeleteEvent": s.deleteEvent, "ListSessions": s.listSessions,
		"RetrieveMemoryRecords": s.retrieve, "ListMemoryRecords": s.listRecords, "GetMemoryRecord": s.getRecord,
		"BatchCreateMemoryRecords": s.batchCreate, "BatchDeleteMemoryRecords": s.batchDelete,
	}[operation](q)
	return operation, answer, failed
}

// check holds a request to AWS's model, or, without it, to a few of its rules.
func (s *Server) check(r *http.Request, body []byte, operation string) *failure {
	if s.o.Model != nil {
		return s.o.Model.checkRequest(s.t, r, body, operation)
	}
	if !strings.Contains(r.Header.Get("Authorization"), "Credential="+Key+"/") {
		return &failure{status: http.StatusForbidden, code: "UnrecognizedClientException", message: "who is this?"}
	}
	return nil
}

// parse reads a request: which operation it is of, and its input.
func parse(r *http.Request, body []byte) (operation string, q *query, failed *failure) {
	q = &query{}
	if len(body) > 0 && json.Unmarshal(body, q) != nil {
		return "", nil, invalid("no JSON")
	}
	var path []string
	for _, segment := range strings.Split(r.URL.EscapedPath(), "/")[1:] {
		plain, err := url.PathUnescape(segment)
		if err != nil {
			return "", nil, invalid("no path")
		}
		path = append(path, plain)
	}
	for name, pattern := range map[string]string{
		"CreateEvent":              "POST memories M events",
		"ListSessions":             "POST memories M actor A sessions",
		"ListEvents":               "POST memories M actor A sessions S",
		"DeleteEvent":              "DELETE memories M actor A sessions S events E",
		"RetrieveMemoryRecords":    "POST memories M retrieve",
		"ListMemoryRecords":        "POST memories M memoryRecords",
		"GetMemoryRecord":          "GET memories M memoryRecord R",
		"BatchCreateMemoryRecords": "POST memories M memoryRecords batchCreate",
		"BatchDeleteMemoryRecords": "POST memories M memoryRecords batchDelete",
	} {
		if q.match(strings.Fields(pattern), append([]string{r.Method}, path...)) {
			return name, q, nil
		}
	}
	return "", nil, &failure{status: http.StatusNotFound, code: "UnknownOperationException"}
}

// match fills in what a path says, if it is of the pattern.
func (q *query) match(pattern, path []string) bool {
	holes := map[string]*string{"M": &q.MemoryID, "A": &q.ActorID, "S": &q.SessionID, "E": &q.EventID, "R": &q.RecordID}
	if len(pattern) != len(path) {
		return false
	}
	for i, want := range pattern {
		if holes[want] == nil && want != path[i] {
			return false
		}
	}
	for i, want := range pattern {
		if hole := holes[want]; hole != nil {
			*hole = path[i]
		}
	}
	return true
}
