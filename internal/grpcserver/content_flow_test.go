package grpcserver

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// library is an engine that knows of one content, and remembers what it was asked.
type library struct {
	Engine
	stored  engine.StoreContentRequest
	content []byte
	asked   any

	retrieved *engine.RetrieveContentResult
	found     []engine.ContentExcerpt
	sources   func(engine.SourcesRequest) *engine.SourcesResult
	answer    string
	failure   error
}

func (l *library) StoreContent(_ context.Context, r engine.StoreContentRequest) (*engine.StoreContentResult, error) {
	l.stored, l.content = r, nil
	for {
		chunk, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			l.failure = err
			return nil, err
		}
		l.content = append(l.content, chunk...)
	}
	return &engine.StoreContentResult{
		Cited: citedPage(), Shared: true,
		Events: []conversation.Event{{Type: conversation.EventContentStored, Index: -1, Last: -1, Content: "c1-abc"}}, Revision: 4, Duplicate: true,
	}, nil
}

// citedPage is what the library says of what it has stored.
func citedPage() engine.Cited {
	return engine.Cited{
		Citation: conversation.Citation{ContentID: "c1-abc", SourceTitle: "Zürich", TotalBytes: 2_100_000, TotalChars: 2_000_000, Location: "beginning"},
		Text:     "[c1-abc] Zürich is a city … ask retrieve_content", Excerpt: "Zürich is a city", How: "ask retrieve_content",
	}
}

func (l *library) RetrieveContent(_ context.Context, r engine.RetrieveContentRequest) (*engine.RetrieveContentResult, error) {
	l.asked = r
	return l.retrieved, l.failure
}

func (l *library) StreamContent(_ context.Context, key engine.Key, contentID string, offset int64, give func(*engine.Source, int64, []byte) error) error {
	l.asked = []any{key.Conversation, contentID, offset}
	source := &engine.Source{ContentID: contentID, Bytes: int64(len(l.content))}
	piece := make([]byte, 256<<10)
	for at := int(offset); at < len(l.content); {
		n := copy(piece, l.content[at:])
		if err := give(source, int64(at), piece[:n]); err != nil {
			l.failure = err
			return err
		}
		source, at = nil, at+n
	}
	return nil
}

func (l *library) SearchContent(_ context.Context, r engine.SearchContentRequest) (*engine.SearchContentResult, error) {
	l.asked = r
	return &engine.SearchContentResult{Excerpts: l.found, Searched: 3, Skipped: 2}, nil
}

func (l *library) ListSources(_ context.Context, r engine.SourcesRequest) (*engine.SourcesResult, error) {
	l.asked = r
	return l.sources(r), nil
}

func (l *library) EndRun(_ context.Context, r engine.EndRunRequest) (*engine.EndRunResult, error) {
	l.asked = r
	return &engine.EndRunResult{Scheduled: 2, DeleteAt: time.Unix(99, 0), Revision: 5, Duplicate: true}, nil
}

func (l *library) SearchMessages(_ context.Context, r engine.SearchMessagesRequest) (*engine.SearchMessagesResult, error) {
	l.asked = r
	return &engine.SearchMessagesResult{Searched: 9, Hits: []engine.MessageHit{{
		Message: conversation.Message{Index: 3, ID: "m3", Role: conversation.RoleTool, CreateTime: time.Unix(99, 0), Tokens: 12},
		Score:   1.5, Snippet: "s", InView: true, Hidden: true,
	}}}, nil
}

func (l *library) AnswerToolCall(_ context.Context, r engine.ToolCallRequest) (*engine.ToolCallResult, error) {
	l.asked = r
	return &engine.ToolCallResult{Tokens: 7, Result: conversation.ToolResult{
		CallID: r.Call.CallID, Name: r.Call.Name, Text: conversation.Content{Inline: l.answer}, Recalled: &conversation.Recalled{ContentID: "c1-abc"},
	}}, nil
}

func TestServer_SearchContent_AsksAndAnswers(t *testing.T) {
	l := &library{found: []engine.ContentExcerpt{{ContentID: "c1-abc", Text: "x"}, {ContentID: "c2-def", Text: "y"}}}
	s := start(t, l)
	got, err := s.contents.SearchContent(t.Context(), &pb.SearchContentRequest{
		ConversationId: "c", Excerpts: &pb.ExcerptQuery{SearchTerms: []string{"a"}}, RunId: "r", MaxTokens: 5,
	})
	if err != nil || len(got.GetExcerpts()) != 2 || got.GetSearchedContents() != 3 || got.GetSkippedContents() != 2 {
		t.Errorf("got %v, %v", got, err)
	}
	asked := engine.SearchContentRequest{
		Key: engine.Key{Namespace: "default", Conversation: "c"}, Query: engine.ExcerptQuery{Terms: []string{"a"}}, RunID: "r", MaxTokens: 5,
		MaxBytes: paging.DefaultReplyBytes - 16<<10,
	}
	if diff := cmp.Diff(any(asked), l.asked); diff != "" {
		t.Error(diff)
	}
}

// TestServer_SearchContent_LongTermsMatched_FitsAnyClient: terms are told with each excerpt, and a caller may ask by very long ones.
func TestServer_SearchContent_LongTermsMatched_FitsAnyClient(t *testing.T) {
	one := engine.ContentExcerpt{ContentID: "c1-abc", Text: "x"}
	for range 64 {
		one.Matched = append(one.Matched, strings.Repeat("x", 8192))
	}
	l := &library{found: make([]engine.ContentExcerpt, 100)}
	for i := range l.found {
		l.found[i] = one
	}
	s := start(t, l)
	got, err := s.contents.SearchContent(t.Context(), &pb.SearchContentRequest{ConversationId: "c", Excerpts: &pb.ExcerptQuery{SearchTerms: []string{"a"}}})
	if err != nil || proto.Size(got) > paging.DefaultReplyBytes || len(got.GetExcerpts()) < 2 {
		t.Errorf("%d excerpts, %d bytes, %v", len(got.GetExcerpts()), proto.Size(got), err)
	}
}

// records is a listing of n source records with large metadata, by their number from 1.
func records(n int) func(engine.SourcesRequest) *engine.SourcesResult {
	return func(r engine.SourcesRequest) *engine.SourcesResult {
		out := &engine.SourcesResult{}
		for i := int(r.Cursor) + 1; i <= n; i++ {
			if len(out.Sources) == r.Limit {
				out.Next = int64(i - 1)
				break
			}
			out.Sources = append(out.Sources, engine.Source{ContentID: "c", Bytes: int64(i), Metadata: strings.Repeat("x", 8192), RunID: r.RunID})
		}
		return out
	}
}

func TestServer_ListSources_PagesEndAtTheReplyLimit(t *testing.T) {
	l := &library{sources: records(1500)}
	s := start(t, l)
	req := &pb.ListSourcesRequest{ConversationId: "c", RunId: "r", PageSize: 1000}
	var listed, pages int64
	for {
		page, err := s.contents.ListSources(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		if n := proto.Size(page); n > paging.DefaultReplyBytes {
			t.Errorf("a page of %d bytes", n)
		}
		for _, source := range page.GetSources() {
			if listed++; source.GetTotalBytes() != listed || source.GetRunId() != "r" {
				t.Fatalf("record %d comes as number %d", source.GetTotalBytes(), listed)
			}
		}
		if req.PageToken = page.GetNextPageToken(); req.PageToken == "" {
			break
		}
	}
	if listed != 1500 || pages > 5 {
		t.Errorf("%d records on %d pages", listed, pages)
	}
}

func TestServer_EndRun_AsksAndAnswers(t *testing.T) {
	l := &library{}
	s := start(t, l)
	req := &pb.EndRunRequest{ConversationId: "c", RunId: "r", Grace: durationpb.New(0), RequestId: "id"}
	got, err := s.contents.EndRun(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	want := &pb.EndRunResponse{ScheduledContents: 2, DeleteTime: &timestamppb.Timestamp{Seconds: 99}, Revision: 5, Duplicate: true}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	r, ok := l.asked.(engine.EndRunRequest)
	if !ok || r.RunID != "r" || r.Grace == nil || *r.Grace != 0 || r.Request.ID != "id" || r.Request.Digest == [32]byte{} {
		t.Errorf("asked %+v", l.asked)
	}
	if _, err := s.contents.EndRun(t.Context(), &pb.EndRunRequest{ConversationId: "c", RunId: "r"}); err != nil {
		t.Fatal(err)
	}
	if r, ok := l.asked.(engine.EndRunRequest); !ok || r.Grace != nil {
		t.Errorf("no grace is %v", r.Grace)
	}
}

func TestServer_SearchMessages_AsksAndAnswers(t *testing.T) {
	l := &library{}
	s := start(t, l)
	got, err := s.conversations.SearchMessages(t.Context(), &pb.SearchMessagesRequest{
		ConversationId: "c", Query: "q", Range: &pb.MessageRange{StartIndex: 2}, Filter: &pb.MessageFilter{RunId: "r"}, MaxHits: 7, MaxSnippetChars: 80, IncludeHidden: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &pb.SearchMessagesResponse{SearchedMessages: 9, Hits: []*pb.MessageHit{{
		Index: 3, Score: 1.5, Snippet: "s", Role: pb.Role_ROLE_TOOL, CreateTime: &timestamppb.Timestamp{Seconds: 99}, Id: "m3", InView: true,
		Hidden: true, TokenCount: 12,
	}}}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	asked := engine.SearchMessagesRequest{
		Key: engine.Key{Namespace: "default", Conversation: "c"}, Query: "q", Range: conversation.Range{First: 2, End: -1},
		Filter: engine.Filter{RunID: "r"}, Hidden: true, Limit: 7, SnippetChars: 80,
	}
	if diff := cmp.Diff(any(asked), l.asked); diff != "" {
		t.Error(diff)
	}
	if _, err := s.conversations.SearchMessages(t.Context(), &pb.SearchMessagesRequest{ConversationId: "c", Query: "q"}); err != nil {
		t.Fatal(err)
	}
	if r, ok := l.asked.(engine.SearchMessagesRequest); !ok || r.Limit != 10 || r.SnippetChars != 200 {
		t.Errorf("by default %+v", l.asked)
	}
}

func TestServer_AnswerToolCall_ResultCanBeAppended(t *testing.T) {
	l := &library{answer: "the passage"}
	s := start(t, l)
	got, err := s.contexts.AnswerToolCall(t.Context(), answering(conversation.ToolRetrieve, 300))
	if err != nil {
		t.Fatal(err)
	}
	want := &pb.AnswerToolCallResponse{TokenCount: 7, ToolResult: &pb.ToolResult{
		CallId: "a", Name: conversation.ToolRetrieve, Output: &pb.ToolResult_Text{Text: "the passage"},
		RecalledFrom: &pb.RecalledFrom{Source: &pb.RecalledFrom_ContentId{ContentId: "c1-abc"}},
	}}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	if err := allRules().Validate(appendOf(pb.Role_ROLE_TOOL, resultPart(got.GetToolResult()))); err != nil {
		t.Errorf("the answer cannot be appended: %v", err)
	}
	r, ok := l.asked.(engine.ToolCallRequest)
	if !ok || r.MaxTokens != 300 || r.Call.Arguments.Inline != "{not json" || r.Call.CallID != "a" {
		t.Errorf("asked %+v", l.asked)
	}
	l.answer = strings.Repeat("x", paging.DefaultReplyBytes)
	_, err = s.contexts.AnswerToolCall(t.Context(), answering(conversation.ToolRetrieve, 0))
	wantReason(t, err, codes.ResourceExhausted, "REPLY_TOO_LARGE")
}
