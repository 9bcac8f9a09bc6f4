package grpcserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// citing creates a conversation that cites what is long.
func citing(t *testing.T, s *sidecar, id string) {
	t.Helper()
	_, err := s.conversations.CreateConversation(t.Context(), &pb.CreateConversationRequest{Conversation: &pb.Conversation{
		Id: id, Policy: &pb.Policy{Citations: &pb.CitationsPolicy{Enabled: new(true)}},
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// longPage is a text with a fact in the middle, in more than one byte a character.
func longPage() string {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "Zeile %d: der Zug fährt über die Brücke.\n", i)
		if i == 200 {
			b.WriteString("The harbour master keeps the seventh key under the lighthouse.\n")
		}
	}
	return b.String()
}

// ask appends a question, a call and its result, and returns the result's receipt.
func ask(t *testing.T, s *sidecar, id, call string, result *pb.ToolResult) *pb.Receipt {
	t.Helper()
	result.CallId = call
	got, err := s.contexts.BatchAppendMessages(t.Context(), &pb.BatchAppendMessagesRequest{ConversationId: id, Items: []*pb.BatchAppendItem{
		{Message: userText("read the page")},
		{Message: &pb.Message{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{callPart(call, "read_page")}}},
		{Message: &pb.Message{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{resultPart(result)}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return got.GetReceipts()[2]
}

// TestServer_Citations_ResultStaysOutsideAndIsFoundAgain follows one long result from its append to the answer of a recall.
func TestServer_Citations_ResultStaysOutsideAndIsFoundAgain(t *testing.T) {
	s, ctx, page := start(t, realEngine(t)), t.Context(), longPage()
	citing(t, s, "c")
	receipt := ask(t, s, "c", "a1", &pb.ToolResult{Output: &pb.ToolResult_Text{Text: page}})
	if len(receipt.GetCitations()) != 1 {
		t.Fatalf("the receipt cites %v", receipt.GetCitations())
	}
	citation := receipt.GetCitations()[0]
	if !strings.HasPrefix(page, citation.GetExcerpt()) || citation.GetExcerpt() == "" || citation.GetTotalBytes() != int64(len(page)) ||
		!strings.Contains(citation.GetText(), citation.GetContentId()) || !strings.HasSuffix(citation.GetText(), citation.GetHowToRetrieve()) {
		t.Errorf("the citation is %v", citation)
	}
	handle := citation.GetContentId()

	t.Run("in the view", func(t *testing.T) {
		built, err := s.contexts.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: "c"})
		if err != nil {
			t.Fatal(err)
		}
		shown := built.GetMessages()[2].GetParts()[0].GetToolResult()
		if diff := cmp.Diff(citation, shown.GetCitation(), protocmp.Transform()); diff != "" || shown.GetText() != citation.GetText() {
			t.Error(diff)
		}
		if saved := built.GetTokens().GetSavedByCiting(); saved < 3000 {
			t.Errorf("%d tokens saved", saved)
		}
		kept, err := s.conversations.GetMessage(ctx, &pb.GetMessageRequest{ConversationId: "c", MessageIndex: 2})
		if err != nil || kept.GetMessage().GetParts()[0].GetToolResult().GetText() != page || kept.GetMessage().GetParts()[0].GetToolResult().Citation != nil {
			t.Errorf("the record does not hold the whole: %v", err)
		}
	})
	t.Run("whole, by pages", func(t *testing.T) {
		req := &pb.RetrieveContentRequest{ConversationId: "c", ContentId: handle, Selection: &pb.RetrieveContentRequest_Full{Full: &pb.FullContent{}}, MaxReplyBytes: new(int32(5000))}
		if got := pages(t, s, req); got != page {
			t.Errorf("%d bytes came back of %d", len(got), len(page))
		}
	})
	t.Run("lines, by tokens", func(t *testing.T) {
		req := &pb.RetrieveContentRequest{ConversationId: "c", ContentId: handle, MaxTokens: 40, Selection: &pb.RetrieveContentRequest_Range{
			Range: &pb.ContentRange{Unit: &pb.ContentRange_Lines{Lines: &pb.Span{StartIndex: 199, EndIndex: new(int64(203))}}},
		}}
		if got, want := pages(t, s, req), strings.Join(strings.SplitAfter(page, "\n")[199:203], ""); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("passages", func(t *testing.T) {
		query := &pb.ExcerptQuery{SearchTerms: []string{"Where is the seventh key?"}, MaxExcerpts: 2, MaxExcerptChars: 200}
		one, err := s.contents.RetrieveContent(ctx, &pb.RetrieveContentRequest{ConversationId: "c", ContentId: handle, Selection: &pb.RetrieveContentRequest_Excerpts{Excerpts: query}})
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.contents.SearchContent(ctx, &pb.SearchContentRequest{ConversationId: "c", Excerpts: query})
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range [][]*pb.Excerpt{one.GetExcerpts(), all.GetExcerpts()} {
			if len(found) == 0 || len(found) > 2 || !strings.Contains(found[0].GetText(), "seventh key under the lighthouse") {
				t.Fatalf("found %v", found)
			}
			if r := found[0].GetByteRange(); page[r.GetStartIndex():r.GetEndIndex()] != found[0].GetText() || found[0].GetContentId() != handle {
				t.Errorf("%v is not where it says", found[0])
			}
		}
	})
	t.Run("messages", func(t *testing.T) {
		got, err := s.conversations.SearchMessages(ctx, &pb.SearchMessagesRequest{ConversationId: "c", Query: "lighthouse key"})
		if err != nil || len(got.GetHits()) == 0 || got.GetHits()[0].GetIndex() != 2 || !strings.Contains(got.GetHits()[0].GetSnippet(), "lighthouse") {
			t.Errorf("got %v, %v", got, err)
		}
	})
	t.Run("recalled", func(t *testing.T) { recalled(t, s, handle) })
	t.Run("sources", func(t *testing.T) {
		got, err := s.contents.ListSources(ctx, &pb.ListSourcesRequest{ConversationId: "c"})
		if err != nil || len(got.GetSources()) != 1 {
			t.Fatalf("got %v, %v", got, err)
		}
		sum := sha256.Sum256([]byte(page))
		if record := got.GetSources()[0]; record.GetSha256() != hex.EncodeToString(sum[:]) || !record.GetCitedAtAppend() ||
			record.GetState() != pb.ContentState_CONTENT_STATE_STORED || len(record.GetCitedBy()) != 2 {
			t.Errorf("the record is %v", record)
		}
	})
}

// recalled answers a model's call of a tool that recalls, and appends the answer.
func recalled(t *testing.T, s *sidecar, handle string) {
	t.Helper()
	call := callPart("a2", conversation.ToolRetrieve)
	call.GetToolCall().ArgumentsJson = fmt.Sprintf(`{"content_id":%q,"search_terms":["seventh key"]}`, handle)
	answer, err := s.contexts.AnswerToolCall(t.Context(), &pb.AnswerToolCallRequest{ConversationId: "c", ToolCall: call.GetToolCall(), MaxTokens: 500})
	if err != nil {
		t.Fatal(err)
	}
	result := answer.GetToolResult()
	if result.GetRecalledFrom().GetContentId() != handle || !strings.Contains(result.GetText(), "lighthouse") || answer.GetTokenCount() > 500 {
		t.Errorf("answered %v", answer)
	}
	appended, err := s.contexts.BatchAppendMessages(t.Context(), &pb.BatchAppendMessagesRequest{ConversationId: "c", Items: []*pb.BatchAppendItem{
		{Message: &pb.Message{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{call}}},
		{Message: &pb.Message{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{resultPart(result)}}},
	}})
	if err != nil || len(appended.GetReceipts()[1].GetCitations()) != 0 {
		t.Fatalf("appended %v, %v", appended, err)
	}
	kept, err := s.conversations.GetMessage(t.Context(), &pb.GetMessageRequest{ConversationId: "c", MessageIndex: appended.GetReceipts()[1].GetIndex()})
	if err != nil || kept.GetMessage().GetParts()[0].GetToolResult().GetRecalledFrom().GetContentId() != handle {
		t.Errorf("on record is %v, %v", kept, err)
	}
}

// pages retrieves a content page by page.
func pages(t *testing.T, s *sidecar, req *pb.RetrieveContentRequest) string {
	t.Helper()
	var got []byte
	for range 1000 {
		page, err := s.contents.RetrieveContent(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, page.GetChunk()...)
		if req.PageToken = page.GetNextPageToken(); req.PageToken == "" {
			return string(got)
		}
	}
	t.Fatal("the pages do not end")
	return ""
}

// TestServer_Citations_TextOfAnAction_IsACitation: a text that is kept outside has no other part to be beside.
func TestServer_Citations_TextOfAnAction_IsACitation(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	citing(t, s, "c")
	m := userText(longPage())
	m.MessageType = pb.MessageType_MESSAGE_TYPE_ACTION_RESULT
	appended, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "c", Message: m})
	if err != nil || len(appended.GetReceipt().GetCitations()) != 1 {
		t.Fatalf("appended %v, %v", appended, err)
	}
	listed, err := s.conversations.ListMessages(ctx, &pb.ListMessagesRequest{ConversationId: "c", View: pb.ListView_LIST_VIEW_CURRENT})
	if err != nil {
		t.Fatal(err)
	}
	shown := listed.GetMessages()[0]
	if diff := cmp.Diff(appended.GetReceipt().GetCitations()[0], shown.GetParts()[0].GetCitation(), protocmp.Transform()); diff != "" || shown.GetView().GetLevel() != pb.ViewLevel_VIEW_LEVEL_CITED {
		t.Errorf("%s at level %s", diff, shown.GetView().GetLevel())
	}
}

// clock is a time that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// TestServer_StoredContent_LivesAsLongAsItsRun follows a stored content from its first byte to its end.
func TestServer_StoredContent_LivesAsLongAsItsRun(t *testing.T) {
	time0 := &clock{now: time.Now()}
	e := realEngine(t, func(o *engine.Options) { o.Clock = time0.read })
	s, ctx := start(t, e), t.Context()
	content := bytes.Repeat([]byte{0, 0xff, 'a', '\n'}, 300_000)
	sum := sha256.Sum256(content)
	header := &pb.StoreContentHeader{ConversationId: "c", RunId: "r", RequestId: "id", Sha256: hex.EncodeToString(sum[:])}
	first, err := store(t, s, headerOf(header), chunkOf(content[:7]), chunkOf(content[7:]))
	if err != nil || first.GetCitation().GetTotalBytes() != int64(len(content)) || len(first.GetEvents()) != 1 {
		t.Fatalf("stored %v, %v", first, err)
	}
	again, err := store(t, s, headerOf(header), chunkOf(content))
	if err != nil || !again.GetDuplicate() || again.GetCitation().GetContentId() != first.GetCitation().GetContentId() {
		t.Errorf("the retry: %v, %v", again, err)
	}
	_, err = store(t, s, headerOf(header), chunkOf(content[1:]))
	wantReason(t, err, codes.InvalidArgument, "CHECKSUM_MISMATCH")

	stream := &pb.StreamContentRequest{ConversationId: "c", ContentId: first.GetCitation().GetContentId(), OffsetBytes: 5}
	if got := streamed(t, s, stream); !bytes.Equal(got, content[5:]) {
		t.Errorf("%d bytes came back of %d", len(got), len(content)-5)
	}
	_, err = s.contents.RetrieveContent(ctx, &pb.RetrieveContentRequest{ConversationId: "c", ContentId: stream.GetContentId(), Selection: &pb.RetrieveContentRequest_Excerpts{
		Excerpts: &pb.ExcerptQuery{SearchTerms: []string{"a"}},
	}})
	wantReason(t, err, codes.FailedPrecondition, "CONTENT_NOT_TEXT")

	ended, err := s.contents.EndRun(ctx, &pb.EndRunRequest{ConversationId: "c", RunId: "r", Grace: durationpb.New(time.Minute)})
	if err != nil || ended.GetScheduledContents() != 1 || ended.GetDeleteTime() == nil {
		t.Fatalf("ended %v, %v", ended, err)
	}
	_, err = store(t, s, headerOf(&pb.StoreContentHeader{ConversationId: "c", RunId: "r"}), chunkOf([]byte("late")))
	wantReason(t, err, codes.FailedPrecondition, "RUN_ENDED")
	time0.pass(2 * time.Minute)
	if err := e.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	_, err = s.contents.RetrieveContent(ctx, &pb.RetrieveContentRequest{ConversationId: "c", ContentId: stream.GetContentId(), Selection: &pb.RetrieveContentRequest_Full{Full: &pb.FullContent{}}})
	wantReason(t, err, codes.NotFound, "CONTENT_EXPIRED")
	listed, err := s.contents.ListSources(ctx, &pb.ListSourcesRequest{ConversationId: "c", RunId: "r"})
	if err != nil || len(listed.GetSources()) != 1 || listed.GetSources()[0].GetState() != pb.ContentState_CONTENT_STATE_EXPIRED {
		t.Errorf("listed %v, %v", listed, err)
	}
}

func streamed(t *testing.T, s *sidecar, req *pb.StreamContentRequest) []byte {
	t.Helper()
	stream, err := s.contents.StreamContent(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for {
		piece, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, piece.GetChunk()...)
	}
}

// TestServer_ForeignHandle_LooksLikeAnAbsentOne: nobody learns of another conversation's contents, by whatever call.
func TestServer_ForeignHandle_LooksLikeAnAbsentOne(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	stored, err := store(t, s, headerOf(&pb.StoreContentHeader{ConversationId: "c"}), chunkOf([]byte("mine")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store(t, s, headerOf(&pb.StoreContentHeader{ConversationId: "d"}), chunkOf([]byte("yours"))); err != nil {
		t.Fatal(err)
	}
	var answers []string
	for _, handle := range []string{stored.GetCitation().GetContentId(), "c1-aaaaaaaa", "c9-aaaaaaaa", "nonsense", "c1-"} {
		_, err := s.contents.RetrieveContent(ctx, &pb.RetrieveContentRequest{ConversationId: "d", ContentId: handle, Selection: &pb.RetrieveContentRequest_Full{Full: &pb.FullContent{}}})
		wantReason(t, err, codes.NotFound, "CONTENT_NOT_FOUND")
		stream, streamErr := s.contents.StreamContent(ctx, &pb.StreamContentRequest{ConversationId: "d", ContentId: handle})
		if streamErr != nil {
			t.Fatal(streamErr)
		}
		_, streamErr = stream.Recv()
		answers = append(answers, err.Error(), streamErr.Error())
	}
	for _, answer := range answers {
		if answer != answers[0] {
			t.Errorf("%q is told from %q", answer, answers[0])
		}
	}
}

// TestServer_AnswerToolCall_WhateverTheModelWrote_IsAnswered: arguments are a model's, and no answer may be one that the wire refuses.
func TestServer_AnswerToolCall_WhateverTheModelWrote_IsAnswered(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	citing(t, s, "c")
	handle := ask(t, s, "c", "a1", &pb.ToolResult{Output: &pb.ToolResult_Text{Text: strings.Repeat("ü", 5000)}}).GetCitations()[0].GetContentId()
	for _, arguments := range []string{
		"", "{", "[]", "null", `{"content_id":7}`, `{"content_id":"c1-aaaaaaaa"}`, `{"id":-1}`, `{"id":99}`, `{"query":"","id":"2"}`, `{"query":"\u0000"}`,
		fmt.Sprintf(`{"content_id":%q,"start":1,"end":8,"unit":"bytes"}`, handle), fmt.Sprintf(`{"content_id":%q,"start":1,"unit":"bytes"}`, handle),
		fmt.Sprintf(`{"content_id":%q,"start":4000,"end":3000}`, handle), fmt.Sprintf(`{"content_id":%q,"unit":"items","start":0}`, handle),
		`{"id":2,"start":1,"end":99999999,"unit":"bytes"}`,
	} {
		for _, tool := range []string{conversation.ToolExpand, conversation.ToolRetrieve, conversation.ToolSearch} {
			got, err := s.contexts.AnswerToolCall(ctx, &pb.AnswerToolCallRequest{
				ConversationId: "c", ToolCall: &pb.ToolCall{CallId: "a", Name: tool, ArgumentsJson: arguments}, MaxTokens: 200,
			})
			if err != nil || got.GetToolResult().GetText() == "" || got.GetToolResult().GetCallId() != "a" || got.GetTokenCount() > 200 {
				t.Errorf("%s(%s): %v, %v", tool, arguments, got, err)
			}
		}
	}
	_, err := s.contexts.AnswerToolCall(ctx, answering("read_file", 0))
	if v := wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD"); v["tool_call.name"] == "" {
		t.Errorf("another tool: %v", v)
	}
}
