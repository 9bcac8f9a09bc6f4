package conversation_test

import (
	"slices"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// TestView_Layout_SixGroupsInOrder checks the layout against the order of behaviour §4: leading system messages, pins before
// the start, summaries, restored units before the start, the anchor, the tail.
func TestView_Layout_SixGroupsInOrder(t *testing.T) {
	//                  0123456789ab
	messages := script("ssucttaaucta")
	v := fold(ranged(1, conversation.EditSummarize, 3, 6), ranged(2, conversation.EditRestore, 7, 8))
	kept := conversation.Kept{LeadingSystem: 2, Pins: []conversation.Range{at(6, 7)}}
	got := laidOut(v, messages, conversation.Window{Start: 9, Opening: -1, Request: 8}, kept)
	if want := []int64{0, 1, 6, 1 - 1000, 7, 8, 9, 10, 11}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestView_Layout_MessageOfSeveralGroupsOnce(t *testing.T) {
	messages := script("suau")
	for _, tt := range []struct {
		name   string
		edits  []conversation.Edit
		window conversation.Window
		kept   conversation.Kept
		want   []int64
	}{
		{"a pinned leading system message leads", nil, conversation.Window{Start: 3, Opening: -1, Request: -1}, conversation.Kept{LeadingSystem: 1, Pins: []conversation.Range{at(0, 1)}}, []int64{0, 3}},
		{"a leading system message past the start leads", nil, conversation.Window{Start: 0, Opening: -1, Request: -1}, conversation.Kept{LeadingSystem: 1}, []int64{0, 1, 2, 3}},
		{"a pinned anchor is a pin", nil, conversation.Window{Start: 3, Opening: -1, Request: 1}, conversation.Kept{Pins: []conversation.Range{at(1, 2)}}, []int64{1, 3}},
		{"a pin in the tail stays in its place", nil, conversation.Window{Start: 1, Opening: -1, Request: -1}, conversation.Kept{Pins: []conversation.Range{at(2, 3)}}, []int64{1, 2, 3}},
		{"a restored pin is a pin", []conversation.Edit{ranged(1, conversation.EditRestore, 1, 3)}, conversation.Window{Start: 3, Opening: -1, Request: -1}, conversation.Kept{Pins: []conversation.Range{at(2, 3)}}, []int64{2, 1, 3}},
		{"a restored anchor is restored", []conversation.Edit{ranged(1, conversation.EditRestore, 1, 2)}, conversation.Window{Start: 3, Opening: -1, Request: 1}, conversation.Kept{}, []int64{1, 3}},
		{"an anchor in the tail changes nothing", nil, conversation.Window{Start: 1, Opening: -1, Request: 3}, conversation.Kept{}, []int64{1, 2, 3}},
		{"a hidden pin, a hidden anchor, a hidden system message", []conversation.Edit{ranged(1, conversation.EditHide, 0, 3)}, conversation.Window{Start: 3, Opening: -1, Request: 1}, conversation.Kept{LeadingSystem: 1, Pins: []conversation.Range{at(2, 3)}}, []int64{3}},
		{"pins that overlap", nil, conversation.Window{Start: 3, Opening: -1, Request: -1}, conversation.Kept{Pins: []conversation.Range{at(1, 3), at(1, 2)}}, []int64{1, 2, 3}},
		{"everything before the end of the record", nil, conversation.Window{Start: 4, Opening: -1, Request: -1}, conversation.Kept{}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := laidOut(fold(tt.edits...), messages, tt.window, tt.kept); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestView_Layout_RestoredUntilTheWindowSaysSo: a restoration keeps its unit in view until the window's Restored reaches its
// edit. Units in the tail are shown anyway.
func TestView_Layout_RestoredUntilTheWindowSaysSo(t *testing.T) {
	messages := script("ucttuau")
	v := fold(ranged(3, conversation.EditRestore, 1, 4), ranged(5, conversation.EditRestore, 0, 1), ranged(6, conversation.EditRestore, 6, 7))
	for restored, want := range map[int64][]int64{
		0: {0, 1, 2, 3, 5, 6}, 2: {0, 1, 2, 3, 5, 6}, 3: {0, 5, 6}, 4: {0, 5, 6}, 5: {5, 6}, 9: {5, 6},
	} {
		w := conversation.Window{Start: 5, Opening: -1, Request: -1, Restored: restored}
		if got := laidOut(v, messages, w, conversation.Kept{}); !slices.Equal(got, want) {
			t.Errorf("restored %d: got %v, want %v", restored, got, want)
		}
	}
	anchored := conversation.Window{Start: 5, Opening: -1, Request: 0, Restored: 5}
	if got, want := laidOut(v, messages, anchored, conversation.Kept{}), []int64{0, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("an anchor that was restored: got %v, want %v", got, want)
	}
}

// TestView_Layout_UnitsMoveWhole: a pinned or restored unit comes with its results. Messages that are not loaded cause no
// error.
func TestView_Layout_UnitsMoveWhole(t *testing.T) {
	messages := script("ucttu")
	kept := conversation.Kept{Pins: []conversation.Range{at(1, 4)}}
	units := fold().Layout(messages[1:], conversation.Window{Start: 4, Opening: -1, Request: -1}, kept)
	if got, want := indices(units), [][]int32{{1, 2, 3}, {4}}; !equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	v := fold(ranged(1, conversation.EditHide, 2, 3))
	units = v.Layout(messages, conversation.Window{Start: 4, Opening: -1, Request: -1}, kept)
	if got, want := indices(units), [][]int32{{1, 3}, {4}}; !equal(got, want) {
		t.Errorf("a hidden result: got %v, want %v", got, want)
	}
	v = fold(ranged(1, conversation.EditRemove, 2, 3))
	units = v.Layout(messages, conversation.Window{Start: 0, Opening: -1, Request: -1}, conversation.Kept{})
	if got, want := indices(units), [][]int32{{0}, {1}, {3}, {4}}; !equal(got, want) {
		t.Errorf("a removed result is not invisible to pairing: got %v, want %v", got, want)
	}
}
