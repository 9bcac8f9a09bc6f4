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
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// store streams pieces and returns what came back.
func store(t *testing.T, s *sidecar, pieces ...*pb.StoreContentRequest) (*pb.StoreContentResponse, error) {
	t.Helper()
	stream, err := s.contents.StoreContent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pieces {
		if stream.Send(p) != nil {
			break // the answer says why
		}
	}
	return stream.CloseAndRecv()
}

func TestServer_StoreContent_HeaderAndBytesArrive(t *testing.T) {
	l := &library{}
	s := start(t, l)
	header := &pb.StoreContentHeader{
		ConversationId: "c", RunId: "r", SourceType: pb.SourceType_SOURCE_TYPE_STORAGE, SourceUrl: "u", SourceTitle: "n", ContentType: "text/plain",
		MetadataJson: `{ "a":1}`, RequestId: "id", Sha256: strings.Repeat("Ab", 32),
	}
	got, err := store(t, s, headerOf(header), chunkOf([]byte("one ")), chunkOf(nil), chunkOf([]byte("two")))
	if err != nil {
		t.Fatal(err)
	}
	want := &pb.StoreContentResponse{
		Citation: convert.ToCitation(citedPage()), Revision: 4, Duplicate: true, Shared: true,
		Events: []*pb.LifecycleEvent{{Type: pb.EventType_EVENT_TYPE_CONTENT_STORED, MessageIndex: -1, EndIndex: -1, ContentId: "c1-abc"}},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	r := l.stored
	r.Next, r.Request.Digest = nil, [32]byte{}
	wanted := engine.StoreContentRequest{
		Key: engine.Key{Namespace: "default", Conversation: "c"}, Request: engine.Request{RPC: "StoreContent", ID: "id"}, RunID: "r",
		Type: conversation.SourceTypeStorage, URL: "u", Title: "n", ContentType: "text/plain", Metadata: `{ "a":1}`, SHA256: (*[32]byte)(bytes.Repeat([]byte{0xab}, 32)),
	}
	if diff := cmp.Diff(wanted, r); diff != "" {
		t.Error(diff)
	}
	if string(l.content) != "one two" {
		t.Errorf("the content is %q", l.content)
	}
}

func TestServer_StoreContent_Digest_IsTheHeaders(t *testing.T) {
	l := &library{}
	s := start(t, l)
	digest := func(h *pb.StoreContentHeader, content string) [32]byte {
		t.Helper()
		h.ConversationId, h.RequestId = "c", "id"
		if _, err := store(t, s, headerOf(h), chunkOf([]byte(content))); err != nil {
			t.Fatal(err)
		}
		return l.stored.Request.Digest
	}
	one := digest(&pb.StoreContentHeader{SourceUrl: "u"}, "one")
	if digest(&pb.StoreContentHeader{SourceUrl: "u"}, "two") != one {
		t.Error("the bytes are in the digest")
	}
	if digest(&pb.StoreContentHeader{SourceUrl: "v"}, "one") == one {
		t.Error("the header is not in the digest")
	}
}

func TestServer_StoreContent_EmptyContent_IsOne(t *testing.T) {
	l := &library{}
	s := start(t, l)
	for _, pieces := range [][]*pb.StoreContentRequest{
		{headerOf(&pb.StoreContentHeader{ConversationId: "c"})},
		{headerOf(&pb.StoreContentHeader{ConversationId: "c"}), chunkOf(nil)},
	} {
		if _, err := store(t, s, pieces...); err != nil || len(l.content) != 0 {
			t.Errorf("%d pieces: %q, %v", len(pieces), l.content, err)
		}
	}
}

func TestServer_StoreContent_PiecesOutOfPlace_AreRefused(t *testing.T) {
	l := &library{}
	s := start(t, l)
	header := headerOf(&pb.StoreContentHeader{ConversationId: "c"})
	for name, c := range map[string]struct {
		pieces []*pb.StoreContentRequest
		field  string
	}{
		"nothing":         {nil, "header"},
		"no header":       {[]*pb.StoreContentRequest{chunkOf([]byte("x"))}, "header"},
		"header twice":    {[]*pb.StoreContentRequest{header, header}, "header"},
		"header later":    {[]*pb.StoreContentRequest{header, chunkOf([]byte("x")), header}, "header"},
		"empty piece":     {[]*pb.StoreContentRequest{header, {}}, "piece"},
		"empty first":     {[]*pb.StoreContentRequest{{}}, "piece"},
		"chunk too large": {[]*pb.StoreContentRequest{header, chunkOf(make([]byte, 4<<20+1))}, "chunk"},
		"bad header":      {[]*pb.StoreContentRequest{headerOf(&pb.StoreContentHeader{ConversationId: "c", Sha256: "x"})}, "header.sha256"},
	} {
		_, err := store(t, s, c.pieces...)
		if v := wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD"); len(v) != 1 || v[c.field] == "" {
			t.Errorf("%s: %v", name, v)
		}
	}
}

func TestServer_StoreContent_CallerLeaves_EngineIsTold(t *testing.T) {
	l := &library{}
	reached := make(chan struct{})
	failed := make(chan error, 1)
	s := start(t, &leaving{library: l, reached: reached, failed: failed})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := s.contents.StoreContent(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*pb.StoreContentRequest{headerOf(&pb.StoreContentHeader{ConversationId: "c"}), chunkOf([]byte(secret))} {
		if err := stream.Send(p); err != nil {
			t.Fatal(err)
		}
	}
	<-reached
	cancel()
	if err := <-failed; err == nil || errors.Is(err, io.EOF) {
		t.Errorf("what the caller broke off looks whole: %v", err)
	}
	var reply pb.StoreContentResponse
	if err := stream.RecvMsg(&reply); status.Code(err) != codes.Canceled {
		t.Errorf("answered %v", err)
	}
}

// leaving is a library that says when a first piece has come, and what it fails with.
type leaving struct {
	*library
	reached chan struct{}
	failed  chan error
}

func (l *leaving) StoreContent(ctx context.Context, r engine.StoreContentRequest) (*engine.StoreContentResult, error) {
	next, first := r.Next, true
	r.Next = func() ([]byte, error) {
		chunk, err := next()
		if first {
			first = false
			close(l.reached)
		}
		return chunk, err
	}
	out, err := l.library.StoreContent(ctx, r)
	l.failed <- err
	return out, err
}

// TestServer_StoreContent_SlowEngine_HoldsTheSenderBack: what nobody has asked for yet is not taken off the wire, beyond the
// transport's own window.
func TestServer_StoreContent_SlowEngine_HoldsTheSenderBack(t *testing.T) {
	ask := make(chan struct{})
	s := start(t, &slow{library: &library{}, ask: ask})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := s.contents.StoreContent(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(headerOf(&pb.StoreContentHeader{ConversationId: "c"})); err != nil {
		t.Fatal(err)
	}
	const chunks = 64
	sent := make(chan int, chunks)
	go func() {
		defer close(sent)
		for i := range chunks {
			if stream.Send(chunkOf(make([]byte, 1<<20))) != nil {
				return
			}
			sent <- i
		}
	}()
	time.Sleep(200 * time.Millisecond)
	if n := len(sent); n > chunks/2 {
		t.Errorf("%d MiB were taken before they were asked for", n)
	}
	close(ask)
	for range sent { // until the sender is done
	}
	if _, err := stream.CloseAndRecv(); err != nil {
		t.Error(err)
	}
}

// slow is a library that asks for nothing until it is let.
type slow struct {
	*library
	ask chan struct{}
}

func (l *slow) StoreContent(ctx context.Context, r engine.StoreContentRequest) (*engine.StoreContentResult, error) {
	<-l.ask
	return l.library.StoreContent(ctx, r)
}

// TestServer_SecretInContents_IsNeverLogged: what is stored, streamed and asked for by content is nobody else's.
func TestServer_SecretInContents_IsNeverLogged(t *testing.T) {
	l := &library{}
	s := start(t, l)
	header := headerOf(&pb.StoreContentHeader{ConversationId: secret, RunId: secret, SourceUrl: secret, MetadataJson: `{"a":"` + secret + `"}`})
	for _, pieces := range [][]*pb.StoreContentRequest{
		{header, chunkOf([]byte(secret))},
		{header, chunkOf([]byte(secret)), header},
		{header, chunkOf(bytes.Repeat([]byte(secret), 512<<10))},
		{chunkOf([]byte(secret))},
	} {
		if _, err := store(t, s, pieces...); err != nil && strings.Contains(err.Error()+details(err), secret) {
			t.Errorf("the error tells: %v", err)
		}
	}
	stream, err := s.contents.StreamContent(t.Context(), &pb.StreamContentRequest{ConversationId: secret, ContentId: secret})
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = stream.Recv()
	}
	if strings.Contains(s.log.String(), secret) || !strings.Contains(s.log.String(), `"method":"StoreContent"`) {
		t.Errorf("the log tells, or has no calls: %s", s.log)
	}
}
