package badinput

import (
	"fmt"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// tokens are page tokens that the sidecar gave, by the request they belong to.
func (w *world) messageToken(t *testing.T, request *pb.ListMessagesRequest) string {
	t.Helper()
	request.PageSize = 2
	token := must[*pb.ListMessagesResponse](t)(w.Conversations.ListMessages(w.ctx, request)).GetNextPageToken()
	if token == "" {
		t.Fatal("a listing of two messages has no next page")
	}
	return token
}

// TestPageToken_Tampered_IsRefused changes every letter of a token, and takes tokens to where they do not belong.
func TestPageToken_Tampered_IsRefused(t *testing.T) {
	w := newWorld(t)
	token := w.messageToken(t, &pb.ListMessagesRequest{ConversationId: target})
	for i := range token {
		letter := byte('A')
		if token[i] == letter {
			letter = 'B'
		}
		changed := token[:i] + string(letter) + token[i+1:]
		invalid("page_token").holds(t, w.send(t, &pb.ListMessagesRequest{ConversationId: target, PageToken: changed}))
	}
	for _, changed := range []string{token[1:], token[:len(token)-1], token + "A", token + "=", token + token, " " + token} {
		invalid("page_token").holds(t, w.send(t, &pb.ListMessagesRequest{ConversationId: target, PageToken: changed}))
	}
	w.unchanged(t)
}

// TestPageToken_OfAnotherListing_IsRefused takes a token to listings that ask for something else.
func TestPageToken_OfAnotherListing_IsRefused(t *testing.T) {
	w := newWorld(t)
	token := w.messageToken(t, &pb.ListMessagesRequest{ConversationId: target})
	for i, request := range []any{
		&pb.ListMessagesRequest{ConversationId: nobody, PageToken: token},
		&pb.ListMessagesRequest{ConversationId: target, PageToken: token, Order: pb.ListOrder_LIST_ORDER_DESCENDING},
		&pb.ListMessagesRequest{ConversationId: target, PageToken: token, View: pb.ListView_LIST_VIEW_CURRENT},
		&pb.ListMessagesRequest{ConversationId: target, PageToken: token, Range: &pb.MessageRange{StartIndex: 1}},
		&pb.ListMessagesRequest{ConversationId: target, PageToken: token, Filter: &pb.MessageFilter{Roles: []pb.Role{pb.Role_ROLE_USER}}},
		&pb.ListManifestsRequest{ConversationId: target, PageToken: token},
		&pb.ListConversationsRequest{PageToken: token},
		&pb.ListModelProfilesRequest{PageToken: token},
		&pb.ListActionPoliciesRequest{PageToken: token},
		&pb.ListPromptsRequest{PageToken: token},
		&pb.ExpandMessageRequest{ConversationId: target, Target: &pb.ExpandMessageRequest_MessageIndex{}, PageToken: token},
		&pb.ListSourcesRequest{ConversationId: target, PageToken: token},
		&pb.RetrieveContentRequest{ConversationId: target, ContentId: madeUp, Selection: full(), PageToken: token},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) { invalid("page_token").holds(t, w.send(t, request)) })
	}
	w.unchanged(t)
}

// TestBuild_RefusedForItsSize_CommitsNothing: the turn stays, the request id is not remembered, and the build goes on as if
// nobody had asked.
func TestBuild_RefusedForItsSize_CommitsNothing(t *testing.T) {
	w := newWorld(t)
	build := func(limit int32) *pb.BuildContextRequest {
		return &pb.BuildContextRequest{ConversationId: target, RequestId: "small", Format: pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT, MaxReplyBytes: &limit}
	}
	for range 3 {
		if err := w.send(t, build(300)); err == nil {
			t.Fatal("a build of thousands of bytes fits into 300")
		}
	}
	w.unchanged(t)
	reply := must[*pb.BuildContextResponse](t)(w.Context.BuildContext(w.ctx, build(0)))
	if reply.GetTurn() != 3 || reply.GetManifestId() != "b3" || reply.GetDuplicate() {
		t.Errorf("after refused builds the next is turn %d, manifest %s, duplicate %t; want 3, b3, false", reply.GetTurn(), reply.GetManifestId(), reply.GetDuplicate())
	}
}

// TestPageToken_OfContents_BelongsToItsQuestion takes the tokens of pages of contents to other questions, and changes them.
func TestPageToken_OfContents_BelongsToItsQuestion(t *testing.T) {
	w := newWorld(t)
	h := &w.handles
	part := func() *pb.RetrieveContentRequest {
		return &pb.RetrieveContentRequest{ConversationId: cited, ContentId: h.own, Selection: full(), MaxTokens: 20}
	}
	token := must[*pb.RetrieveContentResponse](t)(w.Contents.RetrieveContent(w.ctx, part())).GetNextPageToken()
	listed := must[*pb.ListSourcesResponse](t)(w.Contents.ListSources(w.ctx, &pb.ListSourcesRequest{ConversationId: cited, PageSize: 2})).GetNextPageToken()
	if token == "" || listed == "" {
		t.Fatal("there is no next page")
	}
	retrieve := func(token string, change func(*pb.RetrieveContentRequest)) any {
		r := part()
		r.PageToken = token
		change(r)
		return r
	}
	same := func(*pb.RetrieveContentRequest) {}
	requests := []any{
		retrieve(listed, same), &pb.ListSourcesRequest{ConversationId: cited, PageToken: token},
		retrieve(token, func(r *pb.RetrieveContentRequest) { r.ConversationId = neighbor }),
		retrieve(token, func(r *pb.RetrieveContentRequest) { r.ContentId = h.text }),
		retrieve(token, func(r *pb.RetrieveContentRequest) { r.ContentId = h.foreign }),
		retrieve(token, func(r *pb.RetrieveContentRequest) {
			r.Selection = &pb.RetrieveContentRequest_Range{Range: units(&pb.Span{EndIndex: new(int64(9999))})["bytes"]}
		}),
		retrieve(token, func(r *pb.RetrieveContentRequest) {
			r.Selection = &pb.RetrieveContentRequest_Excerpts{Excerpts: looking("harbour")}
		}),
		&pb.ListSourcesRequest{ConversationId: neighbor, PageToken: listed}, &pb.ListSourcesRequest{ConversationId: cited, PageToken: listed, RunId: keptRun},
		&pb.ListMessagesRequest{ConversationId: cited, PageToken: listed}, &pb.ListMessagesRequest{ConversationId: cited, PageToken: token},
	}
	for i := range token {
		changed := []byte(token)
		if changed[i]++; changed[i] > 'z' {
			changed[i] = 'A'
		}
		requests = append(requests, retrieve(string(changed), same))
	}
	for i, request := range requests {
		t.Run(fmt.Sprint(i), func(t *testing.T) { invalid("page_token").holds(t, w.send(t, request)) })
	}
	w.unchanged(t)
}
