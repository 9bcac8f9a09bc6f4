package grpcserver

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// shrinking is an engine that keeps what it was asked, and refuses all of it.
type shrinking struct {
	Engine
	compact engine.CompactRequest
	rewind  engine.RewindRequest
	build   engine.BuildRequest
}

func (s *shrinking) Compact(_ context.Context, r engine.CompactRequest) (*engine.CompactResult, error) {
	s.compact = r
	return nil, conversation.Errorf(conversation.NothingToCompact, "nothing")
}

func (s *shrinking) Rewind(_ context.Context, r engine.RewindRequest) (*engine.RewindResult, error) {
	s.rewind = r
	return nil, conversation.Errorf(conversation.AlreadyRewound, "nothing")
}

func (s *shrinking) Build(_ context.Context, r engine.BuildRequest) (*engine.BuildResult, error) {
	s.build = r
	return nil, conversation.Errorf(conversation.EmptyContext, "nothing")
}

func TestServer_CompactConversation_AsksWhatWasAsked(t *testing.T) {
	e := &shrinking{}
	s, ctx := start(t, e), t.Context()
	_, err := s.contexts.CompactConversation(ctx, compact(nil))
	wantReason(t, err, codes.FailedPrecondition, "NOTHING_TO_COMPACT")
	if diff := cmp.Diff(engine.CompactRequest{
		Key: engine.Key{Namespace: "default", Conversation: "c"}, Request: engine.Request{RPC: "CompactConversation"},
	}, e.compact); diff != "" {
		t.Error(diff)
	}
	req := compact(&pb.CompactionOptions{Strategy: 2, KeepRecent: new(int32(0)), TargetTokens: new(int32(9))})
	req.RequestId = "r"
	_, err = s.contexts.CompactConversation(ctx, req)
	wantReason(t, err, codes.FailedPrecondition, "NOTHING_TO_COMPACT")
	digest := e.compact.Request.Digest
	e.compact.Request.Digest = [32]byte{}
	if diff := cmp.Diff(engine.CompactRequest{
		Key: engine.Key{Namespace: "default", Conversation: "c"}, Request: engine.Request{RPC: "CompactConversation", ID: "r"},
		Strategy: conversation.StrategyHierarchical, KeepRecent: new(int32(0)), TargetTokens: new(int32(9)),
	}, e.compact); diff != "" || digest == [32]byte{} {
		t.Error(diff, digest)
	}
	req.Options.KeepRecent = nil
	_, _ = s.contexts.CompactConversation(ctx, req)
	if e.compact.Request.Digest == digest {
		t.Error("the options are not in the digest")
	}
}

func TestServer_RewindConversation_AsksWhatWasAsked(t *testing.T) {
	e := &shrinking{}
	s, ctx := start(t, e), t.Context()
	req := &pb.RewindConversationRequest{ConversationId: "c", FromIndex: 4, RequestId: "r"}
	_, err := s.contexts.RewindConversation(ctx, req)
	wantReason(t, err, codes.FailedPrecondition, "ALREADY_REWOUND")
	digest := e.rewind.Request.Digest
	if e.rewind.From != 4 || e.rewind.Request.RPC != "RewindConversation" || e.rewind.Request.ID != "r" || digest == [32]byte{} {
		t.Errorf("asked %+v", e.rewind)
	}
	req.FromIndex = 5
	_, _ = s.contexts.RewindConversation(ctx, req)
	if e.rewind.Request.Digest == digest {
		t.Error("the index is not in the digest")
	}
}

func TestServer_BuildContext_OverridesTheWindow(t *testing.T) {
	e := &shrinking{}
	s := start(t, e)
	full := &pb.Policy{
		Fit:        &pb.FitPolicy{ReservedOutputTokens: new(int32(0)), TargetPercent: new(int32(60)), KeepOpening: new(false)},
		Pruning:    &pb.PruningPolicy{ProtectTokens: new(int32(7)), ProtectedTools: &pb.NameList{Names: []string{"a"}}},
		Compaction: &pb.CompactionPolicy{Strategy: pb.CompactionStrategy_COMPACTION_STRATEGY_HIERARCHICAL, KeepRecent: new(int32(8)), PromptId: new("")},
	}
	_, err := s.contexts.BuildContext(t.Context(), build(func(r *pb.BuildContextRequest) { r.PolicyOverride = full }))
	wantReason(t, err, codes.FailedPrecondition, "EMPTY_CONTEXT")
	if diff := cmp.Diff(full, convert.ToPolicy(e.build.PolicyOverride), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func someSummary() engine.SummaryInView {
	return engine.SummaryInView{ID: 7, Range: conversation.Range{First: 2, End: 40}, Level: 3, Children: []int64{4, 6}, Text: "done", Tokens: 9}
}

// summarized is an engine whose listings show a summary.
type summarized struct{ Engine }

func (summarized) Messages(context.Context, engine.MessagesRequest) (*engine.MessagesResult, error) {
	return &engine.MessagesResult{Summaries: []engine.SummaryInView{someSummary()}}, nil
}

func TestServer_ListMessages_ShowsSummaries(t *testing.T) {
	s := start(t, summarized{})
	got, err := s.conversations.ListMessages(t.Context(), &pb.ListMessagesRequest{ConversationId: "c", View: pb.ListView_LIST_VIEW_CURRENT})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]*pb.Summary{convert.ToSummary(someSummary())}, got.GetSummaries(), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}
