package engine_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// served is what Anthropic's model said, with blocks of its own tools in place.
func served(blocks ...string) conversation.Message {
	m := conversation.Message{Role: conversation.RoleAssistant, Model: "claude-sonnet-4-6"}
	for _, b := range blocks {
		if strings.HasPrefix(b, "{") {
			m.Parts = append(m.Parts, conversation.Part{Kind: conversation.PartOpaque, Opaque: &conversation.Opaque{Provider: "anthropic", JSON: conversation.Content{Inline: b}}})
		} else {
			m.Parts = append(m.Parts, conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: b}})
		}
	}
	return m
}

const (
	searches = `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`
	found    = `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`
)

// TestEngine_Build_PausedTurn_GoesOnAsItCame: the paused turn comes last, without text that nobody said. What follows leaves its bytes
// unchanged, with a window in memory and after a restart.
func TestEngine_Build_PausedTurn_GoesOnAsItCame(t *testing.T) {
	ask := func(r *engine.BuildRequest) {
		r.Format, r.Model = conversation.FormatAnthropic, "claude-sonnet-4-6"
	}
	for _, warm := range []int64{0, 1 << 20} {
		db := memory.New(memory.Options{})
		start := func() *bench { return newBenchWith(db, func(o *engine.Options) { o.CacheBytes = warm }) }
		b := start()
		paused := served("I look.", searches)
		paused.Tags = []string{conversation.TagPaused}
		b.append(t, "c", user("find"), paused)
		first := b.asked(t, "c", 100_000, ask)
		if got := string(first.MessagesJSON); !strings.HasSuffix(got, searches+"]}]") || len(first.Decisions) > 0 {
			t.Fatalf("%s\n%+v", got, first.Decisions)
		}
		b.append(t, "c", served(found, "Found."))
		second := b.asked(t, "c", 100_000, ask)
		if !bytes.HasPrefix(second.MessagesJSON, bytes.TrimSuffix(first.MessagesJSON, []byte("]}]"))) || !strings.Contains(string(second.MessagesJSON), found) {
			t.Errorf("%s\nthen %s", first.MessagesJSON, second.MessagesJSON)
		}
		b.append(t, "c", user("more"))
		for _, b := range []*bench{b, start()} {
			r := b.asked(t, "c", 100_000, ask)
			if got := string(r.MessagesJSON); strings.Count(got, "srvtoolu_1") != 2 || strings.Contains(got, "Continue.") {
				t.Errorf("%s", got)
			}
		}
	}
}

// TestEngine_Build_ServerTool_NobodyAnswered_IsLeftOut: once somebody else has spoken, the provider would refuse the call.
func TestEngine_Build_ServerTool_NobodyAnswered_IsLeftOut(t *testing.T) {
	b := newBenchWith(memory.New(memory.Options{}), func(*engine.Options) {})
	b.append(t, "c", user("find"), served("I look.", searches), user("never mind"))
	r := b.asked(t, "c", 100_000, func(r *engine.BuildRequest) {
		r.Format, r.Model = conversation.FormatAnthropic, "claude-sonnet-4-6"
	})
	if strings.Contains(string(r.MessagesJSON), "srvtoolu_1") || len(r.Decisions) != 1 || r.Decisions[0].Reason != conversation.ReasonForeignBlock {
		t.Errorf("%s\n%+v", r.MessagesJSON, r.Decisions)
	}
}
