package conversation_test

import (
	"slices"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// script makes a record out of letters: s(ystem), u(ser), a(ssistant), c(alls: an assistant that calls), t(ool). Every part
// weighs 10, every message 4 more.
func script(letters string) []conversation.Message {
	var out []conversation.Message
	var open []int32
	ordinal := int32(0)
	for i, letter := range letters {
		m := conversation.Message{Index: int32(i), Tokens: 14}
		text := conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: letters[:i+1]}, Tokens: 10}
		switch letter {
		case 's':
			m.Role, m.Parts = conversation.RoleSystem, []conversation.Part{text}
		case 'u':
			m.Role, m.Parts = conversation.RoleUser, []conversation.Part{text}
		case 'a':
			m.Role, m.Parts = conversation.RoleAssistant, []conversation.Part{text}
		case 'c':
			ordinal++
			open = append(open, ordinal)
			m.Role, m.Parts = conversation.RoleAssistant, []conversation.Part{
				{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{CallID: "same", Ordinal: ordinal}, Tokens: 10},
			}
		case 't':
			answers := int32(0)
			if len(open) > 0 {
				answers, open = open[0], open[1:]
			}
			m.Role, m.Parts = conversation.RoleTool, []conversation.Part{
				{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{CallID: "same", Ordinal: answers}, Tokens: 10},
			}
		}
		out = append(out, m)
	}
	return out
}

func items(messages []conversation.Message, without ...int32) []conversation.Item {
	var out []conversation.Item
	for i := range messages {
		if !slices.Contains(without, messages[i].Index) {
			out = append(out, conversation.Item{Message: &messages[i], Parts: messages[i].Parts})
		}
	}
	return out
}

func indices(units []conversation.Unit) [][]int32 {
	var out [][]int32
	for i := range units {
		var unit []int32
		for j := range units[i].Items {
			unit = append(unit, units[i].Items[j].Message.Index)
		}
		out = append(out, unit)
	}
	return out
}

func equal(a, b [][]int32) bool {
	return slices.EqualFunc(a, b, slices.Equal[[]int32])
}

// TestUnits_Stored_GroupsAsStored: messages say to which unit they belong. Messages that are not in view, for whatever reason,
// do not divide a unit.
func TestUnits_Stored_GroupsAsStored(t *testing.T) {
	messages := script("uccattctt")
	for i, unit := range []int32{0, 1, 1, 1, 1, 1, 6, 6, 8} {
		messages[i].Unit = unit + 1
	}
	if got, want := indices(conversation.Units(items(messages), nil)), [][]int32{{0}, {1, 2, 3, 4, 5}, {6, 7}, {8}}; !equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := indices(conversation.Units(items(messages, 1, 3, 6), nil)), [][]int32{{0}, {2, 4, 5}, {7}, {8}}; !equal(got, want) {
		t.Errorf("without some: got %v, want %v", got, want)
	}
}

// TestUnits_StoredBehindOld_GroupTogether: results stored with their unit join calls from before units were stored.
func TestUnits_StoredBehindOld_GroupTogether(t *testing.T) {
	messages := script("cttt")
	messages[2].Unit, messages[3].Unit = 1, 4
	if got, want := indices(conversation.Units(items(messages), nil)), [][]int32{{0, 1, 2}, {3}}; !equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestUnits_NotStored_GroupsByPosition: records from before units were stored keep the units that they had.
func TestUnits_NotStored_GroupsByPosition(t *testing.T) {
	for _, tt := range []struct {
		name, record string
		want         [][]int32
	}{
		{"nothing", "", nil},
		{"every message alone", "sua", [][]int32{{0}, {1}, {2}}},
		{"an assistant with calls and what directly follows", "ucttu", [][]int32{{0}, {1, 2, 3}, {4}}},
		{"calls without results", "ucu", [][]int32{{0}, {1}, {2}}},
		{"the next message of another kind closes", "cutt", [][]int32{{0}, {1}, {2}, {3}}},
		{"a system message closes", "ctst", [][]int32{{0, 1}, {2}, {3}}},
		{"an assistant closes, with calls or without", "ctact", [][]int32{{0, 1}, {2}, {3, 4}}},
		{"an assistant without calls takes no results", "at", [][]int32{{0}, {1}}},
		{"late results do not join each other", "cutt", [][]int32{{0}, {1}, {2}, {3}}},
		{"results first", "tt", [][]int32{{0}, {1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := indices(conversation.Units(items(script(tt.record)), nil)); !equal(got, tt.want) {
				t.Errorf("%s: got %v, want %v", tt.record, got, tt.want)
			}
		})
	}
}

func TestUnits_Gap_EndsUnitUnlessHidden(t *testing.T) {
	messages := script("cuttu")
	missing := items(messages, 1)
	if got, want := indices(conversation.Units(missing, nil)), [][]int32{{0}, {2}, {3}, {4}}; !equal(got, want) {
		t.Errorf("a gap that nobody explains: got %v, want %v", got, want)
	}
	none := func(conversation.Range) bool { return false }
	if got, want := indices(conversation.Units(missing, none)), [][]int32{{0}, {2}, {3}, {4}}; !equal(got, want) {
		t.Errorf("a gap that is not hidden: got %v, want %v", got, want)
	}
	var asked []conversation.Range
	hidden := func(r conversation.Range) bool { asked = append(asked, r); return true }
	if got, want := indices(conversation.Units(missing, hidden)), [][]int32{{0, 2, 3}, {4}}; !equal(got, want) {
		t.Errorf("a hidden gap: got %v, want %v", got, want)
	}
	if want := []conversation.Range{{First: 1, End: 2}}; !slices.Equal(asked, want) {
		t.Errorf("asked about %v, want %v", asked, want)
	}
}

func TestUnits_Result_DoesNotReachIntoTheNextUnit(t *testing.T) {
	units := conversation.Units(items(script("ctu")), nil)
	units[0].Items = append(units[0].Items, conversation.Item{})
	if units[1].Items[0].Message == nil {
		t.Error("appending to a unit changed the next one")
	}
}

func TestUnit_Figures_AddUp(t *testing.T) {
	messages := script("uctt")
	units := conversation.Units(items(messages), nil)
	if u := units[1]; u.First() != 1 || u.Last() != 3 || u.Tokens() != 3*14 {
		t.Errorf("first %d, last %d, tokens %d", u.First(), u.Last(), u.Tokens())
	}
	s := conversation.Unit{Summary: &conversation.Edit{
		Range: conversation.Range{First: 3, End: 8}, Summary: &conversation.Summary{Tokens: 77},
	}}
	if s.First() != 3 || s.Last() != 7 || s.Tokens() != 77 {
		t.Errorf("summary: first %d, last %d, tokens %d", s.First(), s.Last(), s.Tokens())
	}
}

func TestUnit_OpenCalls_ByOrdinalNotById(t *testing.T) {
	calls := func(ordinals ...int32) conversation.Message {
		m := conversation.Message{Role: conversation.RoleAssistant}
		for _, o := range ordinals {
			m.Parts = append(m.Parts, conversation.Part{
				Kind: conversation.PartToolCall, Call: &conversation.ToolCall{CallID: "same", Ordinal: o},
			})
		}
		return m
	}
	result := func(index, ordinal int32) conversation.Message {
		return conversation.Message{Index: index, Role: conversation.RoleTool, Parts: []conversation.Part{
			{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{CallID: "same", Ordinal: ordinal}},
		}}
	}
	open := func(messages ...conversation.Message) []int32 {
		units := conversation.Units(items(messages), nil)
		if len(units) != 1 {
			t.Fatalf("%d units", len(units))
		}
		var out []int32
		for range 2 { // asking twice must not change the answer
			out = nil
			for _, c := range units[0].OpenCalls() {
				out = append(out, c.Ordinal)
			}
		}
		return out
	}
	for _, tt := range []struct {
		name string
		got  []int32
		want []int32
	}{
		{"none answered", open(calls(7, 8, 9)), []int32{7, 8, 9}},
		{"the middle one answered", open(calls(7, 8, 9), result(1, 8)), []int32{7, 9}},
		{"all answered in another order", open(calls(7, 8), result(1, 8), result(2, 7)), nil},
		{"a result of another unit's call", open(calls(7), result(1, 3)), []int32{7}},
	} {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%s: open %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}
