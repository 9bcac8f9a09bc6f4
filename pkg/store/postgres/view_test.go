package postgres

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// spoken is a conversation with tool calls, bytes that are no text, and a summary out of which one message was brought back.
func spoken(t *testing.T, s *Store) *talk {
	t.Helper()
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	k.text = "a\x00b\xff"
	must(t, k.append(t.Context(), s))
	call := k.appending()
	call.Messages[0].Role, call.Messages[0].Parts = conversation.RoleAssistant, []conversation.Part{{
		Kind: conversation.PartToolCall, Call: &conversation.ToolCall{CallID: "c1\x00", Name: "search", Arguments: conversation.Content{Inline: `{"q":"x"}`}},
	}}
	must(t, k.commit(t.Context(), s, call))
	result := k.appending()
	result.Messages[0].Role, result.Messages[0].Parts = conversation.RoleTool, []conversation.Part{{
		Kind: conversation.PartToolResult, Result: &conversation.ToolResult{CallID: "c1", Text: conversation.Content{Inline: "found"}},
	}}
	must(t, k.commit(t.Context(), s, result))
	sum := k.change()
	sum.Head.EditSeq += 2
	sum.Edits = []conversation.Edit{
		{
			Seq: 1, Kind: conversation.EditSummarize, Range: conversation.Range{End: 3}, Commit: sum.Head.Version,
			Summary: &conversation.Summary{ID: 1, Except: []conversation.Range{{First: 1, End: 2}}},
		},
		{Seq: 2, Kind: conversation.EditRestore, Range: conversation.Range{End: 3}, Brought: []int32{2}, Commit: sum.Head.Version},
	}
	must(t, k.commit(t.Context(), s, sum))
	return k
}

func TestView_Columns_SayWhatTheRecordSays(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]bool{"without words": false, "with words": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := opened(t, Options{DSN: dbtest.SharedPostgres(t).DSN, TextColumn: text, Schema: schemaOf(t.Name())})
			k := spoken(t, s)
			var got []byte
			err := s.pool.QueryRow(t.Context(), s.sql(`SELECT json_agg(json_build_array(id, context_id, index, role, content, tool_call_id, tool_calls,
 extract(epoch FROM timestamp)::bigint, tokens, compacted, compacted_range) ORDER BY index) FROM {s}.context_messages`)).Scan(&got)
			must(t, err)
			words := func(w string) any {
				if text {
					return w
				}
				return nil
			}
			call := map[string]any{"id": "c1\uFFFD", "name": "search"}
			if text {
				call["arguments"] = `{"q":"x"}`
			}
			at := float64(testTime().Unix())
			want := []any{
				[]any{"m0", k.key.Conversation, 0., "user", words("words"), nil, nil, at, 5., true, "[0,3)"},
				[]any{"m1", k.key.Conversation, 1., "user", words("a\uFFFDb\uFFFD"), nil, nil, at, 5., false, nil},
				[]any{"m2", k.key.Conversation, 2., "assistant", nil, nil, []any{call}, at, 5., false, nil},
				[]any{"m3", k.key.Conversation, 3., "tool", words("found"), "c1", nil, at, 5., false, nil},
			}
			var rows any
			must(t, json.Unmarshal(got, &rows))
			if diff := cmp.Diff(any(want), rows); diff != "" {
				t.Error(diff)
			}
		})
	}
}
