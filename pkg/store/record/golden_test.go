package record

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// sample is a record with its codec, for tests over all kinds.
type sample struct {
	want   any
	encode func(*Codec) []byte
	decode func(*Codec, []byte) (any, error)
}

func newSample[T any](v T, encode func(*Codec, *T) []byte, decode func(*Codec, []byte) (T, error)) sample {
	return sample{
		want:   v,
		encode: func(c *Codec) []byte { return encode(c, &v) },
		decode: func(c *Codec, b []byte) (any, error) { return decode(c, b) },
	}
}

// TestCodec_Golden_OpensForEver: stored values of every version that was released. A file is written when its kind is new
// (PALIMPSEST_GOLDEN=1), and never again: a change that cannot read it cannot read what users have.
func TestCodec_Golden_OpensForEver(t *testing.T) {
	for name, sample := range samples() {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", "v1", name+".golden")
			if os.Getenv("PALIMPSEST_GOLDEN") != "" {
				writeGolden(t, file, sample.encode(New()))
			}
			value, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := sample.decode(New(), value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(sample.want, got); diff != "" {
				t.Error(diff)
			}
			if !bytes.Equal(payload(t, sample.encode(New())), payload(t, value)) {
				t.Error("this version writes other bytes for it")
			}
		})
	}
}

// writeGolden leaves a file that is there alone: it is what users have.
func writeGolden(t *testing.T, file string, value []byte) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(value)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// payload is what the envelope holds. Compressors may become better; what they made must open, not come again.
func payload(t *testing.T, value []byte) []byte {
	t.Helper()
	p, _, err := New().open(kind(value[5]), value)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func samples() map[string]sample {
	at := time.Date(2026, 11, 20, 10, 11, 12, 131415161, time.UTC)
	id := conversation.ID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	slot := func(c *Codec, b *[]byte) []byte { return c.EncodeSlot(*b) }
	chunk := func(c *Codec, b *[]byte) []byte { return c.EncodeChunk(*b) }
	link := func(c *Codec, id *conversation.ID) []byte { return c.EncodeLink(*id) }
	all := map[string]sample{
		"message":  newSample(sampleMessage(at, id, "héllo\x00"), (*Codec).EncodeMessage, (*Codec).DecodeMessage),
		"long":     newSample(sampleMessage(at, id, strings.Repeat("a long text, ", 60)), (*Codec).EncodeMessage, (*Codec).DecodeMessage),
		"edit":     newSample(sampleEdit(at), (*Codec).EncodeEdit, (*Codec).DecodeEdit),
		"manifest": newSample(sampleManifest(at), (*Codec).EncodeManifest, (*Codec).DecodeManifest),
		"head":     newSample(sampleHead(at, id), (*Codec).EncodeHead, (*Codec).DecodeHead),
		"info":     newSample(sampleInfo(), (*Codec).EncodeInfo, (*Codec).DecodeInfo),
		"outcome": newSample(store.Outcome{
			Key: store.RequestKey{RPC: "AppendMessage", ID: "r-1"}, Hash: [32]byte{31: 9}, Time: at, FirstIndex: 4, Count: 2,
			Manifest: 3, Revision: 12,
		}, (*Codec).EncodeOutcome, (*Codec).DecodeOutcome),
		"outcome-list": newSample(store.Outcome{
			Key: store.RequestKey{RPC: "AppendMessage", ID: "r-2"}, Hash: [32]byte{31: 9}, Time: at, FirstIndex: 4, Count: 2, Revision: 12,
			Matched: 7, Rewound: conversation.Range{First: 2, End: 4},
		}, (*Codec).EncodeOutcome, (*Codec).DecodeOutcome),
		"histories": inSlot([]HistoryMark{{Count: 4, Hash: [32]byte{1, 2}, Messages: 3}, {Count: 1 << 20}}, anew(EncodeHistoryMarks), DecodeHistoryMarks),
		"slot":      newSample([]byte("a small value"), slot, (*Codec).DecodeSlot),
		"chunk":     newSample(bytes.Repeat([]byte("chunk of content\n"), 50), chunk, (*Codec).DecodeChunk),
		"link":      newSample(id, link, (*Codec).DecodeLink),
		"task": newSample(store.Task{
			Key: store.Key{Namespace: "n\xff", Conversation: "c\x00"}, Incarnation: id, Upload: id, Staged: true, Time: at,
		}, (*Codec).EncodeTask, (*Codec).DecodeTask),
	}
	maps.Copy(all, lifecycleSamples(at, id))
	maps.Copy(all, windowSamples(at, id))
	maps.Copy(all, citationSamples(at))
	maps.Copy(all, memoryPolicySamples(at))
	maps.Copy(all, deduplicationSamples(at))
	maps.Copy(all, formerSamples(at, id))
	maps.Copy(all, livePolicySamples())
	maps.Copy(all, memorySamples(at, id))
	maps.Copy(all, listSamples())
	for name, sample := range slotSamples() {
		all["slot-"+name] = sample
	}
	return all
}

func sampleMessage(at time.Time, id conversation.ID, text string) conversation.Message {
	inline := func(s string) conversation.Content { return conversation.Content{Inline: s} }
	ref := &conversation.ContentRef{ID: id, Bytes: 70_000, Chars: 69_999, SHA256: [32]byte{5, 31: 6}}
	media := &conversation.Media{MIMEType: "image/png", Data: conversation.Content{Ref: ref}, Detail: "low"}
	return conversation.Message{
		ID: "m-17", Index: 17, Role: conversation.RoleTool, Type: conversation.TypeActionResult, Pinned: true, Model: "model",
		Parts: []conversation.Part{
			{Kind: conversation.PartText, Text: inline(text), Tokens: 3, Estimated: true},
			{Kind: conversation.PartMedia, Media: media, Tokens: 1600},
			{Kind: conversation.PartToolCall, Call: &conversation.ToolCall{CallID: "c1", Name: "run", Arguments: inline("{}"), Ordinal: 4}},
			{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{
				CallID: "c1", Name: "run", State: conversation.ResultError, Output: conversation.OutputParts, Ordinal: 4,
				Parts:   []conversation.ResultPart{{Text: inline("out")}, {Media: &conversation.Media{URI: "https://example.com/x"}}},
				Actions: []conversation.ActionRef{{ActionID: "a"}},
			}},
			{Kind: conversation.PartReasoning, Reasoning: &conversation.Reasoning{
				Text: inline("so"), Signature: inline("\xff\xfe"), Provider: "p", Model: "m",
			}},
			{Kind: conversation.PartOpaque, Opaque: &conversation.Opaque{Provider: "p", JSON: inline(`{"x":1}`)}},
		},
		Actions: []conversation.ActionRef{{ActionID: "a", AgentActionID: "b"}, {}},
		RunID:   "run", StepID: "step", Tags: []string{"t", ""}, Metadata: `{"k":"v"}`, CreateTime: at, TurnAdded: 3, Tokens: 1700,
		Estimated: true, RequestID: "r-1", Commit: 41,
	}
}

func sampleEdit(at time.Time) conversation.Edit {
	return conversation.Edit{
		Seq: 9, Kind: conversation.EditSummarize, Range: conversation.Range{First: 3, End: 8}, Mask: []int32{0, 2},
		Parts: []conversation.PartEdit{{Part: 1, Level: conversation.Shortened, Shown: conversation.Part{
			Kind: conversation.PartText, Text: conversation.Content{Inline: "short"}, Tokens: 1,
		}}},
		Summary: &conversation.Summary{ID: 7, Level: 1, Children: []int64{5, 6}, Text: conversation.Content{Inline: "sum"}, Tokens: 2},
		Reason:  conversation.ReasonResultOverShare, Turn: 5, Time: at, Before: 900, After: 2, Commit: 41,
	}
}

func sampleManifest(at time.Time) conversation.Manifest {
	return conversation.Manifest{
		Seq: 12, Turn: 5, Format: conversation.FormatAnthropic, Model: "model", MessageCount: 18, EditSeq: 9,
		Window: conversation.Window{Start: 4, Opening: -1, Request: -1}, LeadingSystem: 1, Pins: []conversation.Range{{First: 1, End: 3}},
		Budget: 111_616, Tokens: 9000, FixedTokens: 800, FixedHash: [32]byte{1}, Counter: "o200k", Factor: 1.02, PolicyHash: "00ff",
		RendererVersion: 1, SHA256: [32]byte{31: 2}, Time: at, Revision: 20, Blocks: 17, UsageReported: true,
	}
}

func sampleHead(at time.Time, id conversation.ID) store.Head {
	return store.Head{
		Incarnation: id, Version: 41, Revision: 20, State: store.Deleted, Messages: 18, Tokens: 9000, EditSeq: 9, ManifestSeq: 12,
		Turn: 5, Seen: 17, Start: 4, LastManifest: [6]int64{0, 12, 0, 11, 0, 0}, UnitStart: 16, LeadingSystem: 1, Request: -1, Opening: -1,
		CallOrdinal: 4, Unanswered: []store.Call{{CallID: "c4", Name: "run", Ordinal: 4, Message: 16}},
		Pins: []conversation.Range{{First: 1, End: 3}}, CreateTime: at, UpdateTime: at.Add(1), ExpireTime: at.Add(2),
		DeleteTime: time.Unix(0, 0).UTC(), NextDue: at.AddDate(300, 0, 0),
	}
}

func sampleInfo() store.Info {
	zero, share, ttl := int32(0), int32(25), time.Hour
	return store.Info{
		ActorID: "actor", AgentID: "agent", Title: "title", Metadata: `{"k":"v"}`, Counter: "o200k",
		Policy: conversation.Policy{TTL: &ttl, Fit: conversation.FitPolicy{MaxContextTokens: &zero, MaxResultPercent: &share}},
	}
}
