package bolt

import (
	"bytes"
	"context"
	"crypto/rand"
	"slices"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/provider/neutral"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

// counter is chars4 under the name of the default, which takes long to load.
type counter struct{ tokens.Counter }

func (counter) Name() string { return conversation.DefaultCounter }

func engineOver(t *testing.T, s store.Store, defaults conversation.Policy) *engine.Engine {
	now := time.Unix(1_800_000_000, 0)
	e := engine.New(engine.Options{
		Store: s, Counters: []tokens.Counter{counter{chars4.New()}}, Formats: []provider.Format{neutral.New()},
		Clock:      func() time.Time { now = now.Add(time.Second); return now },
		IDs:        func() (id conversation.ID) { _, _ = rand.Read(id[:]); return id },
		CacheBytes: 1 << 20, Defaults: defaults, OnError: func(err error) { t.Error(err) },
	})
	t.Cleanup(e.Close)
	return e
}

// recordsOf are all keys with their values.
func recordsOf(t *testing.T, s *Store) map[string][]byte {
	t.Helper()
	records := map[string][]byte{}
	must(t, s.view(t.Context(), func(x *tx) error {
		return x.tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				records[string(name)+"/"+string(k)] = bytes.Clone(v)
				return nil
			})
		})
	}))
	return records
}

// written counts the records that are new, and those that are others than before.
func written(before, after map[string][]byte) (added, changed, removed int) {
	for k, v := range after {
		switch old, there := before[k]; {
		case !there:
			added++
		case !bytes.Equal(old, v):
			changed++
		}
	}
	for k := range before {
		if _, there := after[k]; !there {
			removed++
		}
	}
	return added, changed, removed
}

func said(role conversation.Role, s string) conversation.Message {
	return conversation.Message{Role: role, Parts: []conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: s}}}}
}

func called() conversation.Message {
	return conversation.Message{Role: conversation.RoleAssistant, Parts: []conversation.Part{{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{
		CallID: "k", Name: "search", Arguments: conversation.Content{Inline: `{"q":"x"}`},
	}}}}
}

func answered() conversation.Message {
	return conversation.Message{Role: conversation.RoleTool, Parts: []conversation.Part{{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{
		CallID: "k", Text: conversation.Content{Inline: "found"},
	}}}}
}

// TestEngine_Append_WritesMessageAndHead: an append of the engine writes its messages and the head, and no other record, whatever
// it appends, before a build and after one: each further record would cost a third of the throughput. Only a request id adds a
// record, its outcome.
func TestEngine_Append_WritesMessageAndHead(t *testing.T) {
	f := openFlaky(t, Options{})
	turns := int32(3)
	e := engineOver(t, f.Store, conversation.Policy{Expiration: conversation.ExpirationPolicy{
		Results: conversation.Expiration{Turns: &turns, Mode: conversation.ExpirationCompact}, // what has settings to look up too
	}})
	key := engine.Key{Namespace: "default", Conversation: "c"}
	appendOf := func(id string, messages ...conversation.Message) engine.AppendRequest {
		r := engine.AppendRequest{Key: key, Messages: messages}
		if id != "" {
			r.Request = engine.Request{RPC: "AppendMessages", ID: id}
		}
		return r
	}
	// This makes the conversation, and with its first request id a time when ids are forgotten.
	_, err := e.Append(t.Context(), appendOf("first", said(conversation.RoleSystem, "Be brief.")))
	must(t, err)
	messages := []conversation.Message{said(conversation.RoleUser, "Find x."), called(), answered(), said(conversation.RoleAssistant, "It is there.")}
	for round := range 2 {
		for i, m := range messages {
			appended := appendOf("", m)
			wantWritten(t, f.Store, 1, func(ctx context.Context) error { _, err := e.Append(ctx, appended); return err })
			if t.Failed() {
				t.Fatalf("round %d, message %d", round, i)
			}
		}
		wantWritten(t, f.Store, len(messages), func(ctx context.Context) error {
			_, err := e.Append(ctx, appendOf("", slices.Clone(messages)...))
			return err
		})
		wantWritten(t, f.Store, 2, func(ctx context.Context) error {
			_, err := e.Append(ctx, appendOf(string(rune('a'+round)), said(conversation.RoleUser, "And y?")))
			return err
		})
		_, err := e.Build(t.Context(), engine.BuildRequest{Key: key, Format: conversation.FormatNeutral})
		must(t, err)
	}
}

// wantWritten fails unless a call writes the wanted number of new records, and overwrites only the head.
func wantWritten(t *testing.T, s *Store, want int, call func(context.Context) error) {
	t.Helper()
	before := recordsOf(t, s)
	must(t, call(t.Context()))
	if added, changed, removed := written(before, recordsOf(t, s)); added != want || changed != 1 || removed != 0 {
		t.Errorf("%d records more, %d changed, %d removed: want %d more and the head changed", added, changed, removed, want)
	}
}
