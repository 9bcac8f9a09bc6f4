package conversation_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

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
		for p := range m.Parts {
			m.Parts[p].Variant = rapid.SampledFrom([]conversation.Variant{
				conversation.BothVariants, conversation.BothVariants, conversation.DisplayOnly, conversation.PersistentOnly,
			}).Draw(t, "variant")
		}
	}
	return messages
}

// drawEdits gives every edit a different reason, so that edits can be told apart.
func drawEdits(t *rapid.T, messages []conversation.Message) []conversation.Edit {
	var edits []conversation.Edit
	n := int32(len(messages))
	for seq := range rapid.Int64Range(0, 12).Draw(t, "edits") {
		kind := rapid.SampledFrom([]conversation.EditKind{
			conversation.EditParts, conversation.EditRemove, conversation.EditMask, conversation.EditRestore, conversation.EditSummarize, conversation.EditHide,
			conversation.EditTakeOut, conversation.EditPutBack,
		}).Draw(t, "edit")
		first := rapid.Int32Range(0, n-1).Draw(t, "first")
		e := ranged(seq+1, kind, first, rapid.Int32Range(first+1, min(n, first+5)).Draw(t, "end"))
		parts := int32(len(messages[first].Parts))
		switch kind {
		case conversation.EditParts:
			e.Range.End = first + 1
			for range rapid.IntRange(1, 2).Draw(t, "parts") {
				e.Parts = append(e.Parts, drawPartEdit(t, seq+1, parts))
			}
		case conversation.EditMask: // an empty mask switches to the persistent variant
			e = mask(seq+1, first, rapid.SliceOfN(rapid.Int32Range(0, parts-1), 0, 2).Draw(t, "masked")...)
		case conversation.EditSummarize:
			for range rapid.IntRange(0, 2).Draw(t, "exceptions") {
				i := rapid.Int32Range(e.Range.First, e.Range.End-1).Draw(t, "exception")
				e.Summary.Except = append(e.Summary.Except, at(i, i+1))
			}
		}
		e.Reason = conversation.Reason(seq + 1)
		edits = append(edits, e)
	}
	return edits
}

func drawPartEdit(t *rapid.T, seq int64, parts int32) conversation.PartEdit {
	part, level := rapid.Int32Range(0, parts-1).Draw(t, "part"), conversation.Level(rapid.IntRange(1, 3).Draw(t, "level"))
	if rapid.IntRange(0, 3).Draw(t, "told elsewhere") == 0 {
		return conversation.PartEdit{Part: part, Level: level}
	}
	return shorter(seq, 0, part, level, rapid.Int32Range(1, 9).Draw(t, "tokens")).Parts[0]
}

func drawWindow(t *rapid.T, messages []conversation.Message) (conversation.Window, conversation.Kept) {
	n := int32(len(messages))
	asked := []int32{-1}
	for i := range messages {
		if messages[i].Role == conversation.RoleUser {
			asked = append(asked, int32(i))
		}
	}
	w := conversation.Window{
		Start: rapid.Int32Range(0, n).Draw(t, "start"), Opening: rapid.SampledFrom(asked).Draw(t, "opening"),
		Request: rapid.SampledFrom(asked).Draw(t, "request"), Restored: rapid.Int64Range(0, 12).Draw(t, "restored"),
	}
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
	l := look{
		Shown: true, Level: it.Level, Edit: it.EditSeq, Reason: it.Reason,
		Tokens: it.Tokens(), Saved: it.Saved, Masked: it.Masked, Unseen: it.Unseen,
	}
	for i, p := range it.Parts {
		l.Texts, l.Positions = append(l.Texts, p.Text.Inline), append(l.Positions, it.Position(i))
	}
	return l
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
	proptest.Check(t, func(t *rapid.T) {
		messages := drawMessages(t)
		r := &reference{messages: messages, edits: drawEdits(t, messages)}
		v := fold(r.edits...)
		for i := range messages {
			if got, want := seen(v, &messages[i]), r.item(&messages[i]); !reflect.DeepEqual(got, want) {
				t.Fatalf("message %d: got %+v, want %+v", i, got, want)
			}
			agree(t, r, v, int32(i))
		}
		agreeOnAll(t, r, v)
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

// agree compares what a view and the reference say about a message and its parts.
func agree(t *rapid.T, r *reference, v *conversation.View, i int32) {
	got := []bool{v.Hidden(at(i, i+1)), v.Settled(i)}
	want := []bool{r.is(i, conversation.EditHide), r.settled(i)}
	if !slices.Equal(got, want) {
		t.Fatalf("message %d: hidden, settled: got %v, want %v", i, got, want)
	}
	edit, turn, ok := v.Restored(i)
	if ok != r.restored(i) || ok && (edit != r.since(i) || int64(turn) != r.since(i)) {
		t.Fatalf("message %d: restored %v by edit %d in turn %d, want edit %d", i, ok, edit, turn, r.since(i))
	}
	for after := range int64(13) {
		if got, want := slices.Contains(v.Restorations(after), at(i, i+1)), r.restored(i) && r.since(i) > after; got != want {
			t.Fatalf("message %d: among what was restored after edit %d: %v", i, after, got)
		}
	}
	for p := range r.messages[i].Parts {
		form, by := r.part(i, int32(p))
		if r.is(i, conversation.EditRemove) || r.takenOut(i) != nil {
			_, reason := r.by(&r.messages[i])
			form.Level, by.Reason = conversation.Removed, reason
		}
		level, reason := v.Part(i, int32(p))
		if level != form.Level || reason != by.Reason || v.Masked(i, int32(p)) != r.masked(i, int32(p)) {
			t.Fatalf("message %d, part %d: level %d for reason %d, want %d for %d", i, p, level, reason, form.Level, by.Reason)
		}
	}
}

// agreeOnAll compares what they say about the whole conversation.
func agreeOnAll(t *rapid.T, r *reference, v *conversation.View) {
	for turn := range int32(13) {
		if got, want := v.LastRestored(turn), r.lastRestored(turn); got != want {
			t.Fatalf("the last restoration up to turn %d: %d, want %d", turn, got, want)
		}
	}
	from := rapid.Int32Range(0, int32(len(r.messages))).Draw(t, "from")
	var got []int32
	for _, it := range v.Gone(r.messages, from) {
		if it.Message == nil {
			t.Fatalf("gone from %d on: something that a range edit stands for", from)
		}
		if it.EditSeq > 0 { // except a message whose blocks are all for later builds
			got = append(got, it.Message.Index)
		}
	}
	if want := r.gone(from); !slices.Equal(got, want) {
		t.Fatalf("gone from %d on: %v, want %v", from, got, want)
	}
}

// picture returns everything that a view shows.
func picture(v *conversation.View, messages []conversation.Message) []look {
	var out []look
	for i := range messages {
		n := int32(i)
		edit, turn, restored := v.Restored(n)
		out = append(out, seen(v, &messages[i]), look{Level: v.Level(n), Shown: v.Hidden(at(n, n+1))},
			look{Shown: v.Settled(n)}, look{Shown: restored, Edit: edit, Tokens: int64(turn)})
	}
	for _, s := range v.Summaries() {
		out = append(out, look{Edit: s.Seq})
	}
	for _, r := range v.Restorations(0) {
		out = append(out, look{Edit: int64(r.First)})
	}
	return append(out, look{Edit: v.Seq()})
}

func same(a, b []look) bool { return reflect.DeepEqual(a, b) }

func TestView_Fold_InPiecesAndTwiceIsAtOnce(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
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

// TestView_Fold_LevelsOnlyRise: this holds for parts and for removed messages, except for restorations and what is put back. Nothing
// settled becomes unsettled, and a masked part only comes back with a restoration.
func TestView_Fold_LevelsOnlyRise(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		messages := drawMessages(t)
		v := fold()
		for _, e := range drawEdits(t, messages) {
			next := v.Fold([]conversation.Edit{e})
			for i := range messages {
				n := int32(i)
				if v.Settled(n) && !next.Settled(n) {
					t.Fatalf("edit %d brings back the display variant of message %d", e.Seq, i)
				}
				if (e.Kind == conversation.EditRestore || e.Kind == conversation.EditPutBack) && e.Range.Contains(n) {
					continue
				}
				for p := range messages[i].Parts {
					before, _ := v.Part(n, int32(p))
					after, _ := next.Part(n, int32(p))
					if after < before || v.Masked(n, int32(p)) && !next.Masked(n, int32(p)) {
						t.Fatalf("edit %d of kind %d: part %d of message %d from level %d to %d", e.Seq, e.Kind, p, i, before, after)
					}
				}
			}
			v = next
		}
	})
}

// TestView_Item_FiguresAddUp: the original's weight is the sum of what is shown, saved, masked, and in the other variant only.
func TestView_Item_FiguresAddUp(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		messages := drawMessages(t)
		v := fold(drawEdits(t, messages)...)
		for i := range messages {
			it, ok := v.Item(&messages[i])
			if !ok {
				continue
			}
			sum := it.Tokens() + it.Saved + it.Masked + it.Unseen
			for p := range messages[i].Parts {
				if part := &messages[i].Parts[p]; part.Variant == conversation.PersistentOnly && !v.Settled(int32(i)) {
					sum += int64(part.Tokens) // for later builds
				}
			}
			if sum != int64(messages[i].Tokens) {
				t.Fatalf("message %d weighs %d, and its figures add up to %d: %+v", i, messages[i].Tokens, sum, it)
			}
		}
	})
}

// TestView_Fold_NeverChangesMessagesOrEdits: whatever is asked of a view, the record does not change in any field, and callers share
// nothing that was replaced.
func TestView_Fold_NeverChangesMessagesOrEdits(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		messages := drawMessages(t)
		edits := drawEdits(t, messages)
		before := written(t, messages, edits)
		v := fold(edits...)
		w, kept := drawWindow(t, messages)
		for _, u := range v.Layout(messages, w, kept) {
			_ = append(u.Items, conversation.Item{})
		}
		all := picture(v, messages)
		for i := range messages {
			if it, ok := v.Item(&messages[i]); ok && v.Level(int32(i)) > conversation.Full {
				for p := range it.Parts {
					it.Parts[p].Text.Inline = "scribbled on"
				}
			}
		}
		if written(t, messages, edits) != before {
			t.Fatal("the record changed")
		}
		if !same(picture(v, messages), all) {
			t.Fatal("the view changed")
		}
	})
}

// written returns a deep copy, for comparing.
func written(t *rapid.T, values ...any) string {
	b, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
