package history_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/history"
)

// TestFind_AnyFramework_NothingIsDoubledOrLost grows a conversation of few different words, lets a framework have its way with the list, and holds
// what the reading comes to against what happened.
func TestFind_AnyFramework_NothingIsDoubledOrLost(t *testing.T) {
	t.Parallel()
	proptest.CheckN(t, 400, func(t *rapid.T) {
		happened := conversations("Continue.").Draw(t, "happened")
		known := rapid.IntRange(0, len(happened)).Draw(t, "on record")
		record := recorded(happened[:known]...)
		f := frameworks().Draw(t, "framework")
		list, front := f.list(t, happened)
		q := query(record, given(list...))
		r, err := history.Find(q)
		switch {
		case kindOf(err) == conversation.HistoryAmbiguous && front > 0 && front < known:
			if n := readings(record, list); n < 2 {
				t.Fatalf("refused as ambiguous, and there are %d readings:\n%s\nwas:\n%s", n, normal(list), normal(happened[:known]))
			}
			return
		case err != nil && front >= known && known > 0:
			return // nothing of the record is in the list
		case err != nil:
			t.Fatalf("a list of what happened is refused: %v", err)
		case r.Rewind != -1:
			t.Fatal("it takes something back, and was not asked to")
		}
		got := slices.Clone(happened[:known])
		for i := range r.Rest {
			got = append(got, r.Rest[i].Message)
		}
		want := happened
		if strings.HasPrefix(normal(list)+"\n", normal(happened[:known])+"\n") {
			want = list // a list that begins as the record does is not taken for one whose front was cut off
		}
		if a, b := normal(got), normal(want); a != b && (front == 0 || front < known) {
			t.Fatalf("on record then:\n%s\nhappened:\n%s", a, b)
		}
	})
}

// TestFind_AnyEdit_IsTheRecordThen edits what happened anywhere, and allows the record to be rewound.
func TestFind_AnyEdit_IsTheRecordThen(t *testing.T) {
	t.Parallel()
	proptest.CheckN(t, 400, func(t *rapid.T) {
		happened := conversations().Draw(t, "happened")
		kept := rapid.IntRange(0, len(happened)).Draw(t, "kept")
		edited := slices.Concat(happened[:kept], conversations().Draw(t, "instead"))
		list, _ := (&framework{}).list(t, edited)
		q := query(recorded(happened...), given(list...))
		q.Rewind = true
		r, err := history.Find(q)
		if err != nil {
			if kept > 0 && kindOf(err) != conversation.HistoryAmbiguous {
				t.Fatalf("the first message agrees, and it is refused: %v", err)
			}
			return
		}
		stands := happened
		if r.Rewind == 0 && len(happened) > 0 {
			t.Fatal("nothing is left of the record")
		}
		if r.Rewind > 0 {
			stands = happened[:r.Rewind]
		}
		got := slices.Clone(stands)
		for i := range r.Rest {
			got = append(got, r.Rest[i].Message)
		}
		if a, b := normal(withoutSideWords(got)), normal(withoutSideWords(edited)); a != b && !strings.HasSuffix(a, b) {
			t.Fatalf("on record then:\n%s\nthe list:\n%s\nwas:\n%s", a, b, normal(happened))
		}
	})
}

// withoutSideWords are messages without what the assistant says beside calls: a list with other words there, or none, is the same.
func withoutSideWords(messages []conversation.Message) []conversation.Message {
	out := slices.Clone(messages)
	for first := 0; first < len(out); {
		end, calls := first, false
		for ; end < len(out) && out[end].Role == conversation.RoleAssistant; end++ {
			calls = calls || out[end].HasCalls()
		}
		for i := first; i < end && calls; i++ {
			out[i].Parts = slices.DeleteFunc(slices.Clone(out[i].Parts), func(p conversation.Part) bool { return p.Kind == conversation.PartText })
		}
		first = max(end, first+1)
	}
	return out
}

// readings is how many ends of the record the list may begin with, and go on behind otherwise; or it may be one that was edited.
func readings(record []history.Entry, list []conversation.Message) int {
	rests := map[string]bool{}
	for k := range record {
		q := query(record[k:], given(list...))
		q.Known = true // so that no end of this end is looked for
		r, err := history.Find(q)
		switch {
		case err == nil:
			rests[strings.Join(words(r.Rest), "\n")] = true
		case k == 0 && agreement(err) > 0:
			rests["an edit"] = true
		}
	}
	return len(rests)
}

func agreement(err error) int32 {
	var e *conversation.Error
	if !errors.As(err, &e) || e.Divergence == nil {
		return 0
	}
	return e.Divergence.Message
}

// conversations are of few words, so that much of them repeats.
func conversations(more ...string) *rapid.Generator[[]conversation.Message] {
	said := rapid.SampledFrom(append(more, "yes", "no", "go on", "yes"))
	return rapid.Custom(func(t *rapid.T) []conversation.Message {
		var out []conversation.Message
		for range rapid.IntRange(0, 6).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0, 1:
				out = append(out, user(text(said.Draw(t, "user"))))
			case 2:
				out = append(out, assistant(reasoning("hm"), text(said.Draw(t, "assistant"))))
			default:
				out = append(out, calls(t, said)...)
			}
		}
		return out
	})
}

// calls are a reply with calls, and their results in any order. Ids are used again.
func calls(t *rapid.T, said *rapid.Generator[string]) []conversation.Message {
	n := rapid.IntRange(1, 3).Draw(t, "calls")
	var asked []conversation.Part
	if rapid.Bool().Draw(t, "words") {
		asked = append(asked, text(said.Draw(t, "assistant")))
	}
	results := make([]conversation.Message, n)
	for i := range n {
		id := fmt.Sprintf("c%d", i)
		asked = append(asked, call(id, "f", fmt.Sprintf(`{"a": %d, "b": [1.5, "x"]}`, rapid.IntRange(1, 2).Draw(t, "argument"))))
		results[i] = tool(result(id, rapid.SampledFrom([]string{"ok", `{"n": 1, "m": "x"}`, "[]"}).Draw(t, "result")))
	}
	out := []conversation.Message{assistant(asked...)}
	for _, i := range rapid.Permutation([]int{0, 1, 2}[:n]).Draw(t, "order") {
		out = append(out, results[i])
	}
	return out
}

// framework is what one does to a list.
type framework struct{ Merge, Split, Reason, IDs, Keys, Space, Cut, Words bool }

func frameworks() *rapid.Generator[*framework] { return rapid.Ptr(rapid.Make[framework](), false) }

func (f *framework) list(t *rapid.T, happened []conversation.Message) (list []conversation.Message, front int) {
	if f.Cut && len(happened) > 0 {
		front = rapid.IntRange(0, len(happened)-1).Draw(t, "front")
	}
	for i := range happened[front:] {
		m := happened[front+i]
		m.Parts = f.parts(conversation.CloneParts(m.Parts))
		last := len(list) - 1
		switch {
		case f.Merge && last >= 0 && list[last].Role == m.Role:
			list[last].Parts = append(list[last].Parts, m.Parts...)
		case f.Split:
			for p := range m.Parts {
				part := m
				part.Parts = m.Parts[p : p+1 : p+1]
				list = append(list, part)
			}
		default:
			list = append(list, m)
		}
	}
	if f.IDs {
		rewriteIDs(list)
	}
	return list, front
}

func (f *framework) parts(parts []conversation.Part) []conversation.Part {
	var out []conversation.Part
	for _, p := range parts {
		switch {
		case f.Reason && p.Kind == conversation.PartReasoning:
			continue
		case f.Space && p.Kind == conversation.PartText:
			p.Text.Inline = " " + strings.ReplaceAll(p.Text.Inline, " ", "\n") + "\n"
		case f.Keys && p.Call != nil:
			p.Call.Arguments.Inline = reordered(p.Call.Arguments.Inline)
		case f.Keys && p.Result != nil:
			p.Result.Text.Inline = reordered(p.Result.Text.Inline)
		}
		out = append(out, p)
	}
	return out
}

func reordered(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	out, _ := json.Marshal(v)
	return strings.ReplaceAll(string(out), ",", " , ")
}

// rewriteIDs gives every call an id of its own.
func rewriteIDs(list []conversation.Message) {
	now, n := map[string]string{}, 0
	for i := range list {
		for p := range list[i].Parts {
			switch part := &list[i].Parts[p]; {
			case part.Call != nil:
				n++
				now[part.Call.CallID] = fmt.Sprintf("call_%d", n)
				part.Call.CallID = now[part.Call.CallID]
			case part.Result != nil && now[part.Result.CallID] != "":
				part.Result.CallID = now[part.Result.CallID]
			}
		}
	}
}

// normal is what of messages counts, a segment a line.
func normal(messages []conversation.Message) string { return strings.Join(atoms(messages), "\n") }

// atoms are texts, calls and results; in a turn results are in the order of what they say, before its words.
func atoms(messages []conversation.Message) []string {
	var out, words, sets []string
	flush := func() {
		slices.Sort(sets)
		out, words, sets = slices.Concat(out, sets, words), nil, nil
	}
	asked := map[string]string{}
	was := conversation.RoleUnspecified
	for _, m := range messages {
		side := m.Role
		if side == conversation.RoleTool {
			side = conversation.RoleUser
		}
		if side != was {
			flush()
			was = side
		}
		for _, p := range m.Parts {
			switch p.Kind {
			case conversation.PartText:
				words = append(words, side.String()+" "+strings.Join(strings.Fields(p.Text.Inline), " "))
			case conversation.PartToolCall:
				asked[p.Call.CallID] = reordered(p.Call.Arguments.Inline)
				words = append(words, "call "+asked[p.Call.CallID])
			case conversation.PartToolResult:
				sets = append(sets, "result "+reordered(p.Result.Text.Inline))
			}
		}
	}
	flush()
	return out
}
