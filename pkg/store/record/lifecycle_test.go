package record

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// lifecycleSamples are records that use what came after the first goldens: expiration, retention, erasure, expansion. Those
// of the first goldens are as they were: a record without any of it is the same bytes.
func lifecycleSamples(at time.Time, id conversation.ID) map[string]sample {
	edit := sampleEdit(at)
	edit.Kind, edit.Summary = conversation.EditParts, nil
	edit.Parts = append(edit.Parts, conversation.PartEdit{Part: 2, Level: conversation.Cleared}, conversation.PartEdit{
		Part: 3, Level: conversation.Shortened,
		Shown: conversation.Part{Kind: conversation.PartText, Text: erased(300, 0), Plugin: "memory"},
	})
	manifest := sampleManifest(at)
	manifest.Window.Restored = 8
	head := sampleHead(at, id)
	head.SeenBefore, head.Place = 15, conversation.Place{Carrying: 3, Inputs: 9}
	info := sampleInfo()
	info.Policy = lifecyclePolicy()
	expecting := sampleInfo()
	expecting.Policy.Rewrite.ExpectTurns = new(int32)
	pausing := sampleInfo()
	pausing.Policy.Rewrite.ColdCutPercent = new(int32(100))
	return map[string]sample{
		"lifecycle-message":  newSample(lifecycleMessage(at, "m"), (*Codec).EncodeMessage, (*Codec).DecodeMessage),
		"lifecycle-long":     newSample(lifecycleMessage(at, strings.Repeat("a plugin, ", 60)), (*Codec).EncodeMessage, (*Codec).DecodeMessage),
		"lifecycle-edit":     newSample(edit, (*Codec).EncodeEdit, (*Codec).DecodeEdit),
		"lifecycle-manifest": newSample(manifest, (*Codec).EncodeManifest, (*Codec).DecodeManifest),
		"lifecycle-head":     newSample(head, (*Codec).EncodeHead, (*Codec).DecodeHead),
		"unit-message":       newSample(unitMessage(at), (*Codec).EncodeMessage, (*Codec).DecodeMessage),
		"named-message":      newSample(namedMessage(at), (*Codec).EncodeMessage, (*Codec).DecodeMessage),
		"unit-head":          newSample(unitHead(at, id), (*Codec).EncodeHead, (*Codec).DecodeHead),
		"lifecycle-info":     newSample(info, (*Codec).EncodeInfo, (*Codec).DecodeInfo),
		"expecting-info":     newSample(expecting, (*Codec).EncodeInfo, (*Codec).DecodeInfo),
		"pausing-info":       newSample(pausing, (*Codec).EncodeInfo, (*Codec).DecodeInfo),
	}
}

func erased(bytes, chars int64) conversation.Content {
	return conversation.Content{Erased: &conversation.ErasedContent{Bytes: bytes, Chars: chars, Hash: [32]byte{7, 31: 8}}}
}

// unitMessage and unitHead are records that say which unit a message is of.
func unitMessage(at time.Time) conversation.Message {
	return conversation.Message{ID: "m19", Index: 19, Role: conversation.RoleAssistant, CreateTime: at, Tokens: 4, Commit: 43, Unit: 18}
}

// namedMessage is a record that says who speaks.
func namedMessage(at time.Time) conversation.Message {
	m := unitMessage(at)
	m.Role, m.Name, m.Tokens = conversation.RoleUser, "Zoë \u2028]", 12
	return m
}

func unitHead(at time.Time, id conversation.ID) store.Head {
	h := sampleHead(at, id)
	h.CallsEnd = 20
	return h
}

func lifecycleMessage(at time.Time, plugin string) conversation.Message {
	keep := conversation.Retention{Kind: conversation.RetentionKeepLast, Last: 2}
	return conversation.Message{
		ID: "m-18", Index: 18, Role: conversation.RoleTool, CreateTime: at, Tokens: 40, Commit: 42,
		Expiration: &conversation.Expiration{
			Turns: new(int32), Mode: conversation.ExpirationCompact, CompactMode: conversation.CompactSummary, CompactLength: new(int32(40)),
			CompactPromptID: "brief", PreserveOriginal: new(bool), Source: conversation.SourceAgentAction,
		},
		Place: conversation.Place{Carrying: 4, Inputs: 11},
		Parts: []conversation.Part{
			{Kind: conversation.PartText, Text: erased(12, 11), Tokens: 3},
			{Kind: conversation.PartMedia, Media: &conversation.Media{MIMEType: "image/png", Data: erased(5000, 0)}},
			{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{
				CallID: "c1", Text: erased(2, 2), Expiration: &conversation.Expiration{Turns: new(int32(3)), Mode: conversation.ExpirationRemove},
			}},
			{
				Kind: conversation.PartText, Text: conversation.Content{Inline: "header"}, Plugin: plugin, Variant: conversation.DisplayOnly,
				Retention: conversation.Retention{Kind: conversation.RetentionPermanent},
			},
			{Kind: conversation.PartText, Text: conversation.Content{Inline: "fact"}, Plugin: plugin, Variant: conversation.PersistentOnly, Retention: keep},
		},
	}
}

func lifecyclePolicy() conversation.Policy {
	cold, wait := 5*time.Minute, time.Duration(0)
	return conversation.Policy{
		Expiration: conversation.ExpirationPolicy{Off: new(bool), Results: conversation.Expiration{
			Turns: new(int32(2)), Mode: conversation.ExpirationNone, CompactMode: conversation.CompactFirstChars, PreserveOriginal: new(true),
		}},
		Retention: conversation.RetentionPolicy{AllInputs: new(true)},
		Rewrite: conversation.RewritePolicy{
			Mode: conversation.RewriteEager, MinGainTokens: new(int32), MaxDeferralTurns: new(int32(10)), ColdAfter: &cold,
		},
		MaxWait: &wait,
	}
}

// TestCodec_Empty_IsNotAbsent: an expiration that sets nothing, and what is left of erased content of no length, come back as
// what they are. A policy holds its expiration by value: there, nothing set is nothing written.
func TestCodec_Empty_IsNotAbsent(t *testing.T) {
	c := New()
	want := conversation.Message{
		Expiration: &conversation.Expiration{},
		Parts: []conversation.Part{
			{Text: conversation.Content{Erased: &conversation.ErasedContent{}}},
			{Result: &conversation.ToolResult{Expiration: &conversation.Expiration{}}},
			{Result: &conversation.ToolResult{}},
		},
	}
	got, err := c.DecodeMessage(c.EncodeMessage(&want))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if value := c.EncodeInfo(&store.Info{}); len(value) != headerBytes {
		t.Errorf("a policy that sets nothing takes %d bytes", len(value)-headerBytes)
	}
}
