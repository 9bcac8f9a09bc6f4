package record

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// newer is a field that no version has yet.
var newer = string(appendElement(nil, 2000, "of a newer version")) //nolint:gochecknoglobals // a constant that Go has no word for

// TestRecords_UnknownFields_AreWrittenAgain: what a newer version adds to a record, or to what may grow inside of one, is still there
// when this version has read and written it.
func TestRecords_UnknownFields_AreWrittenAgain(t *testing.T) {
	at, id := time.Unix(1, 2).UTC(), conversation.ID{1}
	message, edit, manifest, head, info := lifecycleMessage(at, "p"), sampleEdit(at), sampleManifest(at), sampleHead(at, id), sampleInfo()
	message.Unknown, message.Expiration.Unknown, message.Parts[0].Unknown, message.Parts[2].Result.Unknown = newer, newer, newer, newer
	edit.Unknown, edit.Summary.Unknown = newer, newer
	manifest.Unknown, head.Unknown, head.Unanswered[0].Unknown = newer, newer, newer
	info.Unknown, info.Policy.Unknown, info.Policy.Pruning.Unknown, info.Policy.Compaction.Unknown = newer, newer, newer, newer
	info.Policy.Citations.Unknown, info.Policy.Expiration.Results.Unknown = newer, newer
	info.Policy.Memory.Unknown, info.Policy.Memory.Recall.Unknown = newer, newer
	keeps(t, "message", 4, message, (*Codec).EncodeMessage, (*Codec).DecodeMessage)
	keeps(t, "edit", 2, edit, (*Codec).EncodeEdit, (*Codec).DecodeEdit)
	keeps(t, "manifest", 1, manifest, (*Codec).EncodeManifest, (*Codec).DecodeManifest)
	keeps(t, "head", 2, head, (*Codec).EncodeHead, (*Codec).DecodeHead)
	keeps(t, "info", 8, info, (*Codec).EncodeInfo, (*Codec).DecodeInfo)
	keeps(t, "fit", 1, []Fit{{Budget: 1, Unknown: newer}}, ofSlot(anew(EncodeFits)), fromSlot(DecodeFits))
	keeps(t, "asked", 1, []AskedSummary{{Index: 1, Unknown: newer}}, ofSlot(anew(EncodeAskedSummaries)), fromSlot(DecodeAskedSummaries))
	keeps(t, "erasure", 1, []Erasure{{Index: 1, Unknown: newer}}, ofSlot(anew(EncodeErasures)), fromSlot(DecodeErasures))
	keeps(t, "successor", 1, []Successor{{Conversation: "c", Unknown: newer}}, ofSlot(anew(EncodeSuccessors)), fromSlot(DecodeSuccessors))
	keeps(t, "history mark", 1, []HistoryMark{{Count: 1, Unknown: newer}}, ofSlot(anew(EncodeHistoryMarks)), fromSlot(DecodeHistoryMarks))
	keeps(t, "reclaim", 1, []Reclaim{{Index: 1, Unknown: newer}}, ofSlot(anew(EncodeReclaims)), fromSlot(DecodeReclaims))
	keeps(t, "usage", 1, UsageReport{Model: "m", Unknown: newer}, ofSlot(EncodeUsageReport), fromSlot(DecodeUsageReport))
	keeps(t, "run", 1, Run{ID: "r", Unknown: newer}, ofSlot(EncodeRun), fromSlot(DecodeRun))
	keeps(t, "source", 1, Source{Handle: "h", Unknown: newer}, ofSlot(EncodeSource), fromSlot(DecodeSource))
	former := FormerRequests{Requests: []FormerRequest{{Hash: 1, Unknown: newer}}, Unknown: newer}
	keeps(t, "former", 2, former, ofSlot(EncodeFormerRequests), fromSlot(DecodeFormerRequests))
	keeps(t, "shared", 1, SharedBytes{Count: 1, Unknown: newer}, ofSlot(EncodeSharedBytes), fromSlot(DecodeSharedBytes))
}

// TestHead_FormatsOfANewerVersion_KeepTheirLastManifest: a format with a number that this version does not know is in the list of
// last manifests, and stays there when this version writes the head with a manifest of its own.
func TestHead_FormatsOfANewerVersion_KeepTheirLastManifest(t *testing.T) {
	head := sampleHead(time.Unix(1, 2).UTC(), conversation.ID{1})
	head.LastManifest = [6]int64{}
	known := payload(t, New().EncodeHead(&head))
	stored := New().seal(kindHead, appendPacked(known, 12, []int64{0, 12, 0, 11, 0, 0, 0, 10, 9}, false))
	read, err := New().DecodeHead(stored)
	if err != nil {
		t.Fatal(err)
	}
	read.LastManifest[1] = 13
	var found []int64
	for r := (&reader{rest: string(payload(t, New().EncodeHead(&read)))}); r.next(); {
		if r.field == 12 {
			packed(r, func(v int64) { found = append(found, v) })
		}
	}
	if !slices.Equal(found, []int64{0, 13, 0, 11, 0, 0, 0, 10, 9}) {
		t.Errorf("the last manifests are %v", found)
	}
}

func keeps[T any](t *testing.T, name string, fields int, v T, encode func(*Codec, *T) []byte, decode func(*Codec, []byte) (T, error)) {
	t.Run(name, func(t *testing.T) {
		stored := encode(New(), &v)
		read, err := decode(New(), stored)
		if err != nil {
			t.Fatal(err)
		}
		again := string(payload(t, encode(New(), &read)))
		if n := strings.Count(again, newer); n != fields || again != string(payload(t, stored)) {
			t.Errorf("%d of %d fields:\n%q", n, fields, again)
		}
	})
}

// TestSlots_UnknownFields_OfTheWholeValue: beside a list, and in a calibration, they come from the value that is replaced.
func TestSlots_UnknownFields_OfTheWholeValue(t *testing.T) {
	stored := append(EncodeErasures([]Erasure{{Index: 1}}, nil), newer...)
	if got := string(EncodeErasures([]Erasure{{Index: 2}}, stored)); strings.Count(got, newer) != 1 {
		t.Errorf("a list: %q", got)
	}
	stored = append(EncodeCalibration(&Calibration{Counted: 1}, nil), newer...)
	if got := string(EncodeCalibration(&Calibration{Counted: 2}, stored)); strings.Count(got, newer) != 1 {
		t.Errorf("a calibration: %q", got)
	}
	if got := EncodeErasures(nil, []byte(`[{"i":1}]`)); got == nil || len(got) > 0 {
		t.Errorf("of JSON: %q", got)
	}
}
