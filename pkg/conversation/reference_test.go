package conversation_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// reference answers the same questions as View, written differently: nothing is folded, and every answer is looked up in the
// whole log of edits, each time.
type reference struct {
	messages []conversation.Message
	edits    []conversation.Edit
}

// since is the sequence of the last restoration of a message.
func (r *reference) since(i int32) int64 {
	for j := len(r.edits) - 1; j >= 0; j-- {
		if e := r.edits[j]; e.Kind == conversation.EditRestore && e.Range.First <= i && i < e.Range.End {
			return e.Seq
		}
	}
	return 0
}

// about lists the edits of a kind that touch a message and that no restoration has undone.
func (r *reference) about(i int32, kind conversation.EditKind) []conversation.Edit {
	var out []conversation.Edit
	for _, e := range r.edits {
		if e.Kind == kind && e.Range.First <= i && i < e.Range.End && e.Seq > r.since(i) {
			out = append(out, e)
		}
	}
	return out
}

func (r *reference) is(i int32, kind conversation.EditKind) bool {
	if kind == conversation.EditHide { // no restoration undoes it
		return slices.ContainsFunc(r.edits, func(e conversation.Edit) bool { return e.Kind == kind && e.Range.Contains(i) })
	}
	return len(r.about(i, kind)) > 0
}

func (r *reference) masked(i, part int32) bool {
	return slices.ContainsFunc(r.about(i, conversation.EditMask), func(e conversation.Edit) bool { return slices.Contains(e.Mask, part) })
}

// part is the form of a part that counts: of the highest level, the lightest, the oldest.
func (r *reference) part(i, part int32) (best conversation.PartEdit, seq int64) {
	for _, e := range r.about(i, conversation.EditParts) {
		for _, p := range e.Parts {
			better := seq == 0 || p.Level > best.Level || p.Level == best.Level && p.Shown.Tokens < best.Shown.Tokens
			if p.Part == part && better {
				best, seq = p, e.Seq
			}
		}
	}
	return best, seq
}

// by is the last edit that changed what is shown for the message.
func (r *reference) by(m *conversation.Message) int64 {
	seq := int64(0)
	for _, kind := range []conversation.EditKind{conversation.EditMask, conversation.EditRemove} {
		for _, e := range r.about(m.Index, kind) {
			seq = max(seq, e.Seq)
		}
	}
	for part := range m.Parts {
		_, by := r.part(m.Index, int32(part))
		seq = max(seq, by)
	}
	return seq
}

type look struct {
	shown  bool
	level  conversation.Level
	edit   int64
	texts  []string
	tokens int64
	saved  int64
}

func (r *reference) item(m *conversation.Message) look {
	i := m.Index
	if r.is(i, conversation.EditHide) || r.is(i, conversation.EditSummarise) || r.is(i, conversation.EditRemove) {
		return look{}
	}
	l := look{tokens: int64(m.Overhead()), edit: r.by(m)}
	for p := range m.Parts {
		if r.masked(i, int32(p)) {
			continue
		}
		part := m.Parts[p]
		if e, seq := r.part(i, int32(p)); seq > 0 {
			part, l.level = e.Shown, max(l.level, e.Level)
		}
		l.texts = append(l.texts, part.Text.Inline)
		l.tokens += int64(part.Tokens)
	}
	if len(l.texts) == 0 && len(m.Parts) > 0 {
		return look{}
	}
	l.shown, l.saved = true, int64(m.Tokens)-l.tokens
	return l
}

// owner is the first message of the unit that a shown message belongs to: looked for backwards, past hidden messages.
func (r *reference) owner(i int32) int32 {
	if r.messages[i].Role != conversation.RoleTool {
		return i
	}
	for j := i - 1; j >= 0; j-- {
		switch m := &r.messages[j]; {
		case r.is(j, conversation.EditHide):
		case !r.item(m).shown:
			return i
		case m.Role == conversation.RoleTool && r.owner(j) != j || m.Role == conversation.RoleAssistant && m.HasCalls():
			return r.owner(j)
		case m.Role == conversation.RoleTool && r.messages[r.owner(j)].Role == conversation.RoleAssistant:
			return r.owner(j)
		default:
			return i
		}
	}
	return i
}

// layout is the view's order (behaviour §4), as indices of messages; a summary is its id less 1000.
func (r *reference) layout(w conversation.Window, kept conversation.Kept) []int64 {
	inPins := func(i int32) bool {
		return slices.ContainsFunc(kept.Pins, func(p conversation.Range) bool { return p.Contains(i) })
	}
	rules := []func(first int32) bool{
		func(i int32) bool { return i < kept.LeadingSystem },
		func(i int32) bool { return i < w.Start && inPins(i) },
		nil, // summaries
		func(i int32) bool { return i < w.Start && r.since(i) > 0 },
		func(i int32) bool { return i < w.Start && i == w.Anchor },
		func(i int32) bool { return i >= w.Start },
	}
	taken := map[int32]bool{}
	var out []int64
	for _, rule := range rules {
		if rule == nil {
			out = append(out, r.summaries()...)
			continue
		}
		for i := range int32(len(r.messages)) {
			if r.item(&r.messages[i]).shown && !taken[i] && rule(r.owner(i)) {
				taken[i] = true
				out = append(out, int64(i))
			}
		}
	}
	return out
}

func (r *reference) summaries() []int64 {
	var found []conversation.Edit
	for i, e := range r.edits {
		superseded := slices.ContainsFunc(r.edits[i+1:], func(o conversation.Edit) bool {
			return o.Kind == conversation.EditSummarise && o.Range.First <= e.Range.First && e.Range.End <= o.Range.End
		})
		hidden := true
		for j := e.Range.First; j < e.Range.End; j++ {
			hidden = hidden && slices.ContainsFunc(r.edits, func(o conversation.Edit) bool {
				return o.Kind == conversation.EditHide && o.Range.Contains(j)
			})
		}
		if e.Kind == conversation.EditSummarise && !superseded && !hidden {
			found = append(found, e)
		}
	}
	slices.SortStableFunc(found, func(a, b conversation.Edit) int { return int(a.Range.First - b.Range.First) })
	var out []int64
	for _, e := range found {
		out = append(out, e.Summary.ID-1000)
	}
	return out
}

func drawMessages(t *rapid.T) []conversation.Message {
	letters := ""
	for range rapid.IntRange(1, 14).Draw(t, "messages") {
		letters += rapid.SampledFrom([]string{"s", "u", "a", "c", "c", "t", "t", "t"}).Draw(t, "kind")
	}
	messages := script(letters)
	for i := range messages {
		m := &messages[i]
		for range rapid.IntRange(0, 2).Draw(t, "more parts") {
			m.Parts = append(m.Parts, conversation.Part{
				Kind: conversation.PartText, Text: conversation.Content{Inline: "more"}, Tokens: 10,
			})
			m.Tokens += 10
		}
	}
	return messages
}

func drawEdits(t *rapid.T, messages []conversation.Message) []conversation.Edit {
	var edits []conversation.Edit
	n := int32(len(messages))
	for seq := range rapid.Int64Range(0, 12).Draw(t, "edits") {
		kind := conversation.EditKind(rapid.IntRange(int(conversation.EditParts), int(conversation.EditHide)).Draw(t, "edit"))
		first := rapid.Int32Range(0, n-1).Draw(t, "first")
		end := rapid.Int32Range(first+1, min(n, first+5)).Draw(t, "end")
		parts := int32(len(messages[first].Parts))
		switch kind {
		case conversation.EditParts:
			e := conversation.Edit{Seq: seq + 1, Kind: kind, Range: at(first, first+1)}
			for range rapid.IntRange(1, 2).Draw(t, "parts") {
				more := shorter(seq+1, first, rapid.Int32Range(0, parts-1).Draw(t, "part"),
					conversation.Level(rapid.IntRange(1, 3).Draw(t, "level")), rapid.Int32Range(1, 9).Draw(t, "tokens"))
				e.Parts = append(e.Parts, more.Parts...)
			}
			edits = append(edits, e)
		case conversation.EditMask:
			edits = append(edits, mask(seq+1, first, rapid.Int32Range(0, parts-1).Draw(t, "masked")))
		default:
			edits = append(edits, ranged(seq+1, kind, first, end))
		}
	}
	return edits
}

func drawWindow(t *rapid.T, messages []conversation.Message) (conversation.Window, conversation.Kept) {
	n := int32(len(messages))
	w := conversation.Window{Start: rapid.Int32Range(0, n).Draw(t, "start"), Anchor: rapid.Int32Range(-1, n-1).Draw(t, "anchor")}
	kept := conversation.Kept{LeadingSystem: rapid.Int32Range(0, min(n, 2)).Draw(t, "leading")}
	for range rapid.IntRange(0, 2).Draw(t, "pins") {
		first := rapid.Int32Range(0, n-1).Draw(t, "pin")
		kept.Pins = append(kept.Pins, at(first, first+1))
	}
	return w, kept
}

func seen(v *conversation.View, m *conversation.Message) look {
	it, ok := v.Item(m)
	if !ok {
		return look{}
	}
	l := look{shown: true, level: it.Level, edit: it.EditSeq, tokens: it.Tokens(), saved: it.Saved}
	for _, p := range it.Parts {
		l.texts = append(l.texts, p.Text.Inline)
	}
	return l
}

func (l look) equal(o look) bool {
	return l.shown == o.shown && l.level == o.level && l.edit == o.edit && l.tokens == o.tokens && l.saved == o.saved &&
		slices.Equal(l.texts, o.texts)
}

func laidOut(v *conversation.View, messages []conversation.Message, w conversation.Window, kept conversation.Kept) []int64 {
	var out []int64
	for _, u := range v.Layout(messages, w, kept) {
		if u.Summary != nil {
			out = append(out, u.Summary.Summary.ID-1000)
		}
		for i := range u.Items {
			out = append(out, int64(u.Items[i].Message.Index))
		}
	}
	return out
}

func TestView_AnyEdits_AgreesWithReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := drawMessages(t)
		r := &reference{messages: messages, edits: drawEdits(t, messages)}
		v := fold(r.edits...)
		for i := range messages {
			if got, want := seen(v, &messages[i]), r.item(&messages[i]); !got.equal(want) {
				t.Fatalf("message %d: got %+v, want %+v", i, got, want)
			}
			if got, want := v.Hidden(at(int32(i), int32(i)+1)), r.is(int32(i), conversation.EditHide); got != want {
				t.Fatalf("message %d: hidden %v", i, got)
			}
		}
		w, kept := drawWindow(t, messages)
		got, want := laidOut(v, messages, w, kept), r.layout(w, kept)
		if !slices.Equal(got, want) {
			t.Fatalf("layout for %+v, %+v: got %v, want %v", w, kept, got, want)
		}
		slices.Sort(got)
		if len(slices.Compact(got)) != len(want) {
			t.Fatalf("something is shown twice: %v", want)
		}
	})
}

// picture is everything that a view shows.
func picture(v *conversation.View, messages []conversation.Message) []look {
	var out []look
	for i := range messages {
		out = append(out, seen(v, &messages[i]))
		out = append(out, look{level: v.Level(int32(i)), shown: v.Hidden(at(int32(i), int32(i)+1))})
	}
	for _, s := range v.Summaries() {
		out = append(out, look{edit: s.Seq})
	}
	return append(out, look{edit: v.Seq()})
}

func same(a, b []look) bool { return slices.EqualFunc(a, b, look.equal) }

func TestView_Fold_InPiecesAndTwiceIsAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := drawMessages(t)
		edits := drawEdits(t, messages)
		whole := picture(fold(edits...), messages)
		v := fold()
		for from := 0; from < len(edits); {
			to := rapid.IntRange(from+1, len(edits)).Draw(t, "piece")
			before := picture(v, messages)
			next := v.Fold(edits[from:to])
			if !same(picture(v, messages), before) {
				t.Fatal("folding changed the view before")
			}
			old := rapid.IntRange(0, from).Draw(t, "again from")
			again := next.Fold(edits[old:rapid.IntRange(old, to).Draw(t, "again to")])
			if !same(picture(again, messages), picture(next, messages)) {
				t.Fatal("folding a piece twice changed the view")
			}
			v, from = again, to
		}
		if !same(picture(v, messages), whole) {
			t.Fatal("folding in pieces differs from folding at once")
		}
	})
}

func TestView_Fold_NeverChangesMessagesOrEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := drawMessages(t)
		edits := drawEdits(t, messages)
		before := picture(fold(), messages)
		v := fold(edits...)
		w, kept := drawWindow(t, messages)
		v.Layout(messages, w, kept)
		for i := range messages {
			if it, ok := v.Item(&messages[i]); ok && v.Level(int32(i)) > conversation.Full {
				it.Parts[0].Text.Inline = "scribbled on"
			}
		}
		if !same(picture(fold(), messages), before) {
			t.Fatal("the record changed")
		}
	})
}
