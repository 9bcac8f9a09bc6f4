package transfer

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/erasures"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// TestImportedRecord_CheckSlot_EntriesOfNoMessage_AreRefused: whatever an export says was noted beside a conversation is of its own messages.
func TestImportedRecord_CheckSlot_EntriesOfNoMessage_AreRefused(t *testing.T) {
	const messages = 5
	of := &importedRecord{messages: messages}
	due := func(index, turn int32) []byte {
		return record.EncodeErasures([]record.Erasure{{Index: index, Turn: turn}}, nil)
	}
	pruned := func(index, part int32) []byte {
		return record.EncodeReclaims([]record.Reclaim{{Index: index, Part: part, At: 9}}, nil)
	}
	asked := func(index, part, turn int32) []byte {
		return record.EncodeAskedSummaries([]record.AskedSummary{{Index: index, Part: part, Turn: turn}}, nil)
	}
	fit := func(budget int64, start int32) []byte {
		return record.EncodeFits([]record.Fit{{Budget: budget, Window: conversation.WindowFrom(start)}}, nil)
	}
	used := func(u record.UsageReport) []byte { return record.EncodeUsageReport(&u) }
	for _, tt := range []struct {
		slot  string
		value []byte
		taken bool
	}{
		{erasures.DueSlot, due(messages-1, 0), true},
		{erasures.DueSlot, due(messages, 0), false},
		{erasures.DueSlot, due(-1, 0), false},
		{erasures.DueSlot, due(0, -1), false},
		{erasures.PrunedSlot, pruned(messages-1, 0), true},
		{erasures.PrunedSlot, pruned(messages, 0), false},
		{erasures.PrunedSlot, pruned(-1, 0), false},
		{erasures.PrunedSlot, pruned(0, -1), false},
		{drafts.RequestedSlot, asked(messages-1, -1, 0), true},
		{drafts.RequestedSlot, asked(messages, 0, 0), false},
		{drafts.RequestedSlot, asked(-1, 0, 0), false},
		{drafts.RequestedSlot, asked(0, -2, 0), false},
		{drafts.RequestedSlot, asked(0, 0, -1), false},
		{view.BudgetWindowsSlot, fit(1, messages), true},
		{view.BudgetWindowsSlot, fit(1, -1), true}, // of a window that is to be found anew
		{view.BudgetWindowsSlot, fit(1, messages+1), false},
		{view.BudgetWindowsSlot, fit(0, 0), false},
		{view.UsedSlot, used(record.UsageReport{Messages: messages}), true},
		{view.UsedSlot, used(record.UsageReport{Messages: messages + 1}), false},
		{view.UsedSlot, used(record.UsageReport{Messages: -1}), false},
		{view.UsedSlot, used(record.UsageReport{Context: -1}), false},
		{view.UsedSlot, used(record.UsageReport{Output: maxReported + 1}), false},
		{"another", []byte("x"), false},
	} {
		got, err := of.checkSlot(tt.slot, tt.value)
		if taken := err == nil && got != nil; taken != tt.taken {
			t.Errorf("%s with %q: taken %t, %v", tt.slot, tt.value, taken, err)
		}
	}
}
