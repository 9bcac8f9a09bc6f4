package record

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// windowSamples are records that use what came after the goldens of the lifecycle: pruning, summaries with all that belongs to
// them, rewinding. The goldens from before are as they were: a record without any of it is the same bytes.
func windowSamples(at time.Time, id conversation.ID) map[string]sample {
	edit := sampleEdit(at)
	edit.Parts, edit.Mask, edit.Reason = nil, nil, conversation.ReasonSummariesMerged
	edit.Summary = fullSummary(conversation.Content{Inline: "done"}, conversation.Content{Inline: `{"body":4,"facts":[]}`})
	stored := edit
	stored.Summary = fullSummary(reference(id, 70_000), reference(id, 20_000))
	hide := sampleEdit(at)
	hide.Kind, hide.Parts, hide.Mask, hide.Summary, hide.Reason = conversation.EditHide, nil, nil, nil, conversation.ReasonRewindRequest
	info := sampleInfo()
	info.Policy = windowPolicy()
	return map[string]sample{
		"window-edit":   newSample(edit, (*Codec).EncodeEdit, (*Codec).DecodeEdit),
		"window-stored": newSample(stored, (*Codec).EncodeEdit, (*Codec).DecodeEdit),
		"window-hide":   newSample(hide, (*Codec).EncodeEdit, (*Codec).DecodeEdit),
		"window-info":   newSample(info, (*Codec).EncodeInfo, (*Codec).DecodeInfo),
	}
}

func reference(id conversation.ID, bytes int64) conversation.Content {
	return conversation.Content{Ref: &conversation.ContentRef{ID: id, Bytes: bytes, Chars: bytes - 1, SHA256: [32]byte{3, 31: 4}}}
}

func fullSummary(text, facts conversation.Content) *conversation.Summary {
	return &conversation.Summary{
		ID: 9, Level: 2, Children: []int64{5, 8}, Text: text, Tokens: 40, Except: []conversation.Range{{First: 3, End: 5}, {First: 7, End: 8}},
		Facts: facts, Model: "anthropic/m", Recorded: 900, Erased: true,
	}
}

func windowPolicy() conversation.Policy {
	number, zero, none, year := int32(11), int32(0), []string(nil), 365*24*time.Hour
	return conversation.Policy{
		Pruning: conversation.PruningPolicy{
			Off: new(bool), ProtectTokens: &number, MinimumTokens: &zero, MaxPartTokens: &number, ProtectedTools: &none,
			ProtectedPrefixes: &[]string{"tool-", ""}, EraseAfter: &year,
		},
		Compaction: conversation.CompactionPolicy{
			Strategy: conversation.StrategySlidingWindow, ThresholdMessages: &zero, PreparePercent: &number, KeepRecent: &zero, TailPercent: &number,
			TargetPercent: &number, MinShrinkPercent: &number, FanOut: &number, SummaryTokens: &number, PromptID: new(string), CountReasoning: new(true),
		},
	}
}

// TestCodec_EmptySettings_AreNotAbsent: a list of no tools, a prompt without a name and zeros are set, and nothing set is
// nothing written.
func TestCodec_EmptySettings_AreNotAbsent(t *testing.T) {
	c := New()
	for _, p := range []conversation.Policy{
		{Pruning: conversation.PruningPolicy{ProtectedTools: new([]string)}},
		{Pruning: conversation.PruningPolicy{ProtectedPrefixes: &[]string{""}}},
		{Pruning: conversation.PruningPolicy{EraseAfter: new(time.Duration)}},
		{Compaction: conversation.CompactionPolicy{PromptID: new(string)}},
		{Compaction: conversation.CompactionPolicy{KeepRecent: new(int32), CountReasoning: new(bool)}},
		{Compaction: conversation.CompactionPolicy{LivePrefix: new(bool), SummaryInputTokens: new(int32)}},
	} {
		want := store.Info{Policy: p}
		value := c.EncodeInfo(&want)
		got, err := c.DecodeInfo(value)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(value) == headerBytes {
			t.Errorf("%d bytes: %s", len(value)-headerBytes, diff)
		}
	}
}
