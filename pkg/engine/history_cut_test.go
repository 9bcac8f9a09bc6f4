package engine_test

import (
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// TestEngine_AppendHistory_BeginsWithResults: a list whose front was cut off behind calls is accepted, and these results are shown as text.
// The list goes on like others, also if it is cut further, or comes from a restarted client.
func TestEngine_AppendHistory_BeginsWithResults(t *testing.T) {
	t.Parallel()
	for f := range validFormats {
		b := listBench(nil)
		messages := []conversation.Message{
			results2("old1", "it is A", "old2", "it is B"), user("and this?"), call("k1"), result("k1", "it is C"), answer("done"), user("next"),
			call("k2", "k3"), result("k2", "it is D"), result("k3", "it is E"), answer("over"),
		}
		var list []string
		at := make([]int, len(messages)+1) // where each message begins
		for i := range messages {
			list = append(list, native(t, f, messages[i])...)
			at[i+1] = len(list)
		}
		first, err := b.appendList(t, f, list[:at[2]])
		if err != nil || len(first.Messages) == 0 {
			t.Fatalf("format %d: %v", f, err)
		}
		built := b.build(t, "c", f, 4000)
		legal(t, f, built)
		shown := shownText(built)
		for _, want := range []string{"[Late result of ", "it is A", "it is B", "and this?"} {
			if !strings.Contains(shown, want) {
				t.Errorf("format %d: %q is not in %s", f, want, shown)
			}
		}
		for _, step := range []struct{ from, to, matched int }{{0, 6, 2}, {0, 6, 6}, {3, 9, 3}, {8, 10, 1}} {
			r, err := b.appendList(t, f, list[at[step.from]:at[step.to]])
			if err != nil {
				t.Fatalf("format %d, messages %d to %d: %v", f, step.from, step.to, err)
			}
			if got, want := int(r.History.Matched), at[step.from+step.matched]-at[step.from]; got != want {
				t.Errorf("format %d, messages %d to %d: %d elements found, want %d", f, step.from, step.to, got, want)
			}
			b.append(t, "other", user("beside"))
		}
		if got, want := normal(b.visible(t)), normal(messages); got != want {
			t.Errorf("format %d: the record is\n%s\nwant\n%s", f, got, want)
		}
		last := b.build(t, "c", f, 4000)
		legal(t, f, last)
		if _, err := b.imports("copy", b.export(t, "c")); err != nil {
			t.Fatalf("format %d: %v", f, err)
		}
		if r := b.build(t, "copy", f, 4000); r.SHA256 != last.SHA256 {
			t.Errorf("format %d: a copy shows %s", f, r.MessagesJSON)
		}
	}
}

// TestEngine_AppendHistory_ResultBehindTheAssistant_IsRefused: only results before all assistant messages of the list may lack their calls,
// and no result that is appended by itself may.
func TestEngine_AppendHistory_ResultBehindTheAssistant_IsRefused(t *testing.T) {
	t.Parallel()
	b := listBench(nil)
	_, err := b.appendList(t, conversation.FormatOpenAIChat, append(chatList("a", "b"), chatElements(result("lost", "it is A"))...))
	expect(t, err, conversation.ResultWithoutCall)
	_, err = b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: []conversation.Message{result("lost", "it is A")}})
	expect(t, err, conversation.ResultWithoutCall)
}
