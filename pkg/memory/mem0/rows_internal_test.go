package mem0

import (
	"encoding/json"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// Whatever a service shows is a memory of the scope that was asked for, with a kind, an id and a source, or nothing.
func FuzzRow_Read(f *testing.F) {
	f.Add(`{"id":"00000000-0000-0000-0000-000000000001","memory":"x","user_id":"n:a","score":0.5,"metadata":{"palimpsest":"user","kind":"fact"}}`)
	f.Add(`{"id":"00000000-0000-0000-0000-000000000001","memory":"x","user_id":"n:a","score":9,"created_at":"x","metadata":` +
		`{"palimpsest":"user","kind":"said","messages":"[{\"i\":-1,\"h\":\"2d711642b726\"}]","incarnation":"00","time":-1}}`)
	f.Add(`{"id":null,"metadata":[],"score":1e300}`)
	scope := memory.Scope{Namespace: "n", Kind: memory.ScopeUser, ID: "a"}
	f.Fuzz(func(t *testing.T, text string) {
		var r row
		if json.Unmarshal([]byte(text), &r) != nil {
			return
		}
		m, _, ok := r.read(scope)
		if !ok {
			return
		}
		said := m.Kind == memory.Said || m.Kind == memory.Fact
		if m.Scope != scope || !isID(m.ID) || m.Score < 0 || m.Score > 1 || said != (len(m.Sources) == 1) || !said && m.Kind != memory.Added {
			t.Errorf("%+v", m)
		}
		if m.Metadata != "" && !json.Valid([]byte(m.Metadata)) {
			t.Errorf("metadata %q", m.Metadata)
		}
	})
}
