package record

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// memorySamples are records that use what came with memory across conversations.
func memorySamples(at time.Time) map[string]sample {
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
	return map[string]sample{
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
