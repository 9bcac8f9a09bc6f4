package conversation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func at(first, end int32) conversation.Range { return conversation.Range{First: first, End: end} }

// shorter returns an edit of one part, shown as a text of the given weight that names the edit.
func shorter(seq int64, index, part int32, level conversation.Level, tokens int32) conversation.Edit {
	return conversation.Edit{
		Seq: seq, Kind: conversation.EditParts, Range: at(index, index+1), Reason: conversation.ReasonResultOverShare,
		Parts: []conversation.PartEdit{{Part: part, Level: level, Shown: conversation.Part{
			Kind: conversation.PartText, Text: conversation.Content{Inline: fmt.Sprint("by ", seq)}, Tokens: tokens,
		}}},
	}
}

// told returns an edit after which a part shows nothing, because another part stands for it too.
func told(seq int64, index, part int32) conversation.Edit {
	e := shorter(seq, index, part, conversation.Shortened, 0)
	e.Parts[0].Shown = conversation.Part{}
	return e
}

func mask(seq int64, index int32, parts ...int32) conversation.Edit {
	return conversation.Edit{Seq: seq, Kind: conversation.EditMask, Range: at(index, index+1), Mask: parts}
}

func ranged(seq int64, kind conversation.EditKind, first, end int32) conversation.Edit {
	e := conversation.Edit{Seq: seq, Kind: kind, Range: at(first, end), Turn: int32(seq)}
	if kind == conversation.EditSummarize {
		e.Summary = &conversation.Summary{ID: seq, Tokens: 5}
	}
	return e
}

func fold(edits ...conversation.Edit) *conversation.View {
	return (*conversation.View)(nil).Fold(edits)
}

// texts is a user message whose parts hold one letter each and weigh 10.
func texts(index int32, letters string) *conversation.Message {
	m := &conversation.Message{Index: index, Role: conversation.RoleUser, Tokens: int32(4 + 10*len(letters))}
	for _, l := range letters {
		m.Parts = append(m.Parts, conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: string(l)}, Tokens: 10})
	}
	return m
}

func shown(v *conversation.View, m *conversation.Message) string {
	it, ok := v.Item(m)
	if !ok {
		return "-"
	}
	var out []string
	for _, p := range it.Parts {
		out = append(out, p.Text.Inline)
	}
	return strings.Join(out, "|")
}

// TestView_Fold_Levels checks the view against behaviour §4: levels only rise, a stronger edit replaces a weaker one, the mask
// applies first and the level to the rest, and a restoration clears both.
func TestView_Fold_Levels(t *testing.T) {
	const full, cited, short, cleared, removed = conversation.Full, conversation.Cited, conversation.Shortened, conversation.Cleared, conversation.Removed
	for _, tt := range []struct {
		name  string
		edits []conversation.Edit
		want  string
		level conversation.Level
		saved int64 // and masked
		edit  int64
	}{
		{"nothing", nil, "a|b|c", full, 0, 0},
		{"a part shortened", []conversation.Edit{shorter(1, 0, 1, short, 4)}, "a|by 1|c", short, 6, 1},
		{"stronger replaces weaker", []conversation.Edit{shorter(1, 0, 1, cited, 6), shorter(2, 0, 1, short, 4)}, "a|by 2|c", short, 6, 2},
		{"stronger though heavier", []conversation.Edit{shorter(1, 0, 1, cited, 2), shorter(2, 0, 1, cleared, 4)}, "a|by 2|c", cleared, 6, 2},
		{"weaker never replaces stronger", []conversation.Edit{shorter(1, 0, 1, cleared, 6), shorter(2, 0, 1, cited, 1)}, "a|by 1|c", cleared, 4, 1},
		{"same level: the later wins", []conversation.Edit{shorter(1, 0, 1, short, 6), shorter(2, 0, 1, short, 5)}, "a|by 2|c", short, 5, 2},
		{"same level: the later though heavier", []conversation.Edit{shorter(1, 0, 1, short, 5), shorter(2, 0, 1, short, 6)}, "a|by 2|c", short, 4, 2},
		{"a part that another one tells", []conversation.Edit{told(1, 0, 1)}, "a|c", short, 10, 1},
		{"all parts told by the first", []conversation.Edit{shorter(1, 0, 0, short, 3), told(2, 0, 1), told(3, 0, 2)}, "by 1", short, 27, 3},
		{"told elsewhere, then masked", []conversation.Edit{told(1, 0, 1), mask(2, 0, 1)}, "a|c", full, 10, 2},
		{"a mask of nothing", []conversation.Edit{mask(1, 0)}, "a|b|c", full, 0, 1},
		{"the message's level is its highest part's", []conversation.Edit{shorter(1, 0, 0, cleared, 5), shorter(2, 0, 2, cited, 5)}, "by 1|b|by 2", cleared, 10, 2},
		{"a mask", []conversation.Edit{mask(1, 0, 0, 2)}, "b", full, 20, 1},
		{"masks add up", []conversation.Edit{mask(1, 0, 0), mask(2, 0, 2)}, "b", full, 20, 2},
		{"mask, then level on what is left", []conversation.Edit{mask(1, 0, 0), shorter(2, 0, 1, short, 4)}, "by 2|c", short, 16, 2},
		{"level, then mask of the same part", []conversation.Edit{shorter(1, 0, 1, short, 4), mask(2, 0, 1)}, "a|c", full, 10, 2},
		{"mask, then level of the same part", []conversation.Edit{mask(1, 0, 1), shorter(2, 0, 1, short, 4)}, "a|c", full, 10, 2},
		{"everything masked", []conversation.Edit{mask(1, 0, 0, 1, 2)}, "-", full, 30, 1},
		{"removed", []conversation.Edit{ranged(1, conversation.EditRemove, 0, 1)}, "-", removed, 0, 1},
		{"nothing brings a removed one back but a restoration", []conversation.Edit{ranged(1, conversation.EditRemove, 0, 1), shorter(2, 0, 1, short, 4)}, "-", removed, 0, 2},
		{"restored", []conversation.Edit{shorter(1, 0, 1, short, 4), mask(2, 0, 0), ranged(3, conversation.EditRestore, 0, 1)}, "a|b|c", full, 0, 3},
		{"restored from removal", []conversation.Edit{ranged(1, conversation.EditRemove, 0, 1), ranged(2, conversation.EditRestore, 0, 1)}, "a|b|c", full, 0, 2},
		{"after a restoration the weaker edit counts", []conversation.Edit{shorter(1, 0, 1, cleared, 1), ranged(2, conversation.EditRestore, 0, 1), shorter(3, 0, 1, cited, 9)}, "a|by 3|c", cited, 1, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v, m := fold(tt.edits...), texts(0, "abc")
			it, ok := v.Item(m)
			if got := shown(v, m); got != tt.want || v.Level(0) != tt.level || it.Level != tt.level && ok {
				t.Errorf("shown %s at level %d (%d), want %s at %d", got, v.Level(0), it.Level, tt.want, tt.level)
			}
			if it.Saved+it.Masked != tt.saved && ok || it.EditSeq != tt.edit || v.Edited(0) != tt.edit {
				t.Errorf("saved %d and masked %d by edit %d, want %d by %d", it.Saved, it.Masked, it.EditSeq, tt.saved, tt.edit)
			}
			if ok && it.Tokens() != int64(m.Tokens)-it.Saved-it.Masked {
				t.Errorf("weighs %d, saved %d, masked %d of %d", it.Tokens(), it.Saved, it.Masked, m.Tokens)
			}
		})
	}
}

func TestView_Item_PositionsUnderMask(t *testing.T) {
	m := texts(0, "abc")
	if it, _ := fold(shorter(1, 0, 1, conversation.Shortened, 1)).Item(m); it.Positions != nil {
		t.Errorf("nothing is dropped, yet positions are %v", it.Positions)
	}
	if it, _ := fold(mask(1, 0, 1)).Item(m); !slices.Equal(it.Positions, []int32{0, 2}) {
		t.Errorf("positions %v", it.Positions)
	}
	if it, ok := fold(mask(1, 0)).Item(&conversation.Message{}); !ok || len(it.Parts) != 0 {
		t.Error("a message that never had a part left the view")
	}
}

// TestView_Item_Variants: the display variant is shown until a mask settles the message. A restoration undoes the mask but not
// the switch.
func TestView_Item_Variants(t *testing.T) {
	m := texts(0, "abcd")
	m.Parts[1].Variant, m.Parts[2].Variant = conversation.DisplayOnly, conversation.PersistentOnly
	restore := ranged(9, conversation.EditRestore, 0, 1)
	display, persistent := []int32{0, 1, 3}, []int32{0, 2, 3}
	for _, tt := range []struct {
		name           string
		edits          []conversation.Edit
		want           string
		positions      []int32
		masked, unseen int64
	}{
		{"not edited", nil, "a|b|d", display, 0, 0},
		{"settled", []conversation.Edit{mask(1, 0)}, "a|c|d", persistent, 0, 10},
		{"settled, and a block dropped", []conversation.Edit{mask(1, 0, 2)}, "a|d", []int32{0, 3}, 10, 10},
		{"a mask of what stands in the other variant", []conversation.Edit{mask(1, 0, 1)}, "a|c|d", persistent, 0, 10},
		{"settled, then restored", []conversation.Edit{mask(1, 0, 0, 2), restore}, "a|c|d", persistent, 0, 10},
		{"restored without ever settling", []conversation.Edit{shorter(1, 0, 0, conversation.Shortened, 1), restore}, "a|b|d", display, 0, 0},
		{"an edit does not settle", []conversation.Edit{shorter(1, 0, 3, conversation.Shortened, 1)}, "a|b|by 1", display, 0, 0},
		{"a form of a part that is not shown", []conversation.Edit{shorter(1, 0, 2, conversation.Shortened, 1)}, "a|b|d", display, 0, 0},
		{"and that is shown later", []conversation.Edit{shorter(1, 0, 2, conversation.Shortened, 1), mask(2, 0)}, "a|by 1|d", persistent, 0, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := fold(tt.edits...)
			it, ok := v.Item(m)
			if got := shown(v, m); got != tt.want || !ok || !slices.Equal(it.Positions, tt.positions) {
				t.Errorf("shown %s at %v; want %s at %v", got, it.Positions, tt.want, tt.positions)
			}
			if it.Masked != tt.masked || it.Unseen != tt.unseen {
				t.Errorf("%d masked and %d unseen, want %d and %d", it.Masked, it.Unseen, tt.masked, tt.unseen)
			}
			for i, position := range tt.positions {
				if it.Position(i) != position {
					t.Errorf("part %d stands at %d, want %d", i, it.Position(i), position)
				}
			}
		})
	}
}

func TestView_Item_NothingOfItsVariant(t *testing.T) {
	now, later := texts(0, "a"), texts(0, "b")
	now.Parts[0].Variant, later.Parts[0].Variant = conversation.DisplayOnly, conversation.PersistentOnly
	if a, b := shown(fold(), now), shown(fold(), later); a != "a" || b != "-" {
		t.Errorf("at first %s and %s are shown", a, b)
	}
	if a, b := shown(fold(mask(1, 0)), now), shown(fold(mask(1, 0)), later); a != "-" || b != "b" {
		t.Errorf("settled, %s and %s are shown", a, b)
	}
}

// TestView_Restorations_AfterAnEdit lists messages one by one, whatever range brought them back.
func TestView_Restorations_AfterAnEdit(t *testing.T) {
	v := fold(
		ranged(1, conversation.EditRestore, 7, 9), ranged(2, conversation.EditRestore, 1, 3), ranged(3, conversation.EditRestore, 8, 9),
		ranged(4, conversation.EditSummarize, 2, 3), ranged(5, conversation.EditHide, 5, 6), ranged(6, conversation.EditRestore, 5, 6),
		shorter(7, 7, 0, conversation.Shortened, 1),
	)
	for after, want := range [][]conversation.Range{
		{at(1, 2), at(7, 8), at(8, 9)}, {at(1, 2), at(8, 9)}, {at(8, 9)}, nil,
	} {
		if got := v.Restorations(int64(after)); !slices.Equal(got, want) {
			t.Errorf("after edit %d: %v, want %v", after, got, want)
		}
	}
}

func TestView_Part_LevelAndReason(t *testing.T) {
	expired := shorter(2, 0, 2, conversation.Cleared, 1)
	expired.Reason = conversation.ReasonExpired
	v := fold(shorter(1, 0, 1, conversation.Shortened, 1), expired)
	reasons := []conversation.Reason{0, conversation.ReasonResultOverShare, conversation.ReasonExpired}
	for part, want := range []conversation.Level{conversation.Full, conversation.Shortened, conversation.Cleared} {
		if got, reason := v.Part(0, int32(part)); got != want || reason != reasons[part] {
			t.Errorf("part %d: level %d for reason %d, want %d for %d", part, got, reason, want, reasons[part])
		}
	}
	remove := ranged(3, conversation.EditRemove, 0, 1)
	remove.Reason = conversation.ReasonUnitExpired
	v = v.Fold([]conversation.Edit{remove})
	if got, reason := v.Part(0, 0); got != conversation.Removed || reason != conversation.ReasonUnitExpired {
		t.Errorf("part of a removed message: level %d for reason %d", got, reason)
	}
}

func TestView_Fold_RangesAndRestoration(t *testing.T) {
	const summarize, hide, restore = conversation.EditSummarize, conversation.EditHide, conversation.EditRestore
	for _, tt := range []struct {
		name     string
		edits    []conversation.Edit
		want     string // of messages 0 to 3
		restored bool   // message 1
	}{
		{"summarized", []conversation.Edit{ranged(1, summarize, 0, 3)}, "---d", false},
		{"hidden", []conversation.Edit{ranged(1, hide, 1, 3)}, "a--d", false},
		{"a restoration overrides an earlier summary", []conversation.Edit{ranged(1, summarize, 0, 3), ranged(2, restore, 1, 2)}, "-b-d", true},
		{"a later summary overrides a restoration", []conversation.Edit{ranged(1, restore, 1, 2), ranged(2, summarize, 0, 3)}, "---d", false},
		{"hiding outlasts a restoration", []conversation.Edit{ranged(1, hide, 0, 3), ranged(2, restore, 1, 2)}, "---d", false},
		{"a later hiding overrides a restoration", []conversation.Edit{ranged(1, restore, 1, 2), ranged(2, hide, 0, 3)}, "---d", false},
		{"summaries lie above levels", []conversation.Edit{ranged(1, summarize, 0, 2), shorter(2, 0, 0, conversation.Shortened, 1)}, "--cd", false},
		{"a restoration is about its range alone", []conversation.Edit{shorter(1, 0, 0, conversation.Shortened, 1), ranged(2, restore, 1, 2)}, "[by 1]bcd", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v, got := fold(tt.edits...), ""
			for i, letter := range "abcd" {
				s := shown(v, texts(int32(i), string(letter)))
				if len(s) > 1 {
					s = "[" + s + "]"
				}
				got += s
			}
			if got != tt.want {
				t.Errorf("shown %s, want %s", got, tt.want)
			}
			if edit, turn, ok := v.Restored(1); ok != tt.restored || ok && (turn == 0 || edit != int64(turn)) {
				t.Errorf("restored %v by edit %d in turn %d", ok, edit, turn)
			}
		})
	}
}

func TestView_Summaries_SupersededByWhatCoversThem(t *testing.T) {
	const summarize, hide, restore = conversation.EditSummarize, conversation.EditHide, conversation.EditRestore
	for _, tt := range []struct {
		name  string
		edits []conversation.Edit
		want  []int64
	}{
		{"by range, not by time", []conversation.Edit{ranged(1, summarize, 4, 8), ranged(2, summarize, 0, 4)}, []int64{2, 1}},
		{"a successor covers", []conversation.Edit{ranged(1, summarize, 0, 4), ranged(2, summarize, 4, 8), ranged(3, summarize, 0, 8)}, []int64{3}},
		{"the same range", []conversation.Edit{ranged(1, summarize, 0, 4), ranged(2, summarize, 0, 4)}, []int64{2}},
		{"a smaller one inside: nothing is told twice", []conversation.Edit{ranged(1, summarize, 0, 8), ranged(2, summarize, 2, 4)}, []int64{2}},
		{"one that overlaps", []conversation.Edit{ranged(1, summarize, 2, 8), ranged(2, summarize, 0, 4)}, []int64{2}},
		{"made while it was dissolved", []conversation.Edit{
			ranged(1, summarize, 0, 8), ranged(2, hide, 8, 9), ranged(3, summarize, 0, 6), ranged(4, conversation.EditUnhide, 8, 9),
		}, []int64{3}},
		{"undone before anything else was made", []conversation.Edit{ranged(1, summarize, 0, 8), ranged(2, hide, 8, 9), ranged(3, conversation.EditUnhide, 8, 9)}, []int64{1}},
		{"hidden whole", []conversation.Edit{ranged(1, summarize, 0, 4), ranged(2, hide, 0, 8)}, nil},
		{"hidden by two", []conversation.Edit{ranged(1, summarize, 0, 4), ranged(2, hide, 0, 2), ranged(3, hide, 2, 4)}, nil},
		{"hidden in part: it speaks of what was taken back", []conversation.Edit{ranged(1, summarize, 0, 4), ranged(2, hide, 2, 8)}, nil},
		{"what it had taken up stands again", []conversation.Edit{ranged(1, summarize, 0, 4), ranged(2, summarize, 0, 8), ranged(3, hide, 6, 9)}, []int64{1}},
		{"made after the hiding", []conversation.Edit{ranged(1, hide, 2, 4), ranged(2, summarize, 0, 8)}, []int64{2}},
		{"a message brought back does not bring back the summary", []conversation.Edit{ranged(1, summarize, 0, 4), ranged(2, hide, 0, 8), ranged(3, restore, 1, 2)}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []int64
			for _, e := range fold(tt.edits...).Summaries() {
				got = append(got, e.Summary.ID)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("summaries %v, want %v", got, tt.want)
			}
		})
	}
}
