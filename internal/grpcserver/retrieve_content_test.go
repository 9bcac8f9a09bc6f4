package grpcserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func TestServer_RetrieveContent_PagesFollowEachOther(t *testing.T) {
	l := &library{retrieved: &engine.RetrieveContentResult{
		Source: engine.Source{ContentID: "c1-abc", Bytes: 9}, Chunk: []byte("one"), Bytes: [2]int64{0, 3}, Next: new(int64(3)),
	}}
	s := start(t, l)
	req := retrieve(wholeContent)
	req.MaxTokens = 11
	page, err := s.contents.RetrieveContent(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	token := page.GetNextPageToken()
	want := &pb.RetrieveContentResponse{
		Source: &pb.SourceRecord{ContentId: "c1-abc", TotalBytes: 9, State: pb.ContentState_CONTENT_STATE_STORED}, Chunk: []byte("one"),
		ByteRange: &pb.Span{EndIndex: new(int64(3))}, NextPageToken: token,
	}
	if diff := cmp.Diff(want, page, protocmp.Transform()); diff != "" || token == "" {
		t.Error(diff)
	}
	l.retrieved = &engine.RetrieveContentResult{Source: engine.Source{ContentID: "c1-abc"}, Chunk: []byte("two"), Bytes: [2]int64{3, 9}}
	req.PageToken = token
	last, err := s.contents.RetrieveContent(t.Context(), req)
	if err != nil || last.GetNextPageToken() != "" || last.GetByteRange().GetStartIndex() != 3 {
		t.Errorf("the last page: %v, %v", last, err)
	}
	asked := engine.RetrieveContentRequest{
		Key: engine.Key{Namespace: "default", Conversation: "c"}, ContentID: "c1-abc", MaxTokens: 11, Cursor: new(int64(3)),
		MaxBytes: paging.DefaultReplyBytes - 16<<10,
	}
	if diff := cmp.Diff(any(asked), l.asked); diff != "" {
		t.Error(diff)
	}
}

func TestServer_RetrieveContent_Ranges(t *testing.T) {
	l := &library{retrieved: &engine.RetrieveContentResult{}}
	s := start(t, l)
	req := rangeOf(&pb.ContentRange{Unit: &pb.ContentRange_Lines{Lines: &pb.Span{StartIndex: 2, EndIndex: new(int64(9))}}})
	if _, err := s.contents.RetrieveContent(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if r, ok := l.asked.(engine.RetrieveContentRequest); !ok || r.Unit != engine.ContentLines || r.From != 2 || r.End != 9 || r.Excerpts != nil {
		t.Errorf("asked %+v", l.asked)
	}
}

func TestServer_RetrieveContent_Excerpts(t *testing.T) {
	l := &library{retrieved: &engine.RetrieveContentResult{Excerpts: []engine.ContentExcerpt{{ContentID: "c1-abc", Text: "x"}}}}
	s := start(t, l)
	got, err := s.contents.RetrieveContent(t.Context(), excerptsOf(&pb.ExcerptQuery{SearchTerms: []string{"a b", "c"}, MaxExcerpts: 7, MaxExcerptChars: 80}))
	if err != nil || len(got.GetExcerpts()) != 1 || got.ByteRange != nil {
		t.Errorf("got %v, %v", got, err)
	}
	r, ok := l.asked.(engine.RetrieveContentRequest)
	if diff := cmp.Diff(&engine.ExcerptQuery{Terms: []string{"a b", "c"}, Max: 7, MaxChars: 80}, r.Excerpts); !ok || diff != "" {
		t.Error(diff)
	}
}

// TestServer_RetrieveContent_LargestRecord_HasRoom: the bytes that the engine may return leave room for all that stands beside them.
func TestServer_RetrieveContent_LargestRecord_HasRoom(t *testing.T) {
	cited := make([]int32, 100)
	for i := range cited {
		cited[i] = schema.MaxIndex
	}
	source := engine.Source{
		ContentID: strings.Repeat("x", 64), Type: 5, URL: strings.Repeat("u", 2048), ContentType: strings.Repeat("x", 256), Bytes: convert.MaxPlace,
		Chars: convert.MaxPlace, SHA256: &[32]byte{}, Accessed: time.Unix(1<<33, 999), CitedBy: cited, RunID: strings.Repeat("x", 256),
		Metadata: strings.Repeat("x", 8192), AtAppend: true, Expires: time.Unix(1<<33, 999), Expired: true,
	}
	chunk := make([]byte, 48<<10)
	l := &library{retrieved: &engine.RetrieveContentResult{Source: source, Chunk: chunk, Bytes: [2]int64{convert.MaxPlace, convert.MaxPlace}, Next: new(int64(convert.MaxPlace))}}
	s := start(t, l)
	req := retrieve(wholeContent)
	req.MaxReplyBytes = new(int32(64 << 10))
	if _, err := s.contents.RetrieveContent(t.Context(), req); err != nil {
		t.Error(err)
	}
	req.MaxReplyBytes = new(int32(len(chunk)))
	_, err := s.contents.RetrieveContent(t.Context(), req)
	wantReason(t, err, codes.ResourceExhausted, "REPLY_TOO_LARGE")
}

func TestServer_StreamContent_PiecesArriveInOrder(t *testing.T) {
	l := &library{content: bytes.Repeat([]byte("0123456789abcdef"), 1<<16)}
	s := start(t, l)
	for _, offset := range []int64{0, 300_001} {
		stream, err := s.contents.StreamContent(t.Context(), &pb.StreamContentRequest{ConversationId: "c", ContentId: "c1-abc", OffsetBytes: offset})
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		for {
			piece, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			first := len(got) == 0
			if piece.GetOffsetBytes() != offset+int64(len(got)) || first != (piece.GetSource() != nil) || len(piece.GetChunk()) > 256<<10 {
				t.Fatalf("a piece of %d bytes at %d, %v", len(piece.GetChunk()), piece.GetOffsetBytes(), piece.GetSource())
			}
			got = append(got, piece.GetChunk()...)
		}
		if !bytes.Equal(got, l.content[offset:]) {
			t.Errorf("from %d: %d bytes came, not %d", offset, len(got), len(l.content)-int(offset))
		}
	}
}

func TestServer_StreamContent_CallerLeaves_EngineIsTold(t *testing.T) {
	l := &library{content: make([]byte, 64<<20)}
	s := start(t, l)
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := s.contents.StreamContent(ctx, &pb.StreamContentRequest{ConversationId: "c", ContentId: "c1-abc"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := s.server.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if l.failure == nil {
		t.Error("the engine streamed on to nobody")
	}
}

func TestServer_ContentErrors_HaveTheirCodes(t *testing.T) {
	l := &library{}
	s := start(t, l)
	for kind, code := range map[conversation.Kind]codes.Code{
		conversation.ContentNotFound: codes.NotFound, conversation.ContentExpired: codes.NotFound,
		conversation.ContentNotText: codes.FailedPrecondition, conversation.RunEnded: codes.FailedPrecondition,
		conversation.ChecksumMismatch: codes.InvalidArgument,
	} {
		l.failure = conversation.Errorf(kind, "x")
		_, err := s.contents.RetrieveContent(t.Context(), retrieve(wholeContent))
		wantReason(t, err, code, string(kind))
	}
}
