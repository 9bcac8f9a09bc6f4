package record

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// citationSamples are records that use what came after the goldens of the window: citations, contents that come and go, results
// that were recalled. The goldens from before are as they were: a record without any of it is the same bytes.
func citationSamples(at time.Time) map[string]sample {
	cited := sampleEdit(at)
	cited.Kind, cited.Summary, cited.Mask, cited.Reason = conversation.EditParts, nil, nil, conversation.ReasonOverCitationThreshold
	cited.Parts[0].Level, cited.Parts[0].Shown.Citation = conversation.Cited, sampleCitation()
	stored := sampleEdit(at)
	stored.Kind, stored.Summary, stored.Mask, stored.Parts = conversation.EditStoreContent, nil, nil, nil
	stored.Reason, stored.Content = conversation.ReasonStoreContentRequest, "c12-abcd2345"
	stored.Range = conversation.Range{First: 18, End: 18}
	expired := stored
	expired.Kind, expired.Reason, expired.Range = conversation.EditExpireContent, conversation.ReasonRunEnded, conversation.Range{First: 3, End: 4}
	info := sampleInfo()
	info.Policy.Citations = conversation.CitationsPolicy{On: new(true), ThresholdChars: new(int32), ReleaseOnEndRun: new(bool)}
	return map[string]sample{
		"citations-message": newSample(recalledMessage(at), (*Codec).EncodeMessage, (*Codec).DecodeMessage),
		"citations-edit":    newSample(cited, (*Codec).EncodeEdit, (*Codec).DecodeEdit),
		"citations-store":   newSample(stored, (*Codec).EncodeEdit, (*Codec).DecodeEdit),
		"citations-expire":  newSample(expired, (*Codec).EncodeEdit, (*Codec).DecodeEdit),
		"citations-info":    newSample(info, (*Codec).EncodeInfo, (*Codec).DecodeInfo),
	}
}

func sampleCitation() *conversation.Citation {
	return &conversation.Citation{
		ContentID: "c7-zyxw5432", SourceType: conversation.SourceTypeSearch, SourceURL: "https://example.com/?q=ü", ContentType: "application/json",
		TotalBytes: 1 << 30, TotalChars: 1<<30 - 1, Location: "section: Einführung\xff", ExcerptFrom: 20, ExcerptEnd: 520, HowFrom: 540,
	}
}

// recalledMessage answers two calls: with a content, and with the first message of all.
func recalledMessage(at time.Time) conversation.Message {
	result := func(call string, recalled conversation.Recalled) conversation.Part {
		return conversation.Part{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{
			CallID: call, Name: conversation.ToolRetrieve, Text: conversation.Content{Inline: "again"}, Recalled: &recalled,
		}}
	}
	return conversation.Message{
		ID: "m-19", Index: 19, Role: conversation.RoleTool, CreateTime: at, Tokens: 40, Commit: 43,
		Parts: []conversation.Part{result("c1", conversation.Recalled{ContentID: "c7-zyxw5432", Index: 17}), result("c2", conversation.Recalled{})},
	}
}

// TestCodec_EmptyCitations_AreNotAbsent: a citation and a recall that say nothing come back as what they are; a policy that sets
// nothing of citations is nothing written.
func TestCodec_EmptyCitations_AreNotAbsent(t *testing.T) {
	c := New()
	want := conversation.Message{Parts: []conversation.Part{
		{Citation: &conversation.Citation{}},
		{Result: &conversation.ToolResult{Recalled: &conversation.Recalled{}}},
		{Result: &conversation.ToolResult{}},
	}}
	got, err := c.DecodeMessage(c.EncodeMessage(&want))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, p := range []conversation.CitationsPolicy{{On: new(bool)}, {ThresholdChars: new(int32)}, {ReleaseOnEndRun: new(bool)}, {RecallTools: new([]string)}, {RecallTools: &[]string{"a", ""}}} {
		want := store.Info{Policy: conversation.Policy{Citations: p}}
		got, err := c.DecodeInfo(c.EncodeInfo(&want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}
