package conversation_test

import (
	"slices"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func words(s string, tokens int32) conversation.Part {
	return conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: s}, Tokens: tokens}
}

func correct(seq int64, index, part int32, s string) conversation.Edit {
	return conversation.Edit{Seq: seq, Kind: conversation.EditCorrect, Range: at(index, index+1), Parts: []conversation.PartEdit{{Part: part, Shown: words(s, 5)}}}
}

func form(part int32, level conversation.Level, shown conversation.Part) conversation.PartEdit {
	return conversation.PartEdit{Part: part, Level: level, Shown: shown}
}

func parts(seq int64, forms ...conversation.PartEdit) conversation.Edit {
	return conversation.Edit{Seq: seq, Kind: conversation.EditParts, Range: at(0, 1), Parts: forms}
}

// toldOf returns what a view shows of a message, part by part.
func toldOf(v *conversation.View, m *conversation.Message) (out []string, level conversation.Level) {
	it, shown := v.Item(v.Corrected(m))
	if !shown {
		return nil, it.Level
	}
	for _, p := range it.Parts {
		out = append(out, p.Text.Inline)
	}
	return out, it.Level
}

// TestView_Correct_Forms: forms made from the old words are dropped, and no others.
func TestView_Correct_Forms(t *testing.T) {
	const short, cleared = conversation.Shortened, conversation.Cleared
	result := conversation.Part{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{Text: conversation.Content{Inline: "r"}}}
	m := &conversation.Message{Role: conversation.RoleUser, Parts: []conversation.Part{words("a", 9), words("b", 9), result}, Tokens: 27}
	none := conversation.Part{}
	for _, tt := range []struct {
		name  string
		edits []conversation.Edit
		want  []string
		level conversation.Level
	}{
		{"nothing before", []conversation.Edit{correct(1, 0, 1, "c")}, []string{"a", "c", ""}, conversation.Full},
		{"again", []conversation.Edit{correct(1, 0, 1, "c"), correct(2, 0, 1, "d"), correct(3, 0, 0, "e")}, []string{"e", "d", ""}, conversation.Full},
		{"words that were shortened as one", []conversation.Edit{parts(1, form(0, short, words("ab", 1)), form(1, short, none)), correct(2, 0, 1, "c")}, []string{"a", "c", ""}, conversation.Full},
		{"a result beside them", []conversation.Edit{parts(1, form(2, short, result)), correct(2, 0, 1, "c")}, []string{"a", "c", ""}, short},
		{"shortened after it", []conversation.Edit{correct(1, 0, 1, "c"), parts(2, form(0, short, words("ac", 1)), form(1, short, none))}, []string{"ac", ""}, short},
		{"all but what is kept is gone", []conversation.Edit{parts(1, form(0, cleared, none), form(1, cleared, none)), correct(2, 0, 1, "c")}, []string{""}, cleared},
		{"brought back", []conversation.Edit{correct(1, 0, 1, "c"), parts(2, form(1, short, words("x", 1))), ranged(3, conversation.EditRestore, 0, 1)}, []string{"a", "c", ""}, conversation.Full},
		{"masked", []conversation.Edit{mask(1, 0, 1), correct(2, 0, 1, "c")}, []string{"a", ""}, conversation.Full},
		{"removed", []conversation.Edit{ranged(1, conversation.EditRemove, 0, 1), correct(2, 0, 1, "c")}, nil, conversation.Removed},
		{"another kind", []conversation.Edit{correct(1, 0, 2, "c")}, []string{"a", "b", ""}, conversation.Full},
		{"no such part", []conversation.Edit{correct(1, 0, 7, "c")}, []string{"a", "b", ""}, conversation.Full},
	} {
		v := fold(tt.edits...)
		if got, level := toldOf(v, m); !slices.Equal(got, tt.want) || level != tt.level {
			t.Errorf("%s: %q at level %d, want %q at %d", tt.name, got, level, tt.want, tt.level)
		}
		if again := v.Corrected(v.Corrected(m)); again.Tokens != v.Corrected(m).Tokens || m.Parts[1].Text.Inline != "b" {
			t.Errorf("%s: correcting twice weighs %d", tt.name, again.Tokens)
		}
	}
	if got := fold(correct(1, 0, 1, "c")).Corrected(m).Tokens; got != 23 {
		t.Errorf("%d tokens", got)
	}
}

// TestView_Correct_Summaries: a summary made over the message dissolves, whether it stands for the message or not. Its children over other
// messages are in force again, and a summary made later stays.
func TestView_Correct_Summaries(t *testing.T) {
	summary := func(seq int64, first, end int32, children ...int64) conversation.Edit {
		e := ranged(seq, conversation.EditSummarize, first, end)
		e.Summary = &conversation.Summary{ID: seq, Children: children}
		return e
	}
	excepting := summary(1, 0, 4)
	excepting.Summary.Except = []conversation.Range{at(2, 3)}
	for _, tt := range []struct {
		name  string
		edits []conversation.Edit
		want  []int64
	}{
		{"over it", []conversation.Edit{summary(1, 0, 4), correct(2, 2, 0, "c")}, nil},
		{"that excepts it", []conversation.Edit{excepting, correct(2, 2, 0, "c")}, nil},
		{"behind and before it", []conversation.Edit{summary(1, 0, 2), summary(2, 3, 5), correct(3, 2, 0, "c")}, []int64{1, 2}},
		{"children", []conversation.Edit{summary(1, 0, 2), summary(2, 2, 4), summary(3, 0, 4, 1, 2), correct(4, 3, 0, "c")}, []int64{1}},
		{"made later", []conversation.Edit{summary(1, 0, 4), correct(2, 2, 0, "c"), summary(3, 0, 4)}, []int64{3}},
	} {
		var got []int64
		v := fold(tt.edits...)
		for _, e := range v.Summaries() {
			got = append(got, e.Summary.ID)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v stand, want %v", tt.name, got, tt.want)
		}
	}
}
