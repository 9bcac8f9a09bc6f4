package record

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store/record/recordpb"
)

// memorySamples are the slots that the way to memories is kept in.
func memorySamples(at time.Time, id conversation.ID) map[string]sample {
	return map[string]sample{
		"memory-sync": inSlot(MemorySync{
			Next: 12, Edits: 7, Session: 2, SessionStart: 5, Passed: at, Ends: []int32{12, 14}, Again: []conversation.Range{{First: 2, End: 4}},
			Owner: "00ff", Until: at.Add(5), Attempts: 3, NextTry: at.Add(6), State: 1, Reason: "429", Skipped: 1, Size: 4, Sent: at.Add(7),
			Flight: &MemoryFlight{
				First: 12, End: 16, SHA256: [32]byte{31: 9}, Key: "0a1b", Session: 3, Sent: at.Add(8), Pending: true, Again: true, Void: true,
			},
			Lineages: 2, Scopes: 3, Residue: []string{"its history"},
		}, EncodeMemorySync, DecodeMemorySync),
		"memory-lineage": inSlot(MemoryLineage{Origins: []MemoryOrigin{
			{Range: conversation.Range{First: 0, End: 4}, IDs: []string{"a", "b"}}, {Range: conversation.Range{First: 4, End: 9}, IDs: []string{"c"}},
		}}, EncodeMemoryLineage, DecodeMemoryLineage),
		"memory-retraction": inSlot(MemoryErrand{
			Kind: 1, Namespace: "n", Target: "mem0", Created: at, Attempts: 2, NextTry: at.Add(9), Actor: "u", Conversation: "c", Incarnation: id,
			Scopes: 1, KeepFacts: true, Lineages: 4,
		}, EncodeMemoryErrand, DecodeMemoryErrand),
		"memory-forgetting": inSlot(MemoryErrand{
			Kind: 2, Namespace: "n", Target: "mem0", Created: at, State: 3, Actor: "u", Deleted: 90, Residue: []string{"its history"}, Done: at.Add(1),
			Records: true, After: "c", Scanned: true, Conversations: 5, Looks: 2,
		}, EncodeMemoryErrand, DecodeMemoryErrand),
		"memory-mark": inSlot(MemoryMark{Time: at, Errand: "0a1b"}, EncodeMemoryMark, DecodeMemoryMark),
	}
}

func TestSlots_OfMemories_RoundTrip(t *testing.T) {
	roundTrips(t, "Sync", ofSlot(EncodeMemorySync), fromSlot(DecodeMemorySync), func() proto.Message { return new(recordpb.MemorySync) })
	roundTrips(t, "Lineage", ofSlot(EncodeMemoryLineage), fromSlot(DecodeMemoryLineage), func() proto.Message { return new(recordpb.MemoryLineage) })
	roundTrips(t, "Errand", ofSlot(EncodeMemoryErrand), fromSlot(DecodeMemoryErrand), func() proto.Message { return new(recordpb.MemoryErrand) })
	roundTrips(t, "Mark", ofSlot(EncodeMemoryMark), fromSlot(DecodeMemoryMark), func() proto.Message { return new(recordpb.MemoryMark) })
}
