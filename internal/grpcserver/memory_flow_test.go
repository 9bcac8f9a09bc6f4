package grpcserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	remembering "github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/memorytest"
)

// startRemembering starts a sidecar with a memory and a conversation of an actor, and one of nobody.
func startRemembering(t *testing.T) (*sidecar, pb.MemoryServiceClient, *memorytest.Reference) {
	t.Helper()
	target := memorytest.NewReference(remembering.Limits{MaxMessages: 20, MaxChars: 1000, MaxNote: 16_000, Concurrency: 1, Idempotent: true, ReturnsIDs: true, ForgetsOne: true})
	s := start(t, realEngine(t, func(o *engine.Options) { o.Memory = engine.MemoryOf(target) }))
	for id, actor := range map[string]string{"c": "anna", "nobody": ""} {
		_, err := s.conversations.CreateConversation(t.Context(), &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: id, ActorId: actor}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return s, pb.NewMemoryServiceClient(s.conn), target
}

func addTo(id, text string) *pb.AddMemoryRequest {
	return &pb.AddMemoryRequest{Of: &pb.AddMemoryRequest_ConversationId{ConversationId: id}, Text: text}
}

func listOf(id string) *pb.ListMemoriesRequest {
	return &pb.ListMemoriesRequest{Of: &pb.ListMemoriesRequest_ConversationId{ConversationId: id}}
}

func TestMemories_Added_AreListedFoundAndDeleted(t *testing.T) {
	_, memories, _ := startRemembering(t)
	ctx := t.Context()
	until := timestamppb.New(time.Now().Add(time.Hour).Truncate(time.Second))
	request := addTo("c", "Anna prefers window seats.")
	request.MetadataJson, request.ExpireTime, request.RequestId = `{"a": 1}`, until, "r"
	added, err := memories.AddMemory(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	again, err := memories.AddMemory(ctx, request)
	if err != nil || again.GetMemoryId() != added.GetMemoryId() {
		t.Errorf("again: %v, %v; first %v", again, err, added)
	}
	found, err := memories.SearchMemories(ctx, &pb.SearchMemoriesRequest{ConversationId: "c", Query: "window seats"})
	if err != nil || len(found.GetMemories()) != 1 {
		t.Fatalf("found: %v, %v", found, err)
	}
	m := found.GetMemories()[0]
	want := &pb.Memory{
		Id: added.GetMemoryId(), Kind: pb.MemoryKind_MEMORY_KIND_ADDED, Text: "Anna prefers window seats.", Scope: pb.MemoryScope_MEMORY_SCOPE_USER,
		MetadataJson: `{"a": 1}`, ExpireTime: until, Time: m.GetTime(), Score: m.GetScore(),
	}
	if !proto.Equal(m, want) || m.GetTime() == nil || m.GetScore() <= 0 {
		t.Errorf("found: %v, want %v", m, want)
	}
	for _, deleted := range []bool{true, false} {
		got, err := memories.DeleteMemory(ctx, &pb.DeleteMemoryRequest{Of: &pb.DeleteMemoryRequest_ConversationId{ConversationId: "c"}, MemoryId: m.GetId()})
		if err != nil || got.GetDeleted() != deleted {
			t.Errorf("deleted: %v, %v", got, err)
		}
	}
	if page, err := memories.ListMemories(ctx, listOf("c")); err != nil || len(page.GetMemories()) > 0 || page.GetNextPageToken() != "" {
		t.Errorf("left: %v, %v", page, err)
	}
}

// TestListMemories_Pages_HoldEachMemoryOnce: by pages of any size, also where the back end's page has no room in one answer.
func TestListMemories_Pages_HoldEachMemoryOnce(t *testing.T) {
	_, memories, _ := startRemembering(t)
	var want []string
	for n := range 600 {
		text := fmt.Sprintf("%03d %s", n, strings.Repeat("x", 15_900))
		if _, err := memories.AddMemory(t.Context(), addTo("c", text)); err != nil {
			t.Fatal(err)
		}
		want = append(want, text[:3])
	}
	for _, sizes := range [][]int32{{0}, {1000}, {100, 7, 1000}} {
		var got []string
		request := listOf("c")
		for n := 0; n == 0 || request.GetPageToken() != ""; n++ {
			request.PageSize = sizes[n%len(sizes)]
			page, err := memories.ListMemories(t.Context(), request)
			if err != nil || len(page.GetMemories()) == 0 || n > 300 {
				t.Fatalf("page %d of sizes %v: %v", n, sizes, err)
			}
			for _, m := range page.GetMemories() {
				got = append(got, m.GetText()[:3])
			}
			request.PageToken = page.GetNextPageToken()
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("pages of %v hold %d memories: %v", sizes, len(got), got)
		}
	}
}

// TestListMemories_ForeignToken_IsRefused: of another question, and one that somebody has counted the checksum of.
func TestListMemories_ForeignToken_IsRefused(t *testing.T) {
	_, memories, _ := startRemembering(t)
	for n := range 3 {
		if _, err := memories.AddMemory(t.Context(), addTo("c", fmt.Sprint("memory ", n))); err != nil {
			t.Fatal(err)
		}
	}
	first := listOf("c")
	first.PageSize = 1
	page, err := memories.ListMemories(t.Context(), first)
	if err != nil || page.GetNextPageToken() == "" {
		t.Fatal(page, err)
	}
	other := listOf("nobody")
	other.PageToken = page.GetNextPageToken()
	_, err = memories.ListMemories(t.Context(), other)
	wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
}

func TestMemories_Faults_HaveTheirReasons(t *testing.T) {
	s, memories, target := startRemembering(t)
	ctx := t.Context()
	_, err := memories.ListMemories(ctx, listOf("nobody"))
	wantReason(t, err, codes.FailedPrecondition, "NO_ACTOR")
	_, err = memories.SearchMemories(ctx, &pb.SearchMemoriesRequest{ConversationId: "nobody", Query: "x"})
	wantReason(t, err, codes.FailedPrecondition, "NO_ACTOR")
	partly, err := memories.SearchMemories(ctx, &pb.SearchMemoriesRequest{
		ConversationId: "nobody", Query: "x", Scopes: []pb.MemoryScope{pb.MemoryScope_MEMORY_SCOPE_USER, pb.MemoryScope_MEMORY_SCOPE_ORG},
	})
	if err != nil || len(partly.GetDegradations()) != 1 || partly.GetDegradations()[0].GetCode() != "NO_ACTOR" {
		t.Errorf("one scope of two: %v, %v", partly, err)
	}
	_, err = memories.ListMemories(ctx, listOf("none"))
	wantReason(t, err, codes.NotFound, "CONVERSATION_NOT_FOUND")
	past := addTo("c", "x")
	past.ExpireTime = timestamppb.New(time.Now().Add(-time.Hour))
	_, err = memories.AddMemory(ctx, past)
	if fields := wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD"); fields["expire_time"] == "" {
		t.Errorf("a time that has passed: %v", fields)
	}
	for fault, want := range map[error]string{
		&remembering.UnavailableError{Cause: "503"}: "MEMORY_UNAVAILABLE", remembering.ErrDenied: "MEMORY_UNAVAILABLE", remembering.ErrOutcomeUnknown: "OUTCOME_UNKNOWN",
	} {
		target.Break(func(string) memorytest.Fault { return memorytest.Fault{Before: fault} })
		_, err = memories.AddMemory(ctx, addTo("c", "x"))
		wantReason(t, err, codes.Unavailable, want)
	}
	target.Break(func(string) memorytest.Fault { return memorytest.Fault{Before: remembering.ErrUnavailable} })
	_, err = memories.SearchMemories(ctx, &pb.SearchMemoriesRequest{ConversationId: "c", Query: "x"})
	wantReason(t, err, codes.Unavailable, "MEMORY_UNAVAILABLE")
	if strings.Contains(s.log.String(), "anna") {
		t.Errorf("the log names the actor: %s", s.log)
	}
}

// TestMemories_WithoutMemory_AreRefusedAlike: by every call of the service, whatever it is about.
func TestMemories_WithoutMemory_AreRefusedAlike(t *testing.T) {
	s := start(t, realEngine(t))
	memories := pb.NewMemoryServiceClient(s.conn)
	ctx := t.Context()
	for name, call := range map[string]func() error{
		"SearchMemories": func() error {
			_, err := memories.SearchMemories(ctx, &pb.SearchMemoriesRequest{ConversationId: "c", Query: "x"})
			return err
		},
		"ListMemories": func() error { _, err := memories.ListMemories(ctx, listOf("c")); return err },
		"AddMemory":    func() error { _, err := memories.AddMemory(ctx, addTo("c", "x")); return err },
		"DeleteMemory": func() error {
			_, err := memories.DeleteMemory(ctx, &pb.DeleteMemoryRequest{Of: &pb.DeleteMemoryRequest_ActorId{ActorId: "a"}, MemoryId: "m"})
			return err
		},
		"EndSession": func() error {
			_, err := memories.EndSession(ctx, &pb.EndSessionRequest{ConversationId: "c"})
			return err
		},
		"GetMemorySync": func() error {
			_, err := memories.GetMemorySync(ctx, &pb.GetMemorySyncRequest{ConversationId: "c"})
			return err
		},
		"ForgetActor": func() error {
			_, err := memories.ForgetActor(ctx, &pb.ForgetActorRequest{ActorId: "a"})
			return err
		},
		"GetForget": func() error { _, err := memories.GetForget(ctx, &pb.GetForgetRequest{ForgetId: "f"}); return err },
	} {
		t.Run(name, func(t *testing.T) { wantReason(t, call(), codes.FailedPrecondition, "MEMORY_DISABLED") })
	}
}

// forgetful is an engine that says how far a conversation is remembered, and what it was asked.
type forgetful struct {
	Engine
	asked string
}

func (f *forgetful) EndSession(_ context.Context, key engine.Key) (int32, []engine.MemorySync, error) {
	f.asked = fmt.Sprint("end ", key)
	return 3, []engine.MemorySync{{Target: "mem0", SyncedTo: 4, Lag: 5, State: 4, Reason: "429", NextTry: time.Unix(6, 0), Skipped: 7, Session: 3}}, nil
}

func (f *forgetful) MemorySync(ctx context.Context, key engine.Key) ([]engine.MemorySync, error) {
	_, sync, err := f.EndSession(ctx, key)
	return sync, err
}

func (f *forgetful) ForgetActor(_ context.Context, namespace, actor string, deleteConversations bool) (*engine.Forgetting, error) {
	f.asked = fmt.Sprint("forget ", namespace, " ", actor, " ", deleteConversations)
	return &engine.Forgetting{ID: "f1", State: 2, Deleted: 3, Conversations: 4, Residue: []string{"history"}, CreateTime: time.Unix(5, 0), DoneTime: time.Unix(6, 0)}, nil
}

func (f *forgetful) Forget(ctx context.Context, namespace, id string) (*engine.Forgetting, error) {
	if id != "f1" {
		return nil, conversation.Errorf(conversation.ForgetNotFound, "there is no such ForgetActor")
	}
	return f.ForgetActor(ctx, namespace, "", false)
}

func TestMemories_SyncAndForget_AreToldInFull(t *testing.T) {
	e := &forgetful{}
	s := start(t, e)
	memories := pb.NewMemoryServiceClient(s.conn)
	sync := []*pb.MemorySync{{
		Target: "mem0", SyncedTo: 4, LagMessages: 5, State: pb.MemorySyncState_MEMORY_SYNC_STATE_RETRYING, Reason: "429",
		NextTry: &timestamppb.Timestamp{Seconds: 6}, SkippedMessages: 7, Session: 3,
	}}
	ended, err := memories.EndSession(t.Context(), &pb.EndSessionRequest{ConversationId: "c"})
	if err != nil || !proto.Equal(ended, &pb.EndSessionResponse{Session: 3, Sync: sync}) || e.asked != "end {default c}" {
		t.Errorf("ended: %v, %v, asked %q", ended, err, e.asked)
	}
	told, err := memories.GetMemorySync(t.Context(), &pb.GetMemorySyncRequest{ConversationId: "c"})
	if err != nil || !proto.Equal(told, &pb.GetMemorySyncResponse{Sync: sync}) {
		t.Errorf("sync: %v, %v", told, err)
	}
	want := &pb.Forget{
		ForgetId: "f1", State: pb.ForgetState_FORGET_STATE_VERIFYING, DeletedMemories: 3, DeletedConversations: 4, Residue: []string{"history"},
		CreateTime: &timestamppb.Timestamp{Seconds: 5}, DoneTime: &timestamppb.Timestamp{Seconds: 6},
	}
	for records, erase := range map[pb.ForgetRecords]bool{0: false, pb.ForgetRecords_FORGET_RECORDS_KEEP: false, pb.ForgetRecords_FORGET_RECORDS_DELETE: true} {
		forgot, err := memories.ForgetActor(t.Context(), &pb.ForgetActorRequest{ActorId: "anna", Records: records})
		if err != nil || !proto.Equal(forgot.GetForget(), want) || e.asked != fmt.Sprint("forget default anna ", erase) {
			t.Errorf("forgot: %v, %v, asked %q", forgot, err, e.asked)
		}
	}
	if got, err := memories.GetForget(t.Context(), &pb.GetForgetRequest{ForgetId: "f1"}); err != nil || !proto.Equal(got.GetForget(), want) {
		t.Errorf("forget: %v, %v", got, err)
	}
	_, err = memories.GetForget(t.Context(), &pb.GetForgetRequest{ForgetId: "f2"})
	wantReason(t, err, codes.NotFound, "FORGET_NOT_FOUND")
}
