package grpcserver

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// shelf is a conversation that has contents of every kind: results that are cited, small and large, some twice, one erased, some
// released with their run; contents that were stored, for the conversation, for a run that goes on, that will end and that is over.
type shelf struct {
	*sidecar
	clock  *clock
	engine *engine.Engine
}

func newShelf(t *testing.T, id string) *shelf {
	t.Helper()
	now := &clock{now: time.UnixMilli(1_800_000_000_000)}
	e := realEngine(t, func(o *engine.Options) { o.Clock = now.read })
	x := &shelf{sidecar: start(t, e), clock: now, engine: e}
	policy := &pb.Policy{
		Citations:  &pb.CitationsPolicy{Enabled: new(true), ReleaseOnEndRun: new(true)},
		Rewrite:    &pb.RewritePolicy{Mode: pb.RewriteMode_REWRITE_MODE_EAGER},
		Expiration: &pb.ExpirationPolicy{Enabled: new(true)},
		Fit:        &pb.FitPolicy{ContextWindowTokens: new(int32(100_000)), ReservedOutputTokens: new(int32(1000))},
	}
	if _, err := x.conversations.CreateConversation(t.Context(), &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: id, Policy: policy}}); err != nil {
		t.Fatal(err)
	}
	x.cite(t, id)
	x.file(t, id)
	x.end(t, id)
	return x
}

// blob is a content of a length that no two chunks of are the same.
func blob(n int) []byte {
	out := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(out)
	return out
}

// cite appends results that are cited.
func (x *shelf) cite(t *testing.T, id string) {
	t.Helper()
	page, list := longPage(), `[`+strings.Repeat(`{"id": 7, "name": "Brücke"}, `, 90)+`{"id": 8}]`
	erased := &pb.Expiration{Turns: new(int32(0)), Mode: pb.ExpirationMode_EXPIRATION_MODE_COMPACT, PreserveOriginalContent: new(false)}
	ask(t, x.sidecar, id, "one", &pb.ToolResult{Output: &pb.ToolResult_Text{Text: page}})
	ask(t, x.sidecar, id, "list", &pb.ToolResult{Output: &pb.ToolResult_Json{Json: list}})
	ask(t, x.sidecar, id, "again", &pb.ToolResult{Output: &pb.ToolResult_Text{Text: page}})
	ask(t, x.sidecar, id, "large", &pb.ToolResult{Output: &pb.ToolResult_Text{Text: strings.Repeat(page, 45)}})
	ask(t, x.sidecar, id, "erased", &pb.ToolResult{Expiration: erased, Output: &pb.ToolResult_Text{Text: page + "to be erased"}})
	mustAppend(t, x.sidecar, &pb.AppendMessageRequest{ConversationId: id, Message: &pb.Message{
		Role: pb.Role_ROLE_USER, MessageType: pb.MessageType_MESSAGE_TYPE_ACTION_RESULT, RunId: "over", Parts: []*pb.Part{textPart(page + "of an action")},
	}})
	for range 3 {
		mustBuild(t, x.sidecar, &pb.BuildContextRequest{ConversationId: id, Format: pb.ContextFormat_CONTEXT_FORMAT_ANTHROPIC})
		mustAppend(t, x.sidecar, &pb.AppendMessageRequest{ConversationId: id, Message: userText("go on")})
	}
}

// file stores contents.
func (x *shelf) file(t *testing.T, id string) {
	t.Helper()
	large := blob(600_000)
	for _, c := range []struct {
		header  *pb.StoreContentHeader
		content []byte
	}{
		{&pb.StoreContentHeader{SourceUrl: "https://example.org/ü", SourceType: pb.SourceType_SOURCE_TYPE_WEB, MetadataJson: `{ "k":1e0}`}, []byte(longPage())},
		{&pb.StoreContentHeader{RunId: "kept"}, large},
		{&pb.StoreContentHeader{}, large},
		{&pb.StoreContentHeader{RunId: "ending"}, large[:70_000]},
		{&pb.StoreContentHeader{RunId: "over"}, []byte("what was stored for a run that is over")},
		{&pb.StoreContentHeader{RunId: "over"}, large},
		{&pb.StoreContentHeader{ContentType: "text/html"}, []byte("<html><body><h1>Über</h1>" + strings.Repeat("<p>Text &amp; mehr</p>", 200))},
		{&pb.StoreContentHeader{}, nil},
		{&pb.StoreContentHeader{}, large[:256<<10]},
	} {
		c.header.ConversationId = id
		if _, err := store(t, x.sidecar, headerOf(c.header), chunkOf(c.content)); err != nil {
			t.Fatal(err)
		}
	}
}

// end ends one run long ago and another just now.
func (x *shelf) end(t *testing.T, id string) {
	t.Helper()
	for _, r := range []*pb.EndRunRequest{
		{RunId: "over", Grace: durationpb.New(time.Minute)}, {RunId: "ending", Grace: durationpb.New(90 * time.Minute)},
	} {
		r.ConversationId = id
		if _, err := x.contents.EndRun(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	x.pass(t, 10*time.Minute)
}

func (x *shelf) pass(t *testing.T, d time.Duration) {
	t.Helper()
	x.clock.pass(d)
	if err := x.engine.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (x *shelf) listSources(t *testing.T, id string) []*pb.SourceRecord {
	t.Helper()
	got, err := x.contents.ListSources(t.Context(), &pb.ListSourcesRequest{ConversationId: id, PageSize: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return got.GetSources()
}

// same compares two conversations by everything that can be had of their contents, and by what a model would be shown.
func (x *shelf) same(t *testing.T, one, other string) {
	t.Helper()
	sources := x.listSources(t, one)
	if diff := cmp.Diff(sources, x.listSources(t, other), protocmp.Transform()); diff != "" {
		t.Errorf("the copy has other sources:\n%s", diff)
	}
	for _, s := range sources {
		a, aErr := x.all(t, one, s.GetContentId())
		b, bErr := x.all(t, other, s.GetContentId())
		if !bytes.Equal(a, b) || status.Code(aErr) != status.Code(bErr) || ReasonOf(aErr) != ReasonOf(bErr) {
			t.Errorf("%s: %d bytes, %v; of the copy %d bytes, %v", s.GetContentId(), len(a), aErr, len(b), bErr)
		}
		if expired := s.GetState() == pb.ContentState_CONTENT_STATE_EXPIRED; expired != (ReasonOf(aErr) == "CONTENT_EXPIRED") || !expired && int64(len(a)) != s.GetTotalBytes() {
			t.Errorf("%v: %d bytes, %v", s, len(a), aErr)
		}
	}
	for format := range pb.ContextFormat_name {
		a, b := x.dry(t, one, pb.ContextFormat(format)), x.dry(t, other, pb.ContextFormat(format))
		if !bytes.Equal(a.GetSystemJson(), b.GetSystemJson()) || !bytes.Equal(a.GetMessagesJson(), b.GetMessagesJson()) || a.GetContentSha256() != b.GetContentSha256() {
			t.Errorf("the copy builds another context in format %d", format)
		}
	}
	if a, b := x.found(t, one), x.found(t, other); !cmp.Equal(a, b, protocmp.Transform()) || len(a.GetExcerpts()) == 0 {
		t.Errorf("the copy is searched with another outcome: %s", cmp.Diff(a, b, protocmp.Transform()))
	}
	if a, b := export(t, x.sidecar, one), export(t, x.sidecar, other); !bytes.Equal(a, b) {
		t.Errorf("the copy exports to other bytes:\n%.2000s", firstDifference(a, b))
	}
}

// all is a content as it is streamed.
func (x *shelf) all(t *testing.T, id, handle string) ([]byte, error) {
	t.Helper()
	if _, err := x.contents.RetrieveContent(t.Context(), &pb.RetrieveContentRequest{
		ConversationId: id, ContentId: handle, Selection: &pb.RetrieveContentRequest_Full{Full: &pb.FullContent{}}, MaxReplyBytes: new(int32(1000)),
	}); err != nil {
		return nil, err
	}
	return streamed(t, x.sidecar, &pb.StreamContentRequest{ConversationId: id, ContentId: handle}), nil
}

func (x *shelf) dry(t *testing.T, id string, format pb.ContextFormat) *pb.Rendered {
	t.Helper()
	return mustBuild(t, x.sidecar, &pb.BuildContextRequest{ConversationId: id, Format: format, DryRun: true}).GetRendered()
}

func (x *shelf) found(t *testing.T, id string) *pb.SearchContentResponse {
	t.Helper()
	got, err := x.contents.SearchContent(t.Context(), &pb.SearchContentRequest{ConversationId: id, Excerpts: &pb.ExcerptQuery{SearchTerms: []string{"harbour master", "Brücke"}}})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestServer_ExportImport_ContentsRoundTripIsTheIdentity: a copy has every content of the original under the same handle, lets each
// go when the original does, and needs nothing of it.
func TestServer_ExportImport_ContentsRoundTripIsTheIdentity(t *testing.T) {
	x := newShelf(t, "original")
	kinds := map[string]int{}
	for _, s := range x.listSources(t, "original") {
		kinds[s.GetState().String()]++
		kinds[s.GetRunId()]++
	}
	if kinds["CONTENT_STATE_EXPIRED"] != 4 || kinds["kept"] != 1 || kinds["over"] != 3 || kinds["ending"] != 1 || kinds["CONTENT_STATE_STORED"] != 11 {
		t.Fatalf("there are not the sources that should be compared: %v", kinds)
	}
	first := export(t, x.sidecar, "original")
	for name, chunk := range map[string]int{"copy": 1 << 20, "pieces": 10_007} {
		if _, err := importAs(t.Context(), x.sidecar, name, first, chunk); err != nil {
			t.Fatal(err)
		}
		x.same(t, "original", name)
	}
	if second := export(t, x.sidecar, "original"); !bytes.Equal(first, second) {
		t.Errorf("reading changed the original:\n%.2000s", firstDifference(first, second))
	}
	t.Run("a run ends later", func(t *testing.T) {
		x.pass(t, 2*time.Hour)
		for _, id := range []string{"original", "copy", "pieces"} {
			if n := x.expired(t, id); n != 5 {
				t.Errorf("%d contents of %s are gone, not 5", n, id)
			}
		}
		x.same(t, "original", "copy")
	})
	t.Run("without the original", func(t *testing.T) {
		want := export(t, x.sidecar, "copy")
		if _, err := x.conversations.DeleteConversation(t.Context(), &pb.DeleteConversationRequest{ConversationId: "original"}); err != nil {
			t.Fatal(err)
		}
		x.pass(t, 0)
		if got := export(t, x.sidecar, "copy"); !bytes.Equal(got, want) {
			t.Errorf("the copy is another without the original:\n%.2000s", firstDifference(got, want))
		}
	})
	t.Run("the copy goes on", func(t *testing.T) { x.goesOn(t, "copy") })
}

func (x *shelf) expired(t *testing.T, id string) (n int) {
	t.Helper()
	for _, s := range x.listSources(t, id) {
		if s.GetState() == pb.ContentState_CONTENT_STATE_EXPIRED {
			n++
		}
	}
	return n
}

// goesOn: a copy takes further contents, under handles of their own.
func (x *shelf) goesOn(t *testing.T, id string) {
	t.Helper()
	before := x.listSources(t, id)
	stored, err := store(t, x.sidecar, headerOf(&pb.StoreContentHeader{ConversationId: id, RunId: "kept"}), chunkOf([]byte(longPage())))
	if err != nil {
		t.Fatal(err)
	}
	receipt := ask(t, x.sidecar, id, "later", &pb.ToolResult{Output: &pb.ToolResult_Text{Text: longPage()}})
	after := x.listSources(t, id)
	if len(after) != len(before)+2 || after[len(before)].GetContentId() != stored.GetCitation().GetContentId() || after[len(before)+1].GetContentId() != receipt.GetCitations()[0].GetContentId() {
		t.Errorf("the sources became %v", after[len(before):])
	}
	for _, s := range after[len(before):] {
		if got, err := x.all(t, id, s.GetContentId()); err != nil || string(got) != longPage() {
			t.Errorf("%s: %d bytes, %v", s.GetContentId(), len(got), err)
		}
	}
	_, err = store(t, x.sidecar, headerOf(&pb.StoreContentHeader{ConversationId: id, RunId: "over"}), chunkOf([]byte("late")))
	wantReason(t, err, codes.FailedPrecondition, "RUN_ENDED")
}
