package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// isLate reports whether a build shows a call as unanswered, or a result as late.
func isLate(r *engine.BuildResult) bool {
	return slices.ContainsFunc(r.Decisions, func(d conversation.Decision) bool {
		return d.Reason == conversation.ReasonCallNeverAnswered || d.Reason == conversation.ReasonResultLate
	})
}

// TestEngine_Build_LateResult_StandsBesideItsCall: a result that comes behind other messages is shown next to its call, in every format,
// unless a build has shown the call as unanswered.
func TestEngine_Build_LateResult_StandsBesideItsCall(t *testing.T) {
	for _, tt := range []struct {
		name     string
		messages []conversation.Message
		before   []string // texts, each of which stands before the next
	}{
		{"the user's words between", []conversation.Message{user("a"), call("1", "2"), result("1", "it is A"), user("also do X"), result("2", "it is B")}, []string{"it is A", "it is B", "also do X"}},
		{"nothing answered before", []conversation.Message{user("a"), call("1"), user("also do X"), result("1", "it is A")}, []string{"it is A", "also do X"}},
		{"several, in any order", []conversation.Message{call("1", "2", "3"), user("also do X"), result("3", "it is C"), result("1", "it is A"), user("and Y"), result("2", "it is B")}, []string{"it is B", "also do X", "and Y"}},
		{"the assistant's words between", []conversation.Message{user("a"), call("1"), user("also do X"), answer("so be it"), user("and?"), result("1", "it is A")}, []string{"it is A", "also do X", "so be it", "and?"}},
		{"other calls between", []conversation.Message{user("a"), call("1"), user("also do X"), call("2"), result("1", "it is A"), result("2", "it is B")}, []string{"it is A", "also do X", "it is B"}},
		{"in one message with another's", []conversation.Message{user("a"), call("1"), user("also do X"), call("2"), results2("2", "it is B", "1", "it is A")}, []string{"it is A", "also do X", "it is B"}},
		{"of two units", []conversation.Message{call("1"), user("X"), call("2"), user("also do Y"), results2("2", "it is B", "1", "it is A"), user("Z")}, []string{"it is A", "it is B", "also do Y"}},
		{"a system message between", []conversation.Message{user("a"), call("1"), text(conversation.RoleSystem, "be brief"), result("1", "it is A")}, []string{"it is A", "be brief"}},
		{"pinned", []conversation.Message{user("a"), pinned(call("1")), user("also do X"), result("1", "it is A")}, []string{"it is A", "also do X"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, f := range allFormats {
				s := newFaulty()
				b := newBenchOn(s, 1<<20)
				for i := range tt.messages {
					b.append(t, "c", tt.messages[i])
				}
				warm := b.build(t, "c", f, 4000)
				if isLate(warm) {
					t.Errorf("format %d: decisions %+v", f, warm.Decisions)
				}
				legal(t, f, warm)
				shown, last := shownText(warm), -1
				for _, text := range tt.before {
					at := strings.Index(shown, text)
					if at <= last {
						t.Errorf("format %d: %q stands at %d in %s", f, text, at, shown)
					}
					last = at
				}
				cold := newBenchOn(s, 0).asked(t, "c", 4000, func(r *engine.BuildRequest) { r.Format, r.DryRun, r.SameTurn = f, true, true })
				if cold.SHA256 != warm.SHA256 {
					t.Errorf("format %d: cold and warm differ", f)
				}
			}
		})
	}
}

// shownText returns everything that a build shows, in order.
func shownText(r *engine.BuildResult) string {
	out := string(r.MessagesJSON)
	for i := range r.Messages {
		for _, p := range r.Messages[i].Parts {
			out += p.Text.Inline
			if p.Result != nil {
				out += p.Result.Text.Inline
			}
		}
	}
	return out
}

// results2 is a message with two results.
func results2(id, text, other, otherText string) conversation.Message {
	m := result(id, text)
	m.Parts = append(m.Parts, result(other, otherText).Parts...)
	return m
}

var validFormats = map[conversation.Format]validate.Format{
	conversation.FormatOpenAIChat: validate.OpenAIChat, conversation.FormatOpenAIResponses: validate.OpenAIResponses,
	conversation.FormatAnthropic: validate.Anthropic, conversation.FormatGemini: validate.Gemini,
}

// legal checks a context as its provider does.
func legal(t *testing.T, f conversation.Format, r *engine.BuildResult) {
	t.Helper()
	format, ok := validFormats[f]
	if !ok {
		return
	}
	found, err := validate.Check(format, r.System, r.MessagesJSON)
	if err != nil || len(found) > 0 {
		t.Errorf("format %d: %v %v: %s", f, found, err, r.MessagesJSON)
	}
}

// TestEngine_Build_LateResult_BehindABuild_StaysBehind: what a build has shown stays, so a result that comes later is shown as user text.
func TestEngine_Build_LateResult_BehindABuild_StaysBehind(t *testing.T) {
	for _, f := range allFormats {
		b := newBench(1 << 20)
		b.append(t, "c", user("a"), call("1", "2"), result("1", "it is A"), user("also do X"))
		first := b.build(t, "c", f, 4000)
		b.append(t, "c", result("2", "it is B"))
		second := b.build(t, "c", f, 4000)
		if !isLate(first) || !isLate(second) || second.Prefix.BrokenBy != 0 && f != conversation.FormatAnthropic {
			t.Errorf("format %d: broken by %d: %s", f, second.Prefix.BrokenBy, second.MessagesJSON)
		}
		b.append(t, "d", user("a"), call("1"), user("also do X"))
		b.asked(t, "d", 4000, func(r *engine.BuildRequest) { r.Format, r.DryRun = f, true })
		b.append(t, "d", result("1", "it is A"))
		if r := b.build(t, "d", f, 4000); isLate(r) {
			t.Errorf("format %d: behind a dry run: %s", f, r.MessagesJSON)
		}
	}
}

// TestEngine_Build_LateResult_LifeOfItsUnit: a result next to its call expires and is pruned, summarized, expanded, taken back and copied
// together with its call.
func TestEngine_Build_LateResult_LifeOfItsUnit(t *testing.T) {
	late := func(b *bench, t *testing.T, id string) {
		b.append(t, id, user("a"), call("1", "2"), result("1", "it is A"), user("also do X"), result("2", words(100)), answer("done"), user("and?"))
	}
	t.Run("an export", func(t *testing.T) {
		b := newBench(1 << 20)
		late(b, t, "c")
		if _, err := b.imports("copy", b.export(t, "c")); err != nil {
			t.Fatal(err)
		}
		if c, d := b.build(t, "c", conversation.FormatAnthropic, 4000), b.build(t, "copy", conversation.FormatAnthropic, 4000); c.SHA256 != d.SHA256 {
			t.Errorf("the copy shows %s", d.MessagesJSON)
		}
	})
	t.Run("a rewind and its undoing", func(t *testing.T) {
		b := newBench(1 << 20)
		late(b, t, "c")
		whole := b.build(t, "c", conversation.FormatOpenAIChat, 4000)
		b.rewound(t, "c", 4)
		if r := b.build(t, "c", conversation.FormatOpenAIChat, 4000); strings.Contains(string(r.MessagesJSON), words(100)) {
			t.Errorf("taken back: %s", r.MessagesJSON)
		}
		if _, err := b.UndoRewind(ctx, engine.UndoRewindRequest{Key: keyOf("c")}); err != nil {
			t.Fatal(err)
		}
		if r := b.build(t, "c", conversation.FormatOpenAIChat, 4000); r.SHA256 != whole.SHA256 {
			t.Errorf("undone: %s", r.MessagesJSON)
		}
	})
	t.Run("a summary, an important one, and an expansion", func(t *testing.T) {
		for _, important := range []bool{false, true} {
			for _, f := range []conversation.Format{conversation.FormatNeutral, conversation.FormatOpenAIChat} {
				b := summarizes(conversation.StrategySummarize)
				asks := call("1", "2")
				if important {
					asks.Importance = conversation.ImportanceHigh
				}
				b.append(t, "c", user("a"), asks, result("1", "it is A"), user("also do X"), result("2", "it is B"), answer("done"))
				for i := range 40 {
					b.append(t, "c", user("next "+words(60)), answer(fmt.Sprint("answer ", i)))
					if i == 39 {
						b.append(t, "c", user("last"))
					}
					r := b.asked(t, "c", 2000, func(r *engine.BuildRequest) { r.Format = f })
					legal(t, f, r)
					if strings.Contains(shownText(r), "never answered") || strings.Contains(shownText(r), "it is A") && !strings.Contains(shownText(r), "it is B") {
						t.Fatalf("format %d, build %d: %s", f, i, shownText(r))
					}
				}
				if important {
					continue
				}
				b.expanded(t, 1)
				r := b.asked(t, "c", 2000, func(r *engine.BuildRequest) { r.Format = f })
				legal(t, f, r)
				if isLate(r) || !strings.Contains(shownText(r), "it is B") {
					t.Errorf("format %d: expanded: %s", f, shownText(r))
				}
			}
		}
	})
	t.Run("an expiry", func(t *testing.T) {
		for _, f := range []conversation.Format{conversation.FormatNeutral, conversation.FormatOpenAIChat} {
			b := newEager()
			gone := removed(0)
			b.append(t, "c", user("a"), call("1", "2"), resultLiving("1", "it is A", gone), user("also do X"))
			b.append(t, "c", resultLiving("2", "it is B", gone))
			for i, shown := range []bool{true, false, false} {
				r := b.turn(t, "c", func(r *engine.BuildRequest) { r.Format = f })
				legal(t, f, r)
				if got := strings.Contains(shownText(r), "it is B"); got != shown || isLate(r) {
					t.Errorf("format %d, build %d: %s", f, i, shownText(r))
				}
				b.append(t, "c", answer(fmt.Sprint("answer ", i)), user("next"))
			}
		}
	})
	t.Run("a window that starts behind the call", func(t *testing.T) {
		for _, budget := range []int32{60, 100, 140, 180, 220, 300} {
			for _, f := range allFormats {
				b := newBench(1 << 20)
				late(b, t, "c")
				for i := range 6 {
					b.append(t, "c", answer(fmt.Sprint("answer ", i)), user("next "+words(5)))
					if r, err := b.ask("c", budget, func(r *engine.BuildRequest) { r.Format = f }); err == nil {
						legal(t, f, r)
					} else {
						expect(t, err, conversation.ContextCannotFit)
					}
				}
			}
		}
	})
}
