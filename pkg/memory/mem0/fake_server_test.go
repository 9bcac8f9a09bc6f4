package mem0_test

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// newServer serves the routes of the mem0 repository's server, by its code: what it takes, shows and refuses.
func newServer(t testing.TB) *fake { return start(t, "X-API-Key", "", answerServer) }

func answerServer(f *fake, r *http.Request, body map[string]any) (int, any) {
	query := r.URL.Query()
	of := func(s *stored) bool { return s.user == query.Get("user_id") && s.agent == query.Get("agent_id") }
	one, single := strings.CutPrefix(r.URL.Path, "/memories/")
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/memories":
		return addToServer(f, body)
	case r.Method == http.MethodPost && r.URL.Path == "/search":
		return searchServer(f, body)
	case r.Method == http.MethodGet && r.URL.Path == "/memories":
		most, err := strconv.Atoi(query.Get("top_k"))
		if err != nil || most > 1000 || query.Get("user_id") == "" && query.Get("agent_id") == "" {
			return http.StatusUnprocessableEntity, map[string]any{"detail": "top_k or id"}
		}
		rows := f.visible(of)
		slices.SortFunc(rows, func(a, b *stored) int { return strings.Compare(a.id, b.id) }) // as a vector store scrolls
		return http.StatusOK, map[string]any{"results": showAll(rows[:min(len(rows), most)])}
	case r.Method == http.MethodGet && single:
		for _, s := range f.visible(func(s *stored) bool { return s.id == one }) {
			return http.StatusOK, s.server()
		}
		return http.StatusOK, nil
	case r.Method == http.MethodDelete && single:
		if len(f.visible(func(s *stored) bool { return s.id == one })) == 0 {
			return http.StatusNotFound, map[string]any{"detail": "Memory with id not found"}
		}
		f.drop(func(s *stored) bool { return s.id == one })
		return http.StatusOK, map[string]any{"message": "Memory deleted successfully"}
	case r.Method == http.MethodDelete && r.URL.Path == "/memories":
		if query.Get("user_id") == "" && query.Get("agent_id") == "" {
			return http.StatusBadRequest, map[string]any{"detail": "At least one identifier is required."}
		}
		f.drop(of)
		return http.StatusOK, map[string]any{"message": "All relevant memories deleted"}
	default:
		return http.StatusNotFound, map[string]any{"detail": "Not Found"}
	}
}

func addToServer(f *fake, body map[string]any) (int, any) {
	results := []any{}
	for _, s := range f.add(body) {
		results = append(results, map[string]any{"id": s.id, "memory": s.text, "event": "ADD"})
	}
	return http.StatusOK, map[string]any{"results": results}
}

// searchServer has flat filters: ids beside metadata, with "*" for any value.
func searchServer(f *fake, body map[string]any) (int, any) {
	filters := as[map[string]any](body["filters"])
	if filters["user_id"] == nil && filters["agent_id"] == nil || strings.TrimSpace(as[string](body["query"])) == "" {
		return http.StatusBadRequest, map[string]any{"detail": "filters must contain an id, and a query words"}
	}
	rows := f.visible(func(s *stored) bool {
		flat := maps.Clone(s.metadata)
		if flat == nil {
			flat = map[string]any{}
		}
		flat["user_id"], flat["agent_id"] = s.user, s.agent
		for key, want := range filters {
			if want != "*" && flat[key] != want {
				return false
			}
		}
		return true
	})
	results := []any{}
	for _, h := range search(rows, as[string](body["query"]), number(body["threshold"], 0.1), int(number(body["top_k"], 20))) {
		m := h.server()
		m["score"] = h.score
		results = append(results, m)
	}
	return http.StatusOK, map[string]any{"results": results}
}

func showAll(rows []*stored) []any {
	out := []any{}
	for _, s := range rows {
		out = append(out, s.server())
	}
	return out
}

// server is a memory as the server shows it: only the ids that it has.
func (s *stored) server() map[string]any {
	at := s.created.UTC().Format(time.RFC3339Nano)
	out := map[string]any{"id": s.id, "memory": s.text, "hash": "0", "created_at": at, "updated_at": at, "role": s.by, "metadata": s.metadata}
	if s.user != "" {
		out["user_id"] = s.user
	}
	if s.agent != "" {
		out["agent_id"] = s.agent
	}
	return out
}
