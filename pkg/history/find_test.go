package history_test

import (
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/history"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

func text(s string) conversation.Part {
	return conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: s}}
}

func call(id, name, arguments string) conversation.Part {
	return conversation.Part{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{
		CallID: id, Name: name, Arguments: conversation.Content{Inline: arguments},
	}}
}

func result(id, output string) conversation.Part {
	return conversation.Part{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{
		CallID: id, Text: conversation.Content{Inline: output},
	}}
}

func reasoning(s string) conversation.Part {
	return conversation.Part{Kind: conversation.PartReasoning, Reasoning: &conversation.Reasoning{Text: conversation.Content{Inline: s}}}
}

func user(parts ...conversation.Part) conversation.Message {
	return conversation.Message{Role: conversation.RoleUser, Parts: parts}
}

func assistant(parts ...conversation.Part) conversation.Message {
	return conversation.Message{Role: conversation.RoleAssistant, Parts: parts}
}

func tool(parts ...conversation.Part) conversation.Message {
	return conversation.Message{Role: conversation.RoleTool, Parts: parts}
}

// recorded gives messages their indices, and calls and results their ordinals, as an append does.
func recorded(messages ...conversation.Message) []history.Entry {
	out := make([]history.Entry, len(messages))
	open, ordinal := map[string]int32{}, int32(0)
	for i := range messages {
		m := messages[i]
		m.Index, m.Parts = int32(i), conversation.CloneParts(m.Parts)
		for p := range m.Parts {
			switch part := &m.Parts[p]; {
			case part.Call != nil:
				ordinal++
				part.Call.Ordinal, open[part.Call.CallID] = ordinal, ordinal
			case part.Result != nil:
				part.Result.Ordinal = open[part.Result.CallID]
			}
		}
		out[i] = history.EntryOf(&m)
	}
	return out
}

func given(messages ...conversation.Message) []provider.InputMessage {
	out := make([]provider.InputMessage, len(messages))
	for i := range messages {
		out[i] = provider.InputMessage{Message: messages[i], First: i, End: i + 1}
	}
	return out
}

// inMemory has no contents beside the record.
type inMemory struct{}

func (inMemory) Text(c conversation.Content) (string, bool) { return c.Inline, true }
func (inMemory) Is(conversation.Content, string) bool       { return false }

func query(record []history.Entry, list []provider.InputMessage) *history.Query {
	return &history.Query{Record: record, List: list, Elements: len(list), Contents: inMemory{}}
}

func find(t *testing.T, q *history.Query) *history.Reading {
	t.Helper()
	r, err := history.Find(q)
	if err != nil {
		t.Fatalf("Find: %v", err)
	}
	return r
}

func kindOf(err error) conversation.Kind {
	var e *conversation.Error
	errors.As(err, &e)
	if e == nil {
		return ""
	}
	return e.Kind
}

// words are the texts of what is left, a message a line, with calls and results by their ids.
func words(messages []provider.InputMessage) []string {
	var out []string
	for i := range messages {
		line := messages[i].Role.String() + ":"
		for _, p := range messages[i].Parts {
			switch p.Kind {
			case conversation.PartText:
				line += " " + p.Text.Inline
			case conversation.PartToolCall:
				line += " " + p.Call.Name + "#" + p.Call.CallID
			case conversation.PartToolResult:
				line += " " + p.Result.CallID + "=" + p.Result.Text.Inline
			case conversation.PartReasoning:
				line += " (" + p.Reasoning.Text.Inline + ")"
			}
		}
		out = append(out, line)
	}
	return out
}

func TestFind_List_GoesOnBehindTheRecord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		record, list []conversation.Message
		rest         []string
		matched      int
	}{
		{name: "nothing on record", list: []conversation.Message{user(text("hi"))}, rest: []string{"user: hi"}},
		{
			name: "nothing new", record: []conversation.Message{user(text("hi")), assistant(text("ho"))},
			list: []conversation.Message{user(text("hi")), assistant(text("ho"))}, matched: 2,
		},
		{
			name: "the same words again", record: []conversation.Message{user(text("yes"))},
			list: []conversation.Message{user(text("yes")), user(text("yes"))}, rest: []string{"user: yes"}, matched: 1,
		},
		{
			name: "a part more", record: []conversation.Message{user(text("yes"))},
			list: []conversation.Message{user(text("yes"), text("no"))}, rest: []string{"user: no"},
		},
		{
			name: "merged neighbors", record: []conversation.Message{user(text("a")), user(text("b")), assistant(text("c"))},
			list: []conversation.Message{user(text("a\n\nb")), assistant(text("c")), user(text("d"))}, rest: []string{"user: d"}, matched: 2,
		},
		{
			name: "split replies", record: []conversation.Message{user(text("q")), assistant(text("one two"), call("x", "f", `{"a":1,"b":2}`))},
			list:    []conversation.Message{user(text("q")), assistant(text("one")), assistant(text("two")), assistant(call("y", "f", `{"b": 2, "a": 1.0}`)), tool(result("y", "r"))},
			rest:    []string{"tool: x=r"},
			matched: 4,
		},
		{
			name: "reasoning dropped", record: []conversation.Message{user(text("q")), assistant(reasoning("hm"), text("a"))},
			list: []conversation.Message{user(text("q")), assistant(text("a")), user(text("b"))}, rest: []string{"user: b"}, matched: 2,
		},
		{
			name: "reasoning kept, and of what is new", record: []conversation.Message{user(text("q"))},
			list:    []conversation.Message{user(text("q")), assistant(reasoning("hm"), call("x", "f", "{}"))},
			rest:    []string{"assistant: (hm) f#x"},
			matched: 1,
		},
		{
			name: "one result more, in another order", record: []conversation.Message{assistant(call("x", "f", "1"), call("y", "g", "2")), tool(result("y", "b"))},
			list:    []conversation.Message{assistant(call("p", "f", "1"), call("q", "g", "2")), tool(result("p", "a")), tool(result("q", "b"))},
			rest:    []string{"tool: x=a"},
			matched: 2,
		},
		{
			name: "results as JSON", record: []conversation.Message{assistant(call("x", "f", "1")), tool(result("x", `{"b":1,"a":[true]}`)), assistant(text("z"))},
			list: []conversation.Message{assistant(call("x", "f", "1")), tool(result("x", `{"result": {"a": [true], "b": 1}}`)), assistant(text("z"))}, matched: 3,
		},
		{
			name:   "ids used again",
			record: []conversation.Message{assistant(call("x", "f", "1")), tool(result("x", "a")), assistant(call("x", "f", "1"))},
			list:   []conversation.Message{assistant(call("x", "f", "1")), tool(result("x", "a")), assistant(call("x", "f", "1")), tool(result("x", "a"))},
			rest:   []string{"tool: x=a"}, matched: 3,
		},
		{
			name:   "the newest reply in other words",
			record: []conversation.Message{user(text("q")), assistant(text("long"), call("x", "f", "1"))},
			list:   []conversation.Message{user(text("q")), assistant(text("short"), call("x", "f", "1")), tool(result("x", "a"))},
			rest:   []string{"tool: x=a"}, matched: 2,
		},
		{
			name:   "words of replies with calls dropped",
			record: []conversation.Message{user(text("q")), assistant(text("long"), call("x", "f", "1")), tool(result("x", "a")), assistant(text("z"))},
			list:   []conversation.Message{user(text("q")), assistant(call("x", "f", "1")), tool(result("x", "a")), assistant(text("z")), user(text("b"))},
			rest:   []string{"user: b"}, matched: 4,
		},
		{
			name:   "front cut off",
			record: []conversation.Message{user(text("q")), assistant(text("a")), user(text("r")), assistant(text("b"))},
			list:   []conversation.Message{user(text("r")), assistant(text("b")), user(text("s"))},
			rest:   []string{"user: s"}, matched: 2,
		},
		{
			name:   "a user who says what formats say",
			record: []conversation.Message{user(text("q")), assistant(text("a"))},
			list:   []conversation.Message{user(text("q")), assistant(text("a")), user(text("Continue."))},
			rest:   []string{"user: Continue."}, matched: 2,
		},
		{
			name:   "what formats say",
			record: []conversation.Message{assistant(text("q")), assistant(call("x", "f", "1")), assistant(text("b"))},
			list: []conversation.Message{
				user(text("[Conversation continues.]")), assistant(text("q")), user(text("Continue.")), assistant(call("x", "f", "1")),
				tool(result("x", "[No result: the call was never answered.]")), assistant(text("b")), user(text("c")),
			},
			rest: []string{"user: c"}, matched: 6,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := find(t, query(recorded(c.record...), given(c.list...)))
			if got := words(r.Rest); !slices.Equal(got, c.rest) || r.Matched != c.matched || r.Rewind != -1 {
				t.Errorf("got %q, %d matched, rewind %d; want %q, %d matched", got, r.Matched, r.Rewind, c.rest, c.matched)
			}
		})
	}
}

func TestFind_List_IsRefused(t *testing.T) {
	t.Parallel()
	record := []conversation.Message{user(text("q")), assistant(text("a")), user(text("yes")), assistant(text("b")), user(text("yes"))}
	for _, c := range []struct {
		name    string
		list    []conversation.Message
		kind    conversation.Kind
		at, msg int32
	}{
		{name: "empty", kind: conversation.HistoryDiverged},
		{name: "another", list: []conversation.Message{user(text("x")), user(text("y"))}, kind: conversation.HistoryDiverged},
		{name: "shorter", list: []conversation.Message{user(text("q")), assistant(text("a"))}, kind: conversation.HistoryDiverged, at: 2, msg: 2},
		{name: "edited", list: []conversation.Message{user(text("q")), assistant(text("a")), user(text("no"))}, kind: conversation.HistoryDiverged, at: 2, msg: 2},
		{name: "longer words", list: []conversation.Message{user(text("q")), assistant(text("ab"))}, kind: conversation.HistoryDiverged, at: 1, msg: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := history.Find(query(recorded(record...), given(c.list...)))
			var e *conversation.Error
			if !errors.As(err, &e) || e.Kind != c.kind {
				t.Fatalf("got %v, want %s", err, c.kind)
			}
			if e.Divergence != nil && *e.Divergence != (conversation.Divergence{Element: c.at, Message: c.msg}) {
				t.Errorf("at %+v, want element %d, message %d", *e.Divergence, c.at, c.msg)
			}
		})
	}
}

func TestFind_CutFront_OfRepeatsIsAmbiguous(t *testing.T) {
	t.Parallel()
	record := recorded(user(text("q")), user(text("yes")), assistant(text("b")), user(text("yes")), assistant(text("b")))
	list := given(user(text("yes")), assistant(text("b")), user(text("yes")), assistant(text("b")), user(text("yes")))
	if _, err := history.Find(query(record, list)); kindOf(err) != conversation.HistoryAmbiguous {
		t.Errorf("got %v", err)
	}
	if r := find(t, query(record, given(user(text("yes")), assistant(text("b")), user(text("no"))))); len(r.Rest) != 1 {
		t.Errorf("one reading, and got %q", words(r.Rest))
	}
}

func TestFind_CutFront_OrAnEditIsAmbiguous(t *testing.T) {
	t.Parallel()
	record := recorded(user(text("yes")), assistant(text("a")), user(text("yes")))
	for _, rewind := range []bool{false, true} {
		q := query(record, given(user(text("yes"))))
		q.Rewind = rewind
		if _, err := history.Find(q); kindOf(err) != conversation.HistoryAmbiguous {
			t.Errorf("rewind %v: got %v", rewind, err)
		}
	}
}

func TestFind_Rewind_OtherWordsOfAReplyNeedItsCalls(t *testing.T) {
	t.Parallel()
	record := recorded(user(text("q")), assistant(text("yes")), assistant(text("no")), assistant(call("x", "f", "1")))
	q := query(record, given(user(text("q")), assistant(text("other"))))
	q.Rewind = true
	if r := find(t, q); r.Rewind != 1 || !slices.Equal(words(r.Rest), []string{"assistant: other"}) {
		t.Errorf("rewind %d, rest %q", r.Rewind, words(r.Rest))
	}
}

func TestFind_Rewind_KeepsWhatAgrees(t *testing.T) {
	t.Parallel()
	record := []conversation.Message{
		user(text("q")), assistant(call("x", "f", "1"), call("y", "f", "2")), tool(result("y", "b")), tool(result("x", "a")), assistant(text("z")),
	}
	for _, c := range []struct {
		name   string
		list   []conversation.Message
		rewind int32
		rest   []string
	}{
		{name: "regenerate", list: record[:4], rewind: 4},
		{
			name: "edited result", list: []conversation.Message{record[0], record[1], tool(result("x", "a")), tool(result("y", "c")), user(text("?"))},
			rewind: 2, rest: []string{"tool: x=a", "tool: y=c", "user: ?"},
		},
		{name: "edited reply", list: []conversation.Message{record[0], assistant(text("no"))}, rewind: 1, rest: []string{"assistant: no"}},
		{name: "shorter by a result", list: []conversation.Message{record[0], record[1], tool(result("y", "b"))}, rewind: 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			q := query(recorded(record...), given(c.list...))
			q.Rewind = true
			if r := find(t, q); r.Rewind != c.rewind || !slices.Equal(words(r.Rest), c.rest) {
				t.Errorf("rewind %d, rest %q; want %d, %q", r.Rewind, words(r.Rest), c.rewind, c.rest)
			}
		})
	}
	q := query(recorded(record...), given(user(text("other"))))
	q.Rewind = true
	if _, err := history.Find(q); kindOf(err) != conversation.HistoryDiverged {
		t.Errorf("a list that begins otherwise: %v", err)
	}
}

func TestFind_Known_GoesOnFromThere(t *testing.T) {
	t.Parallel()
	record := recorded(user(text("q")), assistant(text("a")), user(text("r")))[1:]
	q := query(record, given(assistant(text("a")), user(text("r")), user(text("r"))))
	q.Known = true
	if r := find(t, q); !slices.Equal(words(r.Rest), []string{"user: r"}) {
		t.Errorf("rest %q", words(r.Rest))
	}
	q.List = given(user(text("r")))
	if _, err := history.Find(q); kindOf(err) != conversation.HistoryDiverged {
		t.Errorf("what is left of a known prefix is no cut front: %v", err)
	}
	q.Rewind = true
	if r := find(t, q); r.Rewind != 1 || !slices.Equal(words(r.Rest), []string{"user: r"}) {
		t.Errorf("rewind %d, rest %q", r.Rewind, words(r.Rest))
	}
}

func TestFind_View_IsTheRecord(t *testing.T) {
	t.Parallel()
	record := recorded(user(text("q")), assistant(call("x", "f", "1")), tool(result("x", "long")), assistant(text("a")), user(text("r")), assistant(text("b")))
	shown := result("x", "short")
	shown.Result.Ordinal = 1
	record[2].Parts[0].Forms = append(slices.Clip(record[2].Parts[0].Forms), shown)
	summary := history.Entry{Index: -1, Role: conversation.RoleAssistant, Parts: []history.Part{{Forms: []conversation.Part{text("in short")}}}}
	view := append([]history.Entry{record[0], summary}, record[4:]...)

	q := query(record, given(user(text("q")), assistant(call("call_1", "f", "1")), tool(result("call_1", "short")), assistant(text("a")), user(text("r")), assistant(text("b")), user(text("s"))))
	if r := find(t, q); !slices.Equal(words(r.Rest), []string{"user: s"}) {
		t.Errorf("a short form: rest %q", words(r.Rest))
	}
	q = query(record, given(user(text("q")), assistant(text("in short")), user(text("r")), assistant(text("b")), user(text("s"))))
	if _, err := history.Find(q); kindOf(err) != conversation.HistoryDiverged {
		t.Errorf("what no build has shown: %v", err)
	}
	q.Views = views(view)
	if r := find(t, q); !slices.Equal(words(r.Rest), []string{"user: s"}) {
		t.Errorf("a view: rest %q", words(r.Rest))
	}
	q.List, q.Rewind = given(user(text("q")), assistant(text("in short")), user(text("r")), assistant(text("c"))), true
	if r := find(t, q); r.Rewind != 5 || !slices.Equal(words(r.Rest), []string{"assistant: c"}) {
		t.Errorf("an edited view: rewind %d, rest %q", r.Rewind, words(r.Rest))
	}
}

func views(tapes ...[]history.Entry) iter.Seq2[[]history.Entry, error] {
	return func(yield func([]history.Entry, error) bool) {
		for _, tape := range tapes {
			if !yield(tape, nil) {
				return
			}
		}
	}
}
