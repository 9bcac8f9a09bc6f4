package expiry_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
)

func said(s string) conversation.Part {
	return conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: s}}
}

func called() conversation.Part {
	return conversation.Part{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{CallID: "k"}}
}

func found(e *conversation.Expiration) conversation.Part {
	return conversation.Part{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{CallID: "k", Text: conversation.Content{Inline: "found"}, Expiration: e}}
}

// unit returns one unit of messages that were added in a turn, from an index on.
func unit(first, turn int32, messages ...conversation.Message) conversation.Unit {
	var u conversation.Unit
	for i := range messages {
		m := &messages[i]
		m.Index, m.TurnAdded = first+int32(i), turn
		u.Items = append(u.Items, conversation.Item{Message: m, Parts: m.Parts})
	}
	return u
}

func message(role conversation.Role, e *conversation.Expiration, parts ...conversation.Part) conversation.Message {
	return conversation.Message{Role: role, Expiration: e, Parts: parts}
}

// planned writes down what is due.
func planned(list []expiry.Due) string {
	var out []string
	for _, d := range list {
		kind := map[expiry.Kind]string{expiry.Compact: "compact", expiry.Clear: "clear", expiry.Remove: "remove"}[d.Kind]
		what := fmt.Sprint(d.Part)
		if d.Part == expiry.MessageText {
			what = "words"
		}
		out = append(out, fmt.Sprintf("%s %d %s since %d", kind, d.Index, what, d.Since))
	}
	return strings.Join(out, ", ")
}

func plan(turn int32, u conversation.Unit, change ...func(*expiry.Input)) string {
	in := expiry.Input{Turn: turn, Units: []conversation.Unit{u}, View: (&conversation.View{}).Fold(nil)}
	for _, c := range change {
		c(&in)
	}
	return planned(expiry.Plan(in))
}

const user, assistant, tool1 = conversation.RoleUser, conversation.RoleAssistant, conversation.RoleTool

// TestPlan_Age: a text is due when age > turns, for all values of turns (behaviour §5).
func TestPlan_Age(t *testing.T) {
	for _, tt := range []struct {
		added, turns, turn int32
		due                bool
	}{
		{1, 2, 1, false}, {1, 2, 2, false}, {1, 2, 3, false}, {1, 2, 4, true}, {1, 2, 5, true}, {0, 0, 0, false}, {0, 0, 1, true}, {7, 0, 7, false},
		{1<<31 - 3, 0, 1<<31 - 2, true}, {1<<31 - 2, 1, 1<<31 - 1, false}, {1<<31 - 1, 1_000_000, 1<<31 - 1, false}, {0, 1<<31 - 1, 1<<31 - 1, false},
	} {
		e := compact(tt.turns, conversation.CompactFirstChars, 1)
		got := plan(tt.turn, unit(0, tt.added, message(user, &e, said("x"))))
		want := ""
		if tt.due {
			want = fmt.Sprintf("compact 0 words since %d", tt.added+tt.turns+1)
		}
		if got != want {
			t.Errorf("added %d, turns %d, turn %d: %q, want %q", tt.added, tt.turns, tt.turn, got, want)
		}
	}
}

// TestPlan_Units: what is due together in a unit, and what separately.
func TestPlan_Units(t *testing.T) {
	gone, later, short := life(0, remove), life(5, remove), life(0, shorten)
	erased := life(0, remove)
	erased.PreserveOriginal = ptr(false)
	apart := func(in *expiry.Input) { in.KeepUnits = true }
	alone := func(in *expiry.Input) { in.OnlyErasures = true }
	for _, tt := range []struct {
		name   string
		u      conversation.Unit
		change []func(*expiry.Input)
		want   string
	}{
		{"nothing that expires", unit(3, 0, message(assistant, nil, called()), message(tool1, nil, found(nil))), nil, ""},
		{"nothing at all", unit(3, 0, message(assistant, nil, called())), nil, ""},
		{"a result and the call", unit(3, 0, message(assistant, nil, called()), message(tool1, nil, found(&gone))), nil, "remove 3 words since 1"},
		{"two results, one later", unit(3, 0, message(assistant, nil, called()), message(tool1, nil, found(&gone)), message(tool1, nil, found(&later))), nil, "clear 4 0 since 1"},
		{"both in one message", unit(3, 0, message(assistant, nil, called()), message(tool1, nil, found(&later), found(&gone))), nil, "clear 4 1 since 1"},
		{"one is compacted", unit(3, 0, message(assistant, nil, called()), message(tool1, nil, found(&short), found(&gone))), nil, "compact 4 0 since 1, clear 4 1 since 1"},
		{"words beside the call stay", unit(3, 0, message(assistant, nil, said("x"), called()), message(tool1, nil, found(&gone))), nil, "clear 4 0 since 1"},
		{"words that are due wait", unit(3, 0, message(assistant, &gone, said("x"), called()), message(tool1, nil, found(nil))), nil, ""},
		{"unless they are erased", unit(3, 0, message(assistant, &erased, said("x"), called()), message(tool1, nil, found(nil))), nil, "clear 3 words since 1"},
		{"words that are compacted do not wait", unit(3, 0, message(assistant, &short, said("x"), called()), message(tool1, nil, found(nil))), nil, "compact 3 words since 1"},
		{"all at once", unit(3, 0, message(assistant, &gone, said("x"), called()), message(tool1, nil, found(&gone))), nil, "remove 3 words since 1"},
		{"apart: nobody knows of the rest", unit(3, 0, message(tool1, nil, found(&erased))), []func(*expiry.Input){apart}, "clear 3 0 since 1"},
		{"erasures alone", unit(3, 0, message(tool1, nil, found(&gone), found(&erased))), []func(*expiry.Input){alone}, "clear 3 1 since 1"},
		{"erasures alone, of all", unit(3, 0, message(assistant, nil, called()), message(tool1, nil, found(&erased))), []func(*expiry.Input){alone}, "remove 3 words since 1"},
	} {
		if got := plan(1, tt.u, tt.change...); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	// The whole unit is due since the last part of it is.
	if got := plan(9, unit(3, 0, message(assistant, nil, called()), message(tool1, nil, found(&gone)), message(tool1, nil, found(&later)))); got != "remove 3 words since 6" {
		t.Error(got)
	}
}

// TestPlan_Overrides: an override in a build applies to tool results, and to messages of the types that carry results (behaviour §5). The
// policy applies to those for which nothing else sets a lifetime. disable turns everything off.
func TestPlan_Overrides(t *testing.T) {
	over := func(o conversation.ExpirationOverride) func(*expiry.Input) {
		return func(in *expiry.Input) { in.Override = &o }
	}
	short := conversation.ExpirationOverride{Expiration: life(0, shorten)}
	policy := func(in *expiry.Input) { in.Policy = life(0, shorten) }
	far, never := life(9, shorten), conversation.Expiration{Mode: conversation.ExpirationNone}
	length := conversation.Expiration{CompactLength: ptr(int32(7))}
	typed := func(kind conversation.MessageType, e *conversation.Expiration) conversation.Message {
		m := message(user, e, said("x"))
		m.Type = kind
		return m
	}
	plain := message(user, nil, said("x"))
	for _, tt := range []struct {
		name    string
		m       conversation.Message
		change  func(*expiry.Input)
		carries bool
	}{
		{"a result, by override", message(tool1, nil, found(nil)), over(short), true},
		{"a result with its own, by override", message(tool1, nil, found(&far)), over(short), true},
		{"a result that never expires, by override", message(tool1, nil, found(&never)), over(short), true},
		{"plain words, by override", plain, over(short), false},
		{"words of type ACTION_RESULT, by override", typed(conversation.TypeActionResult, nil), over(short), true},
		{"words of type SUB_AGENT_RESULT, by override", typed(conversation.TypeSubAgentResult, &far), over(short), true},
		{"words of type USER_INPUT, by override", typed(conversation.TypeUserInput, nil), over(short), false},
		{"a result, by policy", message(tool1, nil, found(nil)), policy, true},
		{"words of type ACTION_RESULT, by policy", typed(conversation.TypeActionResult, nil), policy, true},
		{"plain words, by policy", plain, policy, false},
		{"a result with its own, by policy", message(tool1, nil, found(&far)), policy, false},
		{"a result that never expires, by policy", message(tool1, nil, found(&never)), policy, false},
		{"a result that names a length alone, by policy", message(tool1, nil, found(&length)), policy, true},
		{"disabled", message(tool1, nil, found(ptr(life(0, shorten)))), over(conversation.ExpirationOverride{Disable: true, Expiration: life(0, shorten)}), false},
	} {
		if got := plan(1, unit(0, 0, tt.m), tt.change); (got != "") != tt.carries {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
	in := expiry.Input{Turn: 1, View: &conversation.View{}, Units: []conversation.Unit{unit(0, 0, message(tool1, nil, found(&length)))}, Policy: life(0, shorten)}
	if got := expiry.Plan(in)[0].Expiration; *got.Turns != 0 || *got.CompactLength != 7 {
		t.Error(say(&got))
	}
}

// TestPlan_Once: a text that has expired at its level or above is not due again; one shown at a lower level is. An expansion restarts the
// clock.
func TestPlan_Once(t *testing.T) {
	short, gone := life(0, shorten), life(0, remove)
	edit := func(level conversation.Level, why conversation.Reason) conversation.Edit {
		return conversation.Edit{Seq: 1, Kind: conversation.EditParts, Range: conversation.Range{End: 1}, Reason: why,
			Parts: []conversation.PartEdit{{Level: level, Shown: found(nil)}}}
	}
	restore := conversation.Edit{Seq: 2, Kind: conversation.EditRestore, Range: conversation.Range{End: 1}, Turn: 4}
	for _, tt := range []struct {
		name  string
		e     conversation.Expiration
		edits []conversation.Edit
		turn  int32
		want  string
	}{
		{"compacted before", short, []conversation.Edit{edit(conversation.Shortened, conversation.ReasonExpiredFirstChars)}, 1, ""},
		{"summarized before", short, []conversation.Edit{edit(conversation.Shortened, conversation.ReasonExpiredSummary)}, 1, ""},
		{"clipped before", short, []conversation.Edit{edit(conversation.Shortened, conversation.ReasonResultOverShare)}, 1, "compact 0 0 since 1"},
		{"cleared before", short, []conversation.Edit{edit(conversation.Cleared, conversation.ReasonExpired)}, 1, ""},
		{"compacted, and now to be removed", gone, []conversation.Edit{edit(conversation.Shortened, conversation.ReasonExpiredFirstChars)}, 1, "remove 0 words since 1"},
		{"expanded in turn 4", short, []conversation.Edit{edit(conversation.Shortened, conversation.ReasonExpiredFirstChars), restore}, 4, ""},
		{"shown once, with 0 turns too", short, []conversation.Edit{edit(conversation.Shortened, conversation.ReasonExpiredFirstChars), restore}, 5, ""},
		{"and a turn later", short, []conversation.Edit{edit(conversation.Shortened, conversation.ReasonExpiredFirstChars), restore}, 6, "compact 0 0 since 6"},
	} {
		u := unit(0, 0, message(tool1, nil, found(&tt.e)))
		if got := plan(tt.turn, u, func(in *expiry.Input) { in.View = in.View.Fold(tt.edits) }); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestWordsOf_Parts: text that is not blank, and media, without what plugins gave a retention of its own or show for now alone.
func TestWordsOf_Parts(t *testing.T) {
	kept := said("kept")
	kept.Retention = conversation.Retention{Kind: conversation.RetentionPermanent}
	aging := said("aging")
	aging.Retention = conversation.Retention{Kind: conversation.RetentionKeepLast, Last: 1}
	now := said("now")
	now.Variant = conversation.DisplayOnly
	stored := conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Ref: &conversation.ContentRef{}}}
	media := conversation.Part{Kind: conversation.PartMedia, Media: &conversation.Media{}}
	m := message(user, nil, said(""), said("a"), said(" \n\t"), media, called(), found(nil), kept, aging, now, stored,
		conversation.Part{Kind: conversation.PartReasoning}, conversation.Part{Kind: conversation.PartOpaque})
	if got := expiry.TextParts(&m); !slices.Equal(got, []int32{1, 3, 6, 9}) {
		t.Errorf("%v", got)
	}
}

func TestComing_WhatWillFallDue(t *testing.T) {
	soon, later, never := life(1, shorten), life(3, remove), life(1, conversation.ExpirationNone)
	u := unit(0, 1, message(assistant, &never, said("x"), called()), message(tool1, nil, found(&soon), found(&later), found(nil)))
	in := expiry.Input{Turn: 2, Units: []conversation.Unit{u, {Summary: &conversation.Edit{}}}, View: &conversation.View{}}
	if got := planned(expiry.Upcoming(in)); got != "compact 1 0 since 3, clear 1 1 since 5" {
		t.Error(got)
	}
	in.Turn = 3
	if got := planned(expiry.Upcoming(in)); got != "clear 1 1 since 5" {
		t.Error(got)
	}
	in.Override = &conversation.ExpirationOverride{Disable: true}
	if got := planned(expiry.Upcoming(in)); got != "" {
		t.Error(got)
	}
}

func TestEraseTurn_OfWhatErases(t *testing.T) {
	e := life(3, remove)
	m := message(tool1, nil, found(&e))
	m.TurnAdded = 4
	if _, ok := expiry.EraseTurn(&m, 0, &e); ok {
		t.Error("what is preserved")
	}
	e.PreserveOriginal = ptr(false)
	if turn, ok := expiry.EraseTurn(&m, 0, &e); !ok || turn != 8 {
		t.Errorf("turn %d, %v", turn, ok)
	}
	if _, ok := expiry.EraseTurn(&m, 0, nil); ok {
		t.Error("nothing")
	}
}

// TestEraseTurn_Half_IsTheFirstThatMayBe: fields that are not set may be set by the conversation's policy at any later build.
func TestEraseTurn_Half_IsTheFirstThatMayBe(t *testing.T) {
	for _, tt := range []struct {
		e    conversation.Expiration
		turn int32 // 0: never
	}{
		{conversation.Expiration{Turns: ptr(int32(3))}, 8}, {conversation.Expiration{Mode: shorten}, 5}, {conversation.Expiration{}, 5},
		{conversation.Expiration{Mode: conversation.ExpirationNone}, 0},
	} {
		tt.e.PreserveOriginal = ptr(false)
		m := message(tool1, nil, found(&tt.e))
		m.TurnAdded = 4
		if turn, ok := expiry.EraseTurn(&m, 0, &tt.e); turn != tt.turn || ok != (tt.turn > 0) {
			t.Errorf("%s: turn %d, %v, want %d", say(&tt.e), turn, ok, tt.turn)
		}
		if open := expiry.MayErase(&m); open != (tt.turn > 0) {
			t.Errorf("%s: open %v", say(&tt.e), open)
		}
	}
	e := life(3, remove)
	e.PreserveOriginal = ptr(false)
	if m := message(tool1, nil, found(&e)); expiry.MayErase(&m) {
		t.Error("what is whole is open")
	}
}
