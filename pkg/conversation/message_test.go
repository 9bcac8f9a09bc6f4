package conversation_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// fill sets every pointer and gives every slice two elements, so that everything a type can hold is set.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*conversation.ContentRef]() || v.Type() == reflect.TypeFor[*conversation.ErasedContent]() {
			return // inside a content
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	}
}

// contents finds every Content that can be reached from a value.
func contents(v reflect.Value, found *[]*conversation.Content) {
	if v.Type() == reflect.TypeFor[conversation.Content]() {
		content, _ := v.Addr().Interface().(*conversation.Content)
		*found = append(*found, content)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			contents(v.Elem(), found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			contents(v.Index(i), found)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			contents(v.Field(i), found)
		}
	}
}

// fullParts returns one part of each kind, with everything that the kind can hold.
func fullParts(t *testing.T) []conversation.Part {
	t.Helper()
	all := conversation.Part{}
	fill(reflect.ValueOf(&all).Elem())
	parts := []conversation.Part{
		{Kind: conversation.PartText},
		{Kind: conversation.PartMedia, Media: all.Media},
		{Kind: conversation.PartToolCall, Call: all.Call},
		{Kind: conversation.PartToolResult, Result: all.Result},
		{Kind: conversation.PartReasoning, Reasoning: all.Reasoning},
		{Kind: conversation.PartOpaque, Opaque: all.Opaque},
	}
	// Kind selects one field of a part, so a new field needs a new kind here. These fields are common to all kinds.
	beside := []string{"Kind", "Tokens", "Estimated", "Retention", "Plugin", "Variant", "Citation", "Recalled", "Residue", "Unknown"}
	if fields := reflect.TypeFor[conversation.Part]().NumField(); fields != len(parts)+len(beside) {
		t.Fatalf("a part has %d fields: a kind is missing in this test", fields)
	}
	return parts
}

func TestContents_EveryKind_ListsEveryContent(t *testing.T) {
	parts := fullParts(t)
	var want []*conversation.Content
	for i := range parts {
		if parts[i].Kind == conversation.PartText {
			want = append(want, &parts[i].Text)
			continue
		}
		p := parts[i]
		var found []*conversation.Content
		for _, field := range []any{p.Media, p.Call, p.Result, p.Reasoning, p.Opaque} {
			contents(reflect.ValueOf(field), &found)
		}
		want = append(want, found...)
	}
	got := conversation.Contents(parts)
	if len(got) != len(want) {
		t.Fatalf("%d contents, want %d", len(got), len(want))
	}
	for _, c := range want {
		if !slices.Contains(got, c) {
			t.Errorf("a content is not listed")
		}
	}
}

func TestCloneParts_EveryKind_SharesNoContent(t *testing.T) {
	parts := fullParts(t)
	for i, c := range conversation.Contents(parts) {
		c.Inline = string(rune('a' + i))
	}
	parts[0].Residue = &conversation.Residue{JSON: "{}"}
	clone := conversation.CloneParts(parts)
	if !reflect.DeepEqual(clone, parts) {
		t.Fatal("the clone differs")
	}
	before := conversation.Contents(parts)
	for i, c := range conversation.Contents(clone) {
		if c == before[i] {
			t.Errorf("content %d is shared", i)
		}
		*c = conversation.Content{Ref: &conversation.ContentRef{}}
	}
	for i, c := range before {
		if c.Inline != string(rune('a'+i)) || c.Ref != nil {
			t.Errorf("content %d of the original changed", i)
		}
	}
	if clone[0].Residue.JSON = "[]"; parts[0].Residue.JSON != "{}" {
		t.Error("residue is shared")
	}
	clone[2].Call.Ordinal, clone[3].Result.Ordinal = 7, 7
	if parts[2].Call.Ordinal != 0 || parts[3].Result.Ordinal != 0 {
		t.Error("ordinals are shared")
	}
}

func TestContent_Lengths_WhereverItIs(t *testing.T) {
	for _, tt := range []struct {
		c            conversation.Content
		bytes, chars int64
	}{
		{conversation.Content{}, 0, 0},
		{conversation.Content{Inline: "你好"}, 6, 2},
		{conversation.Content{Inline: "a\xff\xfe"}, 3, 3}, // as bytes of media have it
		{conversation.Content{Ref: &conversation.ContentRef{Bytes: 1 << 40, Chars: 1 << 39}}, 1 << 40, 1 << 39},
		{conversation.Content{Erased: &conversation.ErasedContent{Bytes: 9, Chars: 7}}, 9, 7},
		{conversation.Content{Erased: &conversation.ErasedContent{}}, 0, 0},
	} {
		if tt.c.Bytes() != tt.bytes || tt.c.Chars() != tt.chars {
			t.Errorf("%+v: %d bytes and %d characters, want %d and %d", tt.c, tt.c.Bytes(), tt.c.Chars(), tt.bytes, tt.chars)
		}
	}
}

// TestErased_Parts_WhereverItIs: a single erased content, in whatever part, makes the parts erased.
func TestErased_Parts_WhereverItIs(t *testing.T) {
	parts := fullParts(t)
	if conversation.Erased(parts) {
		t.Error("nothing is erased")
	}
	for i, c := range conversation.Contents(parts) {
		c.Erased = &conversation.ErasedContent{}
		if !conversation.Erased(parts) {
			t.Errorf("content %d is erased", i)
		}
		c.Erased = nil
	}
}

func TestMessage_Overhead_IsWhatNoPartCarries(t *testing.T) {
	m := texts(0, "abc")
	if got := m.Overhead(); got != 4 {
		t.Errorf("overhead %d", got)
	}
	if m.HasCalls() || !script("c")[0].HasCalls() {
		t.Error("calls are not told from texts")
	}
}

func TestRole_String_Names(t *testing.T) {
	want := []string{"unspecified", "system", "user", "assistant", "tool", "unspecified"}
	for i, name := range want {
		if got := conversation.Role(i).String(); got != name {
			t.Errorf("role %d is %s, want %s", i, got, name)
		}
	}
}

func TestRange_Relations_HalfOpen(t *testing.T) {
	r := at(2, 5)
	if r.Len() != 3 || r.Contains(1) || !r.Contains(2) || !r.Contains(4) || r.Contains(5) {
		t.Error("contains")
	}
	for _, tt := range []struct {
		o                conversation.Range
		covers, overlaps bool
	}{
		{at(2, 5), true, true}, {at(3, 4), true, true}, {at(1, 3), false, true}, {at(4, 9), false, true},
		{at(0, 9), false, true}, {at(0, 2), false, false}, {at(5, 6), false, false},
	} {
		if r.Covers(tt.o) != tt.covers || r.Overlaps(tt.o) != tt.overlaps || tt.o.Overlaps(r) != tt.overlaps {
			t.Errorf("%v: covers %v, overlaps %v", tt.o, r.Covers(tt.o), r.Overlaps(tt.o))
		}
	}
}

func TestToolResult_Words_LeaveMediaOut(t *testing.T) {
	text := func(s string) conversation.Content { return conversation.Content{Inline: s} }
	for _, c := range []struct {
		result conversation.ToolResult
		want   string
	}{
		{conversation.ToolResult{Text: text("a")}, "a"},
		{conversation.ToolResult{Output: conversation.OutputParts, Text: text("a")}, ""},
		{conversation.ToolResult{Output: conversation.OutputParts, Parts: []conversation.ResultPart{
			{Text: text("a")}, {Media: &conversation.Media{}}, {Text: text("b")},
		}}, "a\nb"},
	} {
		if got := c.result.Words(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
