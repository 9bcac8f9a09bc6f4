package mem0_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// fakePlatform is the hosted service in memory. Requests and answers are held to the vendor's document: a field that it does not name is
// refused, and an answer that is not as documented fails the test.
type fakePlatform struct {
	*fake
	operations map[string]*operation
	events     map[string]*fakeEvent
	order      []string
}

type fakeEvent struct {
	id      string
	payload map[string]any
	results []*stored
	ready   time.Time
	failed  bool
}

func newPlatform(t testing.TB) *fakePlatform {
	operations, err := readOperations()
	if err != nil {
		t.Fatal(err)
	}
	p := &fakePlatform{operations: operations, events: map[string]*fakeEvent{}}
	p.fake = start(t, "Authorization", "Token ", p.answer)
	p.lag = 5 * time.Millisecond
	return p
}

func (p *fakePlatform) answer(_ *fake, r *http.Request, body map[string]any) (int, any) {
	route, arguments := p.route(r)
	op := p.operations[route]
	if op == nil {
		return http.StatusNotFound, map[string]any{"error": "no such endpoint"}
	}
	if s := op.RequestBody.Content.schema(); s != nil {
		if wrong := s.check(any(body), "the request"); wrong != "" {
			p.t.Errorf("%s: %s", route, wrong)
			return http.StatusBadRequest, map[string]any{"error": wrong}
		}
	}
	status, out := p.act(route, arguments, r, body)
	if response, ok := op.Responses[strconv.Itoa(status)]; ok {
		text, _ := json.Marshal(out)
		var again any
		_ = json.Unmarshal(text, &again)
		if wrong := response.Content.schema().check(again, "the answer"); wrong != "" {
			p.t.Errorf("%s: the fake is wrong: %s", route, wrong)
		}
	}
	return status, out
}

// route finds the documented path of a request. Fixed parts come before named ones.
func (p *fakePlatform) route(r *http.Request) (string, map[string]string) {
	got := strings.Split(r.URL.EscapedPath(), "/")
	best, arguments := "", map[string]string(nil)
	for route := range p.operations {
		method, path, _ := strings.Cut(route, " ")
		want := strings.Split(path, "/")
		if method != r.Method || len(want) != len(got) {
			continue
		}
		found, fits := map[string]string{}, true
		for i := range want {
			if name, ok := strings.CutPrefix(want[i], "{"); ok {
				found[strings.TrimSuffix(name, "}")] = got[i]
			} else if want[i] != got[i] {
				fits = false
			}
		}
		if fits && (best == "" || len(found) < len(arguments)) {
			best, arguments = route, found
		}
	}
	return best, arguments
}

func (p *fakePlatform) act(route string, arguments map[string]string, r *http.Request, body map[string]any) (int, any) {
	switch route {
	case "POST /v3/memories/add/":
		return p.addMemories(body)
	case "GET /v1/event/{event_id}/":
		if e := p.events[arguments["event_id"]]; e != nil {
			return http.StatusOK, e.show()
		}
		return http.StatusNotFound, map[string]any{"error": "Event not found"}
	case "GET /v1/events/":
		all := []any{}
		for i := len(p.order) - 1; i >= 0; i-- {
			all = append(all, p.events[p.order[i]].show())
		}
		return http.StatusOK, map[string]any{"count": len(all), "next": nil, "previous": nil, "results": all}
	case "POST /v3/memories/":
		return p.list(r, body)
	case "POST /v3/memories/search/":
		return p.search(body)
	case "GET /v1/memories/{memory_id}/":
		for _, s := range p.visible(func(s *stored) bool { return s.id == arguments["memory_id"] }) {
			return http.StatusOK, s.platform("session_id")
		}
		return http.StatusNotFound, map[string]any{"error": "Memory not found!"}
	case "DELETE /v1/batch/":
		for _, m := range as[[]any](body["memories"]) {
			p.drop(func(s *stored) bool { return s.id == as[map[string]any](m)["memory_id"] })
		}
		return http.StatusOK, map[string]any{"message": "Successfully deleted memories"}
	default: // DELETE /v2/entities/{entity_type}/{entity_id}/
		return p.deleteEntity(arguments["entity_type"], arguments["entity_id"])
	}
}

func (p *fakePlatform) addMemories(body map[string]any) (int, any) {
	user, agent := as[string](body["user_id"]), as[string](body["agent_id"])
	if user == "" && agent == "" || user != "" && agent != "" {
		p.t.Error("an add must have one id, or facts are parted by speaker")
	}
	added := p.add(body)
	if body["infer"] == false {
		results := []any{}
		for _, s := range added {
			results = append(results, map[string]any{"id": s.id, "data": map[string]any{"memory": s.text}, "event": "ADD"})
		}
		return http.StatusOK, map[string]any{"message": "ok", "status": "SUCCEEDED", "event_id": p.uuid(), "results": results}
	}
	e := &fakeEvent{id: p.uuid(), payload: body, results: added, ready: time.Now().Add(p.lag)}
	p.events[e.id] = e
	p.order = append(p.order, e.id)
	return http.StatusOK, map[string]any{"status": "PENDING", "event_id": e.id}
}

func (e *fakeEvent) show() map[string]any {
	at := time.Now().UTC().Format(time.RFC3339)
	status, results := "PENDING", []any{}
	if !e.ready.After(time.Now()) {
		status = "SUCCEEDED"
		for _, s := range e.results {
			results = append(results, map[string]any{"id": s.id, "data": map[string]any{"memory": s.text}, "event": "ADD"})
		}
	}
	if e.failed {
		status = "FAILED"
	}
	return map[string]any{
		"id": e.id, "event_type": "ADD", "status": status, "payload": e.payload, "metadata": map[string]any{}, "results": results,
		"created_at": at, "updated_at": at,
	}
}

func (s *stored) platform(run string) map[string]any {
	at := s.created.UTC().Format(time.RFC3339Nano)
	out := map[string]any{
		"id": s.id, "memory": s.text, "user_id": null(s.user), "agent_id": null(s.agent), "app_id": nil, "metadata": s.metadata, "categories": []any{},
		"created_at": at, "updated_at": at,
	}
	if run != "" {
		out[run] = nil
	}
	return out
}

func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// matches says what the platform's filters select: ids and metadata by equal values, all of AND's.
func matches(f map[string]any, s *stored) bool {
	for name, v := range f {
		switch name {
		case "AND":
			for _, part := range as[[]any](v) {
				if !matches(as[map[string]any](part), s) {
					return false
				}
			}
		case "user_id":
			if s.user == "" || v != "*" && v != s.user {
				return false
			}
		case "agent_id":
			if s.agent == "" || v != "*" && v != s.agent {
				return false
			}
		case "metadata":
			for key, want := range as[map[string]any](v) {
				if s.metadata[key] != want {
					return false
				}
			}
		default:
			return false
		}
	}
	return true
}

func scoped(filters any) bool {
	text := fmt.Sprint(filters)
	return strings.Contains(text, "user_id:") || strings.Contains(text, "agent_id:")
}

func (p *fakePlatform) list(r *http.Request, body map[string]any) (int, any) {
	filters := as[map[string]any](body["filters"])
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	size, _ := strconv.Atoi(r.URL.Query().Get("page_size"))
	if !scoped(filters) || page < 1 || size < 1 || size > 200 {
		p.t.Errorf("a list of page %d of %d, with filters %v", page, size, filters)
		return http.StatusBadRequest, map[string]any{}
	}
	rows := p.visible(func(s *stored) bool { return matches(filters, s) })
	if page > 1 && (page-1)*size >= len(rows) {
		return http.StatusNotFound, map[string]any{"detail": "Invalid page."}
	}
	out := map[string]any{"count": len(rows), "next": nil, "previous": nil}
	if page*size < len(rows) {
		out["next"] = fmt.Sprintf("https://api.mem0.ai/v3/memories/?page=%d&page_size=%d", page+1, size)
	}
	results := []any{}
	for _, s := range rows[(page-1)*size : min(page*size, len(rows))] {
		results = append(results, s.platform("session_id"))
	}
	out["results"] = results
	return http.StatusOK, out
}

func (p *fakePlatform) search(body map[string]any) (int, any) {
	filters := as[map[string]any](body["filters"])
	if !scoped(filters) {
		return http.StatusBadRequest, map[string]any{}
	}
	rows := p.visible(func(s *stored) bool { return matches(filters, s) })
	results := []any{}
	for _, h := range search(rows, as[string](body["query"]), number(body["threshold"], 0.1), int(number(body["top_k"], 10))) {
		m := h.platform("run_id")
		m["score"] = h.score
		results = append(results, m)
	}
	return http.StatusOK, map[string]any{"results": results}
}

// deleteEntity is queued: what goes is still there for a moment, and what comes meanwhile goes too.
func (p *fakePlatform) deleteEntity(kind, id string) (int, any) {
	e := &fakeEvent{id: p.uuid(), payload: map[string]any{}, ready: time.Now().Add(time.Hour)}
	p.events[e.id] = e
	time.AfterFunc(p.lag, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.drop(func(s *stored) bool { return kind == "user" && s.user == id || kind == "agent" && s.agent == id })
		e.ready = time.Now()
	})
	return http.StatusOK, map[string]any{"message": "Delete in progress. This may take some time.", "event_id": e.id}
}
