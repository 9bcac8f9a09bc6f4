package record

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// memoryPolicySamples are records that use what came with memory across conversations.
func memoryPolicySamples(at time.Time) map[string]sample {
	n, wait, floor := new(int32(7)), new(time.Minute), new(0.5)
	info := sampleInfo()
	info.Policy.Memory = conversation.MemoryPolicy{
		On: new(true), Sync: conversation.SyncEndOfSession, BatchMessages: n, BatchTokens: n, BatchMaxAge: wait, SyncDelay: new(time.Duration),
		SessionIdle: wait, SyncRoles: &[]conversation.Role{conversation.RoleUser, conversation.RoleAssistant},
		Extract: conversation.ExtractNone, SyncScope: conversation.MemoryScopeSession, Infer: new(false), OnDelete: conversation.OnDeleteKeep,
		Recall: conversation.RecallPolicy{
			Off: new(false), Scopes: &[]conversation.MemoryScope{conversation.MemoryScopeUser, conversation.MemoryScopeOrg}, MaxMemories: n,
			MaxEachTokens: n, MaxTokens: n, Deadline: wait, Floor: floor, MaxViewPercent: n,
		},
	}
	message := recalledMessage(at)
	message.Parts[0].Result.Recalled = &conversation.Recalled{Memories: true}
	recall := conversation.Edit{
		Seq: 4, Kind: conversation.EditRecall, Range: conversation.Range{First: 2, End: 3}, Reason: conversation.ReasonMemoriesAnswer, Turn: 2, Time: at, After: 30, Commit: 9,
		Parts: []conversation.PartEdit{{Part: conversation.RecalledPart, Shown: conversation.Part{
			Kind: conversation.PartText, Text: conversation.Content{Inline: "<memories>"}, Tokens: 30,
			Recalled: &conversation.RecalledMemories{Memories: []conversation.RecalledMemory{{
				ID: "m1", Kind: 1, Scope: conversation.MemoryScopeUser, Text: "t", SaidBy: "user", Time: at, Score: 0.5,
				Sources: []conversation.RecalledSource{{Conversation: "c", First: 1, Last: 2, Time: at}},
			}}},
		}}},
	}
	return map[string]sample{
		"memory-recall":  newSample(recall, (*Codec).EncodeEdit, (*Codec).DecodeEdit),
		"memory-info":    newSample(info, (*Codec).EncodeInfo, (*Codec).DecodeInfo),
		"memory-message": newSample(message, (*Codec).EncodeMessage, (*Codec).DecodeMessage),
	}
}

// TestCodec_EmptyListsOfMemory_AreNotAbsent: a list that is set and empty comes back as it is, and so does a floor of 0.
func TestCodec_EmptyListsOfMemory_AreNotAbsent(t *testing.T) {
	c := New()
	for _, p := range []conversation.MemoryPolicy{
		{SyncRoles: new([]conversation.Role)}, {Recall: conversation.RecallPolicy{Scopes: new([]conversation.MemoryScope)}},
		{Recall: conversation.RecallPolicy{Floor: new(float64)}},
	} {
		want := store.Info{Policy: conversation.Policy{Memory: p}}
		got, err := c.DecodeInfo(c.EncodeInfo(&want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}
