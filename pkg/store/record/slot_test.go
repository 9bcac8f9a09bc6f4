package record

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record/recordpb"
)

// inSlot is a sample of what a slot holds.
func inSlot[T any](v T, encode func(*T) []byte, decode func([]byte) (T, error)) sample {
	return newSample(v, ofSlot(encode), fromSlot(decode))
}

func ofSlot[T any](encode func(*T) []byte) func(*Codec, *T) []byte {
	return func(c *Codec, v *T) []byte { return c.EncodeSlot(encode(v)) }
}

func fromSlot[T any](decode func([]byte) (T, error)) func(*Codec, []byte) (T, error) {
	return func(c *Codec, value []byte) (T, error) {
		data, err := c.DecodeSlot(value)
		if err != nil {
			var none T
			return none, err
		}
		return decode(data)
	}
}

// anew encodes a list that replaces nothing.
func anew[T any](encode func(T, []byte) []byte) func(*T) []byte {
	return func(v *T) []byte { return encode(*v, nil) }
}

func calibrationAnew(c *Calibration) []byte { return EncodeCalibration(c, nil) }

// slotSamples are the values of slots by the names of their goldens.
func slotSamples() map[string]sample {
	plan := Plan{EditSeq: 9, Cut: 14, Steps: []Step{
		{Range: conversation.Range{First: 2, End: 8}, Own: conversation.Range{First: 4, End: 8}, Level: 1, Children: []int64{3, 5}},
		{Range: conversation.Range{First: 2, End: 14}, Steps: []int{0, 1}},
	}}
	until := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	facts := Facts{Body: 12, Facts: []conversation.Fact{{Kind: 2, Text: "path <é>", Count: 3, Of: []int32{4, 9}}, {Kind: 1, Text: "x"}}}
	return map[string]sample{
		"fits": inSlot([]Fit{
			{Budget: 8000, Window: conversation.Window{
				Start: 4, Request: 2, Opening: 1, Restored: 7, Afresh: 3,
				Cuts: []conversation.Cut{{Message: 5, Head: 6, From: 7, Tail: 8}, {Summary: 9, Head: 1}},
			}},
			{Budget: 2000, Window: conversation.Window{Start: -1, Request: -1, Opening: -1}},
		}, anew(EncodeFits), DecodeFits),
		"asked":       inSlot([]AskedSummary{{Index: 4, Part: -1, Turn: 3}, {Index: 5, Part: 2, Turn: 4}}, anew(EncodeAskedSummaries), DecodeAskedSummaries),
		"erasures":    inSlot([]Erasure{{Index: 4, Turn: 3}, {Index: 9, Turn: 12}}, anew(EncodeErasures), DecodeErasures),
		"reclaims":    inSlot([]Reclaim{{Index: 4, Part: 1, At: 1770000000}, {Index: 5, At: 1770000001}}, anew(EncodeReclaims), DecodeReclaims),
		"calibration": inSlot(Calibration{Prior: 1.25, Counted: 900, Reported: 1000, CountedSum: 12.5, ReportedSum: 14.25}, calibrationAnew, DecodeCalibration),
		"usage": inSlot(UsageReport{
			Manifest: 7, Model: "model", Messages: 5, Counted: 900, Context: 1000, Output: 90, Thought: 40, Spent: true,
		}, EncodeUsageReport, DecodeUsageReport),
		"draft":  inSlot(Draft{State: "ready", Plan: plan}, EncodeDraft, DecodeDraft),
		"lease":  inSlot(Draft{State: "preparing", Owner: "00ff", Until: until.Add(678), Plan: plan}, EncodeDraft, DecodeDraft),
		"failed": inSlot(Draft{State: "failed", Until: until, Reason: "the model was late"}, EncodeDraft, DecodeDraft),
		"text":   inSlot(DraftText{Text: "a text and a list", Model: "m/x", Facts: facts}, EncodeDraftText, DecodeDraftText),
		"facts":  inSlot(facts, EncodeFacts, DecodeFacts),
		"run": inSlot(Run{
			ID: "run-1", Used: 1770000000123, End: 1770000001123, Gone: true, Sources: [][2]int64{{1, 3}, {7, 7}},
		}, EncodeRun, DecodeRun),
		"source": inSlot(Source{
			Handle: "c7-abcdefgh", Type: 2, URL: "https://example.com/x", ContentType: "text/plain", Kind: 3, Bytes: 70000, Chars: 69999,
			SHA256: []byte{31: 6}, Accessed: 1770000000123, CitedBy: []int32{3, 8}, Expired: true, Run: "run-1", OfRun: true,
			Metadata: `{"k":"<v>"}`, AtAppend: true, Message: 3, Part: 1, Content: []byte{15: 2},
		}, EncodeSource, DecodeSource),
		"shared": inSlot(SharedBytes{ID: []byte{15: 2}, Count: 3}, EncodeSharedBytes, DecodeSharedBytes),
		"profile": inSlot(conversation.ModelProfile{
			Model: "model", ContextWindowTokens: new(int32(200000)), ReservedOutputTokens: new(int32), Counter: "o200k", Factor: new(1.25),
			MediaTokens: new(int32(1600)), InputPrice: new(3.0), CacheReadPrice: new(0.3), CacheWritePrice: new(3.75), OutputPrice: new(float64),
		}, EncodeModelProfile, DecodeModelProfile),
		"policy": inSlot(conversation.ActionPolicy{
			Key: conversation.ActionKey{AgentActionID: "agent", ActionID: "action", ToolName: "tool"},
			Expiration: conversation.Expiration{
				Turns: new(int32), Mode: conversation.ExpirationCompact, CompactMode: conversation.CompactSummary, CompactLength: new(int32(40)),
				CompactPromptID: "brief", PreserveOriginal: new(bool), Source: conversation.SourceAgentAction,
			},
			DefaultPromptID: "default",
		}, EncodeActionPolicy, DecodeActionPolicy),
		"prompt": inSlot(conversation.Prompt{
			ID: "brief", Version: 3, Template: "<b>{{content}}</b>\n", Models: []string{"m/x", "m/y"}, MaxOutput: 400,
		}, EncodePrompt, DecodePrompt),
	}
}

// TestSlots_JSON_OpensForEver: the files in testdata/json are what was written before slots had messages of their own.
func TestSlots_JSON_OpensForEver(t *testing.T) {
	for name, sample := range slotSamples() {
		t.Run(name, func(t *testing.T) {
			old, err := os.ReadFile(filepath.Join("testdata", "json", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			c := New()
			got, err := sample.decode(c, c.EncodeSlot(old))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(sample.want, got); diff != "" {
				t.Error(diff)
			}
			if _, err := sample.decode(c, c.EncodeSlot(old[:len(old)/2])); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("half of it: %v", err)
			}
			if value, err := c.DecodeSlot(sample.encode(c)); err != nil || isJSON(value) {
				t.Errorf("%q, %v", value, err)
			}
		})
	}
}

func TestSlots_RoundTrip(t *testing.T) {
	roundTrips(t, "Fits", ofSlot(anew(EncodeFits)), fromSlot(DecodeFits), func() proto.Message { return new(recordpb.Fits) })
	roundTrips(t, "Asked", ofSlot(anew(EncodeAskedSummaries)), fromSlot(DecodeAskedSummaries), func() proto.Message { return new(recordpb.AskedSummaries) })
	roundTrips(t, "Erasures", ofSlot(anew(EncodeErasures)), fromSlot(DecodeErasures), func() proto.Message { return new(recordpb.Erasures) })
	roundTrips(t, "HistoryMarks", ofSlot(anew(EncodeHistoryMarks)), fromSlot(DecodeHistoryMarks), func() proto.Message { return new(recordpb.HistoryMarks) })
	roundTrips(t, "Successors", ofSlot(anew(EncodeSuccessors)), fromSlot(DecodeSuccessors), func() proto.Message { return new(recordpb.Successors) })
	roundTrips(t, "Reclaims", ofSlot(anew(EncodeReclaims)), fromSlot(DecodeReclaims), func() proto.Message { return new(recordpb.Reclaims) })
	roundTrips(t, "Calibration", ofSlot(calibrationAnew), fromSlot(DecodeCalibration), func() proto.Message { return new(recordpb.Calibration) })
	roundTrips(t, "UsageReport", ofSlot(EncodeUsageReport), fromSlot(DecodeUsageReport), func() proto.Message { return new(recordpb.UsageReport) })
	roundTrips(t, "Draft", ofSlot(EncodeDraft), fromSlot(DecodeDraft), func() proto.Message { return new(recordpb.Draft) })
	roundTrips(t, "DraftText", ofSlot(EncodeDraftText), fromSlot(DecodeDraftText), func() proto.Message { return new(recordpb.DraftText) })
	roundTrips(t, "Facts", ofSlot(EncodeFacts), fromSlot(DecodeFacts), func() proto.Message { return new(recordpb.Facts) })
	roundTrips(t, "Run", ofSlot(EncodeRun), fromSlot(DecodeRun), func() proto.Message { return new(recordpb.Run) })
	roundTrips(t, "Source", ofSlot(EncodeSource), fromSlot(DecodeSource), func() proto.Message { return new(recordpb.Source) })
	roundTrips(t, "SharedBytes", ofSlot(EncodeSharedBytes), fromSlot(DecodeSharedBytes), func() proto.Message { return new(recordpb.SharedBytes) })
	roundTrips(t, "ModelProfile", ofSlot(EncodeModelProfile), fromSlot(DecodeModelProfile), func() proto.Message { return new(recordpb.ModelProfile) })
	roundTrips(t, "ActionPolicy", ofSlot(EncodeActionPolicy), fromSlot(DecodeActionPolicy), func() proto.Message { return new(recordpb.ActionPolicy) })
	roundTrips(t, "FormerRequests", ofSlot(EncodeFormerRequests), fromSlot(DecodeFormerRequests), func() proto.Message { return new(recordpb.FormerRequests) })
	roundTrips(t, "Prompt", ofSlot(EncodePrompt), fromSlot(DecodePrompt), func() proto.Message { return new(recordpb.Prompt) })
}
