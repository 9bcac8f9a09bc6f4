package conversation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func at(first, end int32) conversation.Range { return conversation.Range{First: first, End: end} }

// shorter is an edit of one part, shown as a text of so many tokens that names the edit.
func shorter(seq int64, index, part int32, level conversation.Level, tokens int32) conversation.Edit {
	return conversation.Edit{
		Seq: seq, Kind: conversation.EditParts, Range: at(index, index+1), Reason: conversation.ReasonResultOverShare,
		Parts: []conversation.PartEdit{{Part: part, Level: level, Shown: conversation.Part{
			Kind: conversation.PartText, Text: conversation.Content{Inline: fmt.Sprint("by ", seq)}, Tokens: tokens,
		}}},
	}
}

func mask(seq int64, index int32, parts ...int32) conversation.Edit {
	return conversation.Edit{Seq: seq, Kind: conversation.EditMask, Range: at(index, index+1), Mask: parts}
}

func ranged(seq int64, kind conversation.EditKind, first, end int32) conversation.Edit {
	e := conversation.Edit{Seq: seq, Kind: kind, Range: at(first, end), Turn: int32(seq)}
	if kind == conversation.EditSummarise {
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

// TestView_Fold_Levels holds the view to behaviour §4: levels only rise, the stronger edit replaces the weaker, the mask
// applies first and the level to what is left, and a restoration clears both.
func TestView_Fold_Levels(t *testing.T) {
	const full, cited, short, cleared, removed = conversation.Full, conversation.Cited, conversation.Shortened, conversation.Cleared, conversation.Removed
	for _, tt := range []struct {
		name  string
		edits []conversation.Edit
		want  string
		level conversation.Level
		saved int64
		edit  int64
	}{
		{"nothing", nil, "a|b|c", full, 0, 0},
		{"a part shortened", []conversation.Edit{shorter(1, 0, 1, short, 4)}, "a|by 1|c", short, 6, 1},
		{"stronger replaces weaker", []conversation.Edit{shorter(1, 0, 1, cited, 6), shorter(2, 0, 1, short, 4)}, "a|by 2|c", short, 6, 2},
		{"stronger though heavier", []conversation.Edit{shorter(1, 0, 1, cited, 2), shorter(2, 0, 1, cleared, 4)}, "a|by 2|c", cleared, 6, 2},
		{"weaker never replaces stronger", []conversation.Edit{shorter(1, 0, 1, cleared, 6), shorter(2, 0, 1, cited, 1)}, "a|by 1|c", cleared, 4, 1},
		{"same level: the lighter wins", []conversation.Edit{shorter(1, 0, 1, short, 6), shorter(2, 0, 1, short, 5)}, "a|by 2|c", short, 5, 2},
		{"same level: not the heavier", []conversation.Edit{shorter(1, 0, 1, short, 5), shorter(2, 0, 1, short, 6)}, "a|by 1|c", short, 5, 1},
		{"same level, same weight: the first stays", []conversation.Edit{shorter(1, 0, 1, short, 5), shorter(2, 0, 1, short, 5)}, "a|by 1|c", short, 5, 1},
		{"the message's level is its highest part's", []conversation.Edit{shorter(1, 0, 0, cleared, 5), shorter(2, 0, 2, cited, 5)}, "by 1|b|by 2", cleared, 10, 2},
		{"a mask", []conversation.Edit{mask(1, 0, 0, 2)}, "b", full, 20, 1},
		{"masks add up", []conversation.Edit{mask(1, 0, 0), mask(2, 0, 2)}, "b", full, 20, 2},
		{"mask, then level on what is left", []conversation.Edit{mask(1, 0, 0), shorter(2, 0, 1, short, 4)}, "by 2|c", short, 16, 2},
		{"level, then mask of the same part", []conversation.Edit{shorter(1, 0, 1, short, 4), mask(2, 0, 1)}, "a|c", full, 10, 2},
		{"mask, then level of the same part", []conversation.Edit{mask(1, 0, 1), shorter(2, 0, 1, short, 4)}, "a|c", full, 10, 2},
		{"everything masked", []conversation.Edit{mask(1, 0, 0, 1, 2)}, "-", full, 30, 1},
		{"removed", []conversation.Edit{ranged(1, conversation.EditRemove, 0, 1)}, "-", removed, 0, 1},
		{"nothing brings a removed one back but a restoration", []conversation.Edit{ranged(1, conversation.EditRemove, 0, 1), shorter(2, 0, 1, short, 4)}, "-", removed, 0, 2},
		{"restored", []conversation.Edit{shorter(1, 0, 1, short, 4), mask(2, 0, 0), ranged(3, conversation.EditRestore, 0, 1)}, "a|b|c", full, 0, 0},
		{"restored from removal", []conversation.Edit{ranged(1, conversation.EditRemove, 0, 1), ranged(2, conversation.EditRestore, 0, 1)}, "a|b|c", full, 0, 0},
		{"after a restoration the weaker edit counts", []conversation.Edit{shorter(1, 0, 1, cleared, 1), ranged(2, conversation.EditRestore, 0, 1), shorter(3, 0, 1, cited, 9)}, "a|by 3|c", cited, 1, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v, m := fold(tt.edits...), texts(0, "abc")
			it, ok := v.Item(m)
			if got := shown(v, m); got != tt.want || v.Level(0) != tt.level || it.Level != tt.level && ok {
				t.Errorf("shown %s at level %d (%d), want %s at %d", got, v.Level(0), it.Level, tt.want, tt.level)
			}
			if it.Saved != tt.saved && ok || it.EditSeq != tt.edit {
				t.Errorf("saved %d by edit %d, want %d by %d", it.Saved, it.EditSeq, tt.saved, tt.edit)
			}
			if ok && it.Tokens() != int64(m.Tokens)-it.Saved {
				t.Errorf("weighs %d, saved %d of %d", it.Tokens(), it.Saved, m.Tokens)
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

func TestView_PartLevel_OfEachPart(t *testing.T) {
	v := fold(shorter(1, 0, 1, conversation.Shortened, 1), shorter(2, 0, 2, conversation.Cleared, 1))
	for part, want := range []conversation.Level{conversation.Full, conversation.Shortened, conversation.Cleared} {
		if got := v.PartLevel(0, int32(part)); got != want {
			t.Errorf("part %d: level %d, want %d", part, got, want)
		}
	}
	v = v.Fold([]conversation.Edit{ranged(3, conversation.EditRemove, 0, 1)})
	if got := v.PartLevel(0, 0); got != conversation.Removed {
		t.Errorf("part of a removed message: level %d", got)
	}
}

func TestView_Fold_RangesAndRestoration(t *testing.T) {
	const summarise, hide, restore = conversation.EditSummarise, conversation.EditHide, conversation.EditRestore
	for _, tt := range []struct {
		name     string
		edits    []conversation.Edit
		want     string // of messages 0 to 3
		restored bool   // message 1
	}{
		{"summarised", []conversation.Edit{ranged(1, summarise, 0, 3)}, "---d", false},
		{"hidden", []conversation.Edit{ranged(1, hide, 1, 3)}, "a--d", false},
		{"a restoration overrides an earlier summary", []conversation.Edit{ranged(1, summarise, 0, 3), ranged(2, restore, 1, 2)}, "-b-d", true},
		{"a later summary overrides a restoration", []conversation.Edit{ranged(1, restore, 1, 2), ranged(2, summarise, 0, 3)}, "---d", false},
		{"hiding outlasts a restoration", []conversation.Edit{ranged(1, hide, 0, 3), ranged(2, restore, 1, 2)}, "---d", false},
		{"a later hiding overrides a restoration", []conversation.Edit{ranged(1, restore, 1, 2), ranged(2, hide, 0, 3)}, "---d", false},
		{"summaries lie above levels", []conversation.Edit{ranged(1, summarise, 0, 2), shorter(2, 0, 0, conversation.Shortened, 1)}, "--cd", false},
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
			if _, _, turn, ok := v.Restored(1); ok != tt.restored || ok && turn == 0 {
				t.Errorf("restored %v in turn %d", ok, turn)
			}
		})
	}
}

func TestView_Summaries_SupersededByWhatCoversThem(t *testing.T) {
	const summarise, hide, restore = conversation.EditSummarise, conversation.EditHide, conversation.EditRestore
	for _, tt := range []struct {
		name  string
		edits []conversation.Edit
		want  []int64
	}{
		{"by range, not by time", []conversation.Edit{ranged(1, summarise, 4, 8), ranged(2, summarise, 0, 4)}, []int64{2, 1}},
		{"a successor covers", []conversation.Edit{ranged(1, summarise, 0, 4), ranged(2, summarise, 4, 8), ranged(3, summarise, 0, 8)}, []int64{3}},
		{"the same range", []conversation.Edit{ranged(1, summarise, 0, 4), ranged(2, summarise, 0, 4)}, []int64{2}},
		{"a smaller one inside supersedes nothing", []conversation.Edit{ranged(1, summarise, 0, 8), ranged(2, summarise, 2, 4)}, []int64{1, 2}},
		{"hidden whole", []conversation.Edit{ranged(1, summarise, 0, 4), ranged(2, hide, 0, 8)}, nil},
		{"hidden by two", []conversation.Edit{ranged(1, summarise, 0, 4), ranged(2, hide, 0, 2), ranged(3, hide, 2, 4)}, nil},
		{"hidden in part", []conversation.Edit{ranged(1, summarise, 0, 4), ranged(2, hide, 2, 8)}, []int64{1}},
		{"a message brought back does not bring back the summary", []conversation.Edit{ranged(1, summarise, 0, 4), ranged(2, hide, 0, 8), ranged(3, restore, 1, 2)}, nil},
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
