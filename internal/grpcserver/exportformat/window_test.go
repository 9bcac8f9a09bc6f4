package exportformat

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// summarized is a complete export of four messages, a summary of two, one that takes it up, and a rewind.
func summarized(t testing.TB) []string {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out)
	text := func(s string) conversation.Content { return conversation.Content{Inline: s} }
	records := []engine.Record{{Conversation: &engine.Conversation{Head: engine.Head{Version: 9, Messages: 4, EditSeq: 3, Request: 3}}}}
	for i := range int32(4) {
		records = append(records, engine.Record{Message: &conversation.Message{
			Index: i, Role: conversation.RoleUser, Parts: []conversation.Part{{Kind: conversation.PartText, Text: text("hello")}},
		}})
	}
	for i, e := range []conversation.Edit{
		{Kind: conversation.EditSummarize, Range: conversation.Range{End: 2}, Summary: &conversation.Summary{ID: 3, Text: text("one")}},
		{Kind: conversation.EditSummarize, Range: conversation.Range{End: 4}, Summary: &conversation.Summary{
			ID: 4, Level: 1, Children: []int64{3}, Text: text("both"), Tokens: 2, Except: []conversation.Range{{First: 2, End: 3}},
			Verbatim: []conversation.Range{{First: 2, End: 3}},
			Facts:    text(`{"body":4,"facts":[]}`), Model: "openai/m", Recorded: 9, Erased: true,
		}},
		{Kind: conversation.EditHide, Range: conversation.Range{First: 3, End: 4}},
	} {
		e.Seq = int64(i) + 1
		records = append(records, engine.Record{Edit: &e})
	}
	for _, r := range records {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func TestReader_Summaries_RoundTrip(t *testing.T) {
	records, err := readAll(strings.Join(summarized(t), "") + "\n")
	if err != nil {
		t.Fatal(err)
	}
	got := records[6].Edit.Summary
	text := func(s string) conversation.Content { return conversation.Content{Inline: s} }
	if diff := cmp.Diff(&conversation.Summary{
		ID: 4, Level: 1, Children: []int64{3}, Text: text("both"), Tokens: 2, Except: []conversation.Range{{First: 2, End: 3}},
		Verbatim: []conversation.Range{{First: 2, End: 3}},
		Facts:    text(`{"body":4,"facts":[]}`), Model: "openai/m", Recorded: 9, Erased: true,
	}, got); diff != "" {
		t.Error(diff)
	}
}

func TestReader_HostileSummary_IsRefusedByField(t *testing.T) {
	const first, second = 7, 8 // lines of the summaries
	for name, c := range map[string]struct {
		line     int
		old, new string
		field    string
	}{
		"no id":                   {first, `"id":3`, `"id":0`, "id"},
		"the same id":             {second, `"id":4`, `"id":3`, "id"},
		"level":                   {first, `"level":0`, `"level":-1`, "level"},
		"tokens":                  {first, `"tokens":0`, `"tokens":-1`, "tokens"},
		"recorded":                {second, `"tokensRecorded":9`, `"tokensRecorded":-9`, "tokensRecorded"},
		"its own child":           {second, `"children":[3]`, `"children":[3,4]`, "children[1]"},
		"a later child":           {first, `"id":3`, `"id":3,"children":[4]`, "children[0]"},
		"a child of others":       {second, `"range":{"start":0`, `"range":{"start":1`, "children[0]"},
		"what is verbatim beside": {second, `"verbatim":[{"start":2,"end":3}`, `"verbatim":[{"start":2,"end":5}`, "verbatim[0]"},
		"an exception beside":     {second, `"except":[{"start":2,"end":3}`, `"except":[{"start":2,"end":5}`, "except[0]"},
		"an empty exception":      {second, `"except":[{"start":2,"end":3}`, `"except":[{"start":3,"end":3}`, "except[0]"},
		"facts, no JSON":          {second, `"factsJson":"{`, `"factsJson":"`, "factsJson"},
		"text there":              {second, `"text":"both"`, `"text":"both","erased":` + erased, "erased.originalLengthBytes"},
		"facts there":             {second, `"tokensRecorded"`, `"factsErased":` + erased + `,"tokensRecorded"`, "factsErased.originalLengthBytes"},
		"another content":         {first, `"text":"one"`, `"text":"","erased":` + strings.Replace(erased, ":0", ":1", 1), "erased.content"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := summarized(t)
			changed := strings.Replace(lines[c.line-1], c.old, c.new, 1)
			if changed == lines[c.line-1] {
				t.Fatal("the case changes nothing")
			}
			lines[c.line-1] = changed
			_, err := readAll(strings.Join(lines, "") + "\n")
			var fault *FaultError
			if !errors.As(err, &fault) || fault.Line != c.line || fault.Field != "edit.summary."+c.field {
				t.Errorf("got %#v", err)
			}
		})
	}
}

// TestReader_ErasedSummary_IsRead: of the text and of the facts, what is left of either comes back.
func TestReader_ErasedSummary_IsRead(t *testing.T) {
	lines := summarized(t)
	lines[6] = strings.Replace(lines[6], `"text":"one"`, `"text":"","erased":`+erased+`,"factsErased":`+erased, 1)
	records, err := readAll(strings.Join(lines, "") + "\n")
	if err != nil {
		t.Fatal(err)
	}
	left := conversation.Content{Erased: &conversation.ErasedContent{Bytes: 2, Chars: 1}}
	if s := records[5].Edit.Summary; !cmp.Equal(s.Text, left) || !cmp.Equal(s.Facts, left) {
		t.Errorf("got %+v", s)
	}
}

// TestWriter_EmptyNames_AreNotAbsent: no tool is protected, or nothing is said of it.
func TestWriter_EmptyNames_AreNotAbsent(t *testing.T) {
	for want, list := range map[string]*[]string{
		``: nil, `"pruning":{"protectedTools":[]},"citations":{"recallTools":[]},"deduplication":{"excludedTools":[]}`: new([]string),
		`"pruning":{"protectedTools":["a"]},"citations":{"recallTools":["a"]},"deduplication":{"excludedTools":["a"]}`: {"a"},
	} {
		out, err := json.Marshal(copied[policyLine](newCopier(false), &conversation.Policy{
			Pruning: conversation.PruningPolicy{ProtectedTools: list}, Citations: conversation.CitationsPolicy{RecallTools: list},
			Deduplication: conversation.DeduplicationPolicy{ExcludedTools: list},
		}))
		if err != nil || string(out) != "{"+want+"}" {
			t.Fatalf("%s, %v", out, err)
		}
		var l policyLine
		if err := json.Unmarshal(out, &l); err != nil {
			t.Fatal(err)
		}
		policy := copied[conversation.Policy](newCopier(true), &l)
		if got := policy.Pruning.ProtectedTools; (got == nil) != (list == nil) || got != nil && !slices.Equal(*got, *list) {
			t.Errorf("%s comes back as %v", out, got)
		}
		if got := policy.Citations.RecallTools; (got == nil) != (list == nil) || got != nil && !slices.Equal(*got, *list) {
			t.Errorf("%s comes back as %v", out, got)
		}
		if got := policy.Deduplication.ExcludedTools; (got == nil) != (list == nil) || got != nil && !slices.Equal(*got, *list) {
			t.Errorf("%s comes back as %v", out, got)
		}
	}
}
