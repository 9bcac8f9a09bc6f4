package prune_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/prune"
)

// drawnPart is a part of a drawn record as the reference knows it: from the drawing, not from the view.
type drawnPart struct {
	index, part, unit int32
	tokens            int64
	hidden            bool // by a mask
	clearable         bool // by its kind, state, level, tool and importance
	low               bool
}

// world is a drawn record with what edits made of it.
type world struct {
	messages []conversation.Message
	edits    []conversation.Edit
	parts    []drawnPart
	unit     int32 // where the unit begins that is being drawn
}

// add appends a message, and edits that change or drop some of its parts.
func (w *world) add(t *rapid.T, role conversation.Role, parts []conversation.Part, tools []string) {
	index := int32(len(w.messages))
	if role != conversation.RoleTool {
		w.unit = index
	}
	for i := range parts {
		parts[i].Tokens = rapid.Int32Range(0, 30).Draw(t, "tokens")
		p := drawnPart{index: index, part: int32(i), unit: w.unit, tokens: int64(parts[i].Tokens)}
		if r := parts[i].Result; r != nil {
			r.State = conversation.ResultState(rapid.IntRange(0, 3).Draw(t, "state"))
			r.Importance = conversation.Importance(rapid.IntRange(0, 3).Draw(t, "importance"))
			p.low = r.Importance == conversation.ImportanceLow
			p.clearable = r.State <= 2 && tools[i] != "skill" && tools[i] != "tool-x" && r.Importance != conversation.ImportanceHigh
			w.change(t, &p, parts[i])
		}
		// Something of a message stays in the view, and so do calls: their results would lie apart from them.
		if p.hidden = i < len(parts)-1 && parts[i].Call == nil && rapid.IntRange(0, 3).Draw(t, "masked") == 0; p.hidden {
			w.edit(conversation.Edit{Kind: conversation.EditMask, Range: conversation.Range{First: index, End: index + 1}, Mask: []int32{p.part}})
		}
		w.parts = append(w.parts, p)
	}
	w.messages = append(w.messages, conversation.Message{Index: index, Role: role, Parts: parts})
}

// change shows something else for a result.
func (w *world) change(t *rapid.T, p *drawnPart, shown conversation.Part) {
	level := conversation.Level(rapid.IntRange(0, int(conversation.Cleared)).Draw(t, "level"))
	if level == conversation.Full {
		return
	}
	shown.Tokens = rapid.Int32Range(0, 20).Draw(t, "shown tokens")
	p.tokens, p.clearable = int64(shown.Tokens), p.clearable && level != conversation.Cleared
	w.edit(edit(0, p.index, p.part, level, shown))
}

func (w *world) edit(e conversation.Edit) {
	e.Seq = int64(len(w.edits) + 1)
	w.edits = append(w.edits, e)
}

// exchange appends calls and a message for each result, or one for all. Some results name the tool themselves.
func (w *world) exchange(t *rapid.T) {
	tools := rapid.SliceOfN(rapid.SampledFrom([]string{"read", "grep", "skill", "tool-x"}), 1, 5).Draw(t, "tools")
	w.add(t, conversation.RoleAssistant, append(calls(tools...), conversation.Part{Kind: conversation.PartText}), nil)
	var results []conversation.Part
	for i, tool := range tools {
		r := &conversation.ToolResult{Ordinal: int32(i + 1)}
		if rapid.IntRange(0, 3).Draw(t, "named") == 0 {
			r.Name = tool
		}
		results = append(results, conversation.Part{Kind: conversation.PartToolResult, Result: r})
	}
	if rapid.Bool().Draw(t, "in one message") {
		w.add(t, conversation.RoleTool, results, tools)
		return
	}
	for i := range results {
		w.add(t, conversation.RoleTool, results[i:i+1:i+1], tools[i:])
	}
}

func drawWorld(t *rapid.T) *world {
	w := &world{}
	for range rapid.IntRange(0, 12).Draw(t, "units") {
		if rapid.Bool().Draw(t, "exchange") {
			w.exchange(t)
		} else {
			w.add(t, conversation.RoleUser, make([]conversation.Part, rapid.IntRange(1, 3).Draw(t, "parts")), nil)
		}
	}
	return w
}

// naive computes for each part separately what is newer.
func (w *world) naive(in prune.Input) []prune.Target {
	var out []prune.Target
	sum := int64(0)
	for i, p := range w.parts {
		newer := int64(0)
		for _, q := range w.parts[i+1:] {
			if !q.hidden {
				newer += min(q.tokens, in.MaxPart)
			}
		}
		if !p.hidden && p.clearable && (newer >= in.Protect || p.low) && p.tokens > in.Placeholder(conversation.ExpandCall(p.index)) && !in.Keep(p.unit) {
			out = append(out, prune.Target{Index: p.index, Part: p.part, Weight: p.tokens})
			sum += min(p.tokens, in.MaxPart)
		}
	}
	if sum < in.Minimum {
		return nil
	}
	return out
}

// TestPlan_AnyView_AgreesWithReference: after a plan is carried out, there is nothing left to do.
func TestPlan_AnyView_AgreesWithReference(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		in := seed(w.messages, w.edits...)
		in.Protect, in.Minimum = rapid.SampledFrom([]int64{0, 1, 20, 60}).Draw(t, "protect"), rapid.SampledFrom([]int64{0, 1, 10, 40}).Draw(t, "minimum")
		in.MaxPart = rapid.SampledFrom([]int64{1, 10, 25}).Draw(t, "part")
		kept := rapid.Int32Range(0, 30).Draw(t, "kept")
		in.Keep = func(first int32) bool { return first == kept }
		in.Placeholder = func(recall string) int64 { return int64(recall[len(recall)-2] % 7) }
		in.Units = rapid.Permutation(in.Units).Draw(t, "order")
		got := prune.Plan(in)
		if want := w.naive(in); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		for _, target := range got {
			shown := w.messages[target.Index].Parts[target.Part]
			shown.Tokens = int32(in.Placeholder(conversation.ExpandCall(target.Index)))
			w.edit(edit(0, target.Index, target.Part, conversation.Cleared, shown))
		}
		if in.View = in.View.Fold(w.edits); len(got) > 0 {
			in.Units = in.View.Layout(w.messages, conversation.Window{Opening: -1, Request: -1}, conversation.Kept{})
			if again := prune.Plan(in); again != nil {
				t.Fatalf("after %v there is still %v", got, again)
			}
		}
	})
}
