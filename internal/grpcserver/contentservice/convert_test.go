package contentservice

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func TestToSource_EveryField(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_123)
	full := engine.Source{
		ContentID: "c1-abc", Type: conversation.SourceTypeDatabase, URL: "u", Title: "n", ContentType: "application/json", Bytes: 2, Chars: 1,
		SHA256: &[32]byte{0xab}, Accessed: at, CitedBy: []int32{1, 5}, Expired: true, RunID: "r", Metadata: "{}", AtAppend: true,
		Expires: at.Add(time.Hour),
	}
	want := &pb.SourceRecord{
		ContentId: "c1-abc", SourceType: pb.SourceType_SOURCE_TYPE_DATABASE, SourceUrl: "u", SourceTitle: "n", ContentType: "application/json", TotalBytes: 2,
		TotalChars: 1, Sha256: "ab" + strings.Repeat("0", 62), AccessTime: timestamppb.New(at), CitedBy: []int32{1, 5},
		State: pb.ContentState_CONTENT_STATE_EXPIRED, RunId: "r", MetadataJson: "{}", CitedAtAppend: true,
		ExpireTime: timestamppb.New(at.Add(time.Hour)),
	}
	if diff := cmp.Diff(want, toSource(full), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	least := toSource(engine.Source{ContentID: "c"})
	if diff := cmp.Diff(&pb.SourceRecord{ContentId: "c", State: pb.ContentState_CONTENT_STATE_STORED}, least, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestToExcerpts_RoomEnds_TheWorstAreLeftOut(t *testing.T) {
	one := engine.ContentExcerpt{
		ContentID: "c", Text: "text", Location: "lines 1-2", Bytes: [2]int64{1, 6}, Chars: [2]int64{1, 5}, Score: 2.5,
		Matched: []string{"te", "xt"}, Relevance: "why",
	}
	want := &pb.Excerpt{
		ContentId: "c", Text: "text", Location: "lines 1-2", ByteRange: &pb.Span{StartIndex: 1, EndIndex: new(int64(6))},
		CharRange: &pb.Span{StartIndex: 1, EndIndex: new(int64(5))}, Score: 2.5, MatchedTerms: []string{"te", "xt"}, Relevance: "why",
	}
	list := []engine.ContentExcerpt{one, one, one}
	each := paging.ElementBytes(want)
	for room, fit := range map[int]int{0: 1, each - 1: 1, each: 1, 3*each - 1: 2, 3 * each: 3, 1 << 20: 3} {
		got := toExcerpts(list, room)
		if len(got) != fit {
			t.Errorf("%d bytes hold %d excerpts, want %d", room, len(got), fit)
		}
		for _, e := range got {
			if diff := cmp.Diff(want, e, protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
		}
	}
}

func TestFromContentRange_EveryUnit(t *testing.T) {
	span := &pb.Span{StartIndex: 2, EndIndex: new(int64(9))}
	for want, r := range map[engine.ContentUnit]*pb.ContentRange{
		engine.ContentBytes: {Unit: &pb.ContentRange_Bytes{Bytes: span}},
		engine.ContentChars: {Unit: &pb.ContentRange_Chars{Chars: span}},
		engine.ContentLines: {Unit: &pb.ContentRange_Lines{Lines: span}},
		engine.ContentItems: {Unit: &pb.ContentRange_Items{Items: span}},
	} {
		if unit, got := fromContentRange(r); unit != want || got.GetStartIndex() != 2 || got.GetEndIndex() != 9 {
			t.Errorf("%v is unit %d, %v", r, unit, got)
		}
	}
	if unit, got := fromContentRange(nil); unit != engine.ContentWhole || got != nil {
		t.Errorf("no range is %d, %v", unit, got)
	}
}

func TestFromDigest_WhatIsNone_IsRefused(t *testing.T) {
	digits := strings.Repeat("aB", 32)
	if got := fromDigest(digits); got == nil || got[31] != 0xab || toDigest(got) != strings.ToLower(digits) {
		t.Errorf("got %v", got)
	}
	for _, bad := range []string{"", digits[1:], digits + "0", digits + "00", "g" + digits[1:], strings.Repeat("é", 32)} {
		if fromDigest(bad) != nil {
			t.Errorf("%q is a digest", bad)
		}
	}
}
