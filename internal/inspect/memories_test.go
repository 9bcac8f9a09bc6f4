package inspect

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func (f *fake) ListMemories(_ context.Context, r *pb.ListMemoriesRequest) (*pb.ListMemoriesResponse, error) {
	f.asked = append(f.asked, proto.CloneOf(r))
	return page(f.memories, r.GetPageToken()), nil
}

func (f *fake) SearchMemories(_ context.Context, r *pb.SearchMemoriesRequest) (*pb.SearchMemoriesResponse, error) {
	f.asked = append(f.asked, r)
	return f.recalled, nil
}

func (f *fake) AddMemory(_ context.Context, r *pb.AddMemoryRequest) (*pb.AddMemoryResponse, error) {
	f.asked = append(f.asked, r)
	return &pb.AddMemoryResponse{MemoryId: "m7"}, nil
}

func (f *fake) DeleteMemory(_ context.Context, r *pb.DeleteMemoryRequest) (*pb.DeleteMemoryResponse, error) {
	f.asked = append(f.asked, r)
	return &pb.DeleteMemoryResponse{Deleted: r.GetMemoryId() == "m7"}, nil
}

func (f *fake) GetMemorySync(_ context.Context, r *pb.GetMemorySyncRequest) (*pb.GetMemorySyncResponse, error) {
	f.asked = append(f.asked, r)
	return &pb.GetMemorySyncResponse{Sync: f.sync}, nil
}

func (f *fake) EndSession(_ context.Context, r *pb.EndSessionRequest) (*pb.EndSessionResponse, error) {
	f.asked = append(f.asked, r)
	return &pb.EndSessionResponse{Session: 2, Sync: f.sync}, nil
}

func (f *fake) ForgetActor(_ context.Context, r *pb.ForgetActorRequest) (*pb.ForgetActorResponse, error) {
	f.asked = append(f.asked, r)
	return &pb.ForgetActorResponse{Forget: f.nextForget()}, nil
}

func (f *fake) GetForget(_ context.Context, r *pb.GetForgetRequest) (*pb.GetForgetResponse, error) {
	f.asked = append(f.asked, r)
	return &pb.GetForgetResponse{Forget: f.nextForget()}, nil
}

func (f *fake) nextForget() *pb.Forget {
	next := f.forgets[0]
	if len(f.forgets) > 1 {
		f.forgets = f.forgets[1:]
	}
	return next
}

// recallingFake is a sidecar that remembers.
func recallingFake() *fake {
	f := story()
	said := &pb.Memory{
		Id: "m1", Kind: pb.MemoryKind_MEMORY_KIND_SAID, Text: "I prefer window seats.", SaidBy: "user", Time: at(1), Score: 0.875, Scope: pb.MemoryScope_MEMORY_SCOPE_USER,
		Sources: []*pb.MemorySource{{ConversationId: "order-1", StartIndex: 3, EndIndex: 4}, {ConversationId: "order-2", StartIndex: 5, EndIndex: 9}},
	}
	old := &pb.Memory{Id: "m2", Kind: pb.MemoryKind_MEMORY_KIND_FACT, Text: "Lives in Ulm.", SupersededBy: "m3", Time: at(2)}
	added := &pb.Memory{Id: "m3", Kind: pb.MemoryKind_MEMORY_KIND_ADDED, Text: "Lives in Bonn.", Time: at(3), ExpireTime: at(9), Scope: pb.MemoryScope_MEMORY_SCOPE_ORG}
	f.memories = []*pb.ListMemoriesResponse{{Memories: []*pb.Memory{said, old}, NextPageToken: "1"}, {Memories: []*pb.Memory{added}}}
	f.recalled = &pb.SearchMemoriesResponse{Memories: []*pb.Memory{said, added}, Degradations: []*pb.Degradation{{Reason: "the memory cannot be reached"}}}
	f.sync = []*pb.MemorySync{{
		Target: "mem0", SyncedTo: 1200, LagMessages: 3, SkippedMessages: 1, Session: 2, State: pb.MemorySyncState_MEMORY_SYNC_STATE_RETRYING, NextTry: at(4), Reason: "429",
	}}
	f.forgets = []*pb.Forget{
		{ForgetId: "f1", State: pb.ForgetState_FORGET_STATE_PENDING}, {ForgetId: "f1", State: pb.ForgetState_FORGET_STATE_PENDING},
		{ForgetId: "f1", State: pb.ForgetState_FORGET_STATE_PENDING, DeletedMemories: 1200},
		{ForgetId: "f1", State: pb.ForgetState_FORGET_STATE_VERIFYING, DeletedMemories: 1234, DeletedConversations: 2, Residue: []string{"its history of changes"}},
		{ForgetId: "f1", State: pb.ForgetState_FORGET_STATE_DONE, DeletedMemories: 1234},
	}
	return f
}

func TestMemoriesCommands_Run_Tables(t *testing.T) {
	f := recallingFake()
	flags := f.flags(t)
	user := whose{Conversation: "c", Scope: "user"}
	var all strings.Builder
	for _, c := range []command{
		&MemoriesListCommand{Sidecar: flags, whose: user},
		&MemoriesSearchCommand{Sidecar: flags, Conversation: "c", Query: "seats", Max: 10},
		&MemoriesSyncCommand{Sidecar: flags, Conversation: "c"},
		&MemoriesEndSessionCommand{Sidecar: flags, Conversation: "c"},
		&MemoriesAddCommand{Sidecar: flags, whose: user, Text: "x"},
		&MemoriesDeleteCommand{Sidecar: flags, whose: user, Memory: "m7"},
		&MemoriesDeleteCommand{Sidecar: flags, whose: user, Memory: "m8"},
		&MemoriesForgetCommand{Sidecar: flags, Actor: "anna", Records: "delete"},
	} {
		out, remarks, err := run(t, c, "120")
		if err != nil {
			t.Errorf("%T: %v", c, err)
		}
		all.WriteString(out + remarks + "\n")
	}
	golden(t, "memories", all.String())
}

func TestMemoriesCommands_Run_AskWhatTheFlagsSay(t *testing.T) {
	f := recallingFake()
	flags := f.flags(t)
	score := 0.5
	for _, c := range []command{
		&MemoriesListCommand{Sidecar: flags, whose: whose{Actor: "anna", Scope: "user"}, Kind: []string{"said", "added"}, Limit: 1},
		&MemoriesSearchCommand{Sidecar: flags, Conversation: "c", Query: "seats", Scope: []string{"org", "session"}, Max: 3, MinScore: &score},
		&MemoriesAddCommand{Sidecar: flags, whose: whose{Conversation: "c", Scope: "agent"}, Text: "x", Metadata: "{}", RequestID: "r"},
		&MemoriesDeleteCommand{Sidecar: flags, whose: whose{Actor: "anna", Scope: "user"}, Memory: "m7"},
	} {
		if _, _, err := run(t, c, "120"); err != nil {
			t.Errorf("%T: %v", c, err)
		}
	}
	user := pb.MemoryScope_MEMORY_SCOPE_USER
	for i, want := range []proto.Message{
		&pb.ListMemoriesRequest{
			Of: &pb.ListMemoriesRequest_ActorId{ActorId: "anna"}, Scope: user, Kinds: []pb.MemoryKind{pb.MemoryKind_MEMORY_KIND_SAID, pb.MemoryKind_MEMORY_KIND_ADDED},
			PageSize: pageSize,
		},
		&pb.SearchMemoriesRequest{
			ConversationId: "c", Query: "seats", Scopes: []pb.MemoryScope{pb.MemoryScope_MEMORY_SCOPE_ORG, pb.MemoryScope_MEMORY_SCOPE_SESSION}, MaxResults: 3, MinScore: &score,
		},
		&pb.AddMemoryRequest{
			Of: &pb.AddMemoryRequest_ConversationId{ConversationId: "c"}, Scope: pb.MemoryScope_MEMORY_SCOPE_AGENT, Text: "x", MetadataJson: "{}", RequestId: "r",
		},
		&pb.DeleteMemoryRequest{Of: &pb.DeleteMemoryRequest_ActorId{ActorId: "anna"}, Scope: user, MemoryId: "m7"},
	} {
		if !proto.Equal(f.asked[i], want) {
			t.Errorf("asked %v, want %v", f.asked[i], want)
		}
	}
}

func TestMemoriesForgetCommand_Run_LooksOnUntilThereIsNoMore(t *testing.T) {
	f := recallingFake()
	flags := f.flags(t)
	out, remarks, err := run(t, &MemoriesForgetCommand{Sidecar: flags, Actor: "anna", Records: "keep", forgetWait: forgetWait{Wait: true, Every: time.Millisecond}}, "80")
	if err != nil || out != "f1: done, 1,234 memories deleted.\n" || strings.Count(remarks, "\n") != 3 {
		t.Errorf("%v, %q, %q", err, out, remarks)
	}
	f.forgets = []*pb.Forget{{ForgetId: "f2", State: pb.ForgetState_FORGET_STATE_FAILED}}
	if _, _, err := run(t, &MemoriesForgettingCommand{Sidecar: flags, Forget: "f2"}, "80"); !errors.Is(err, errForgetFails) {
		t.Errorf("%v", err)
	}
}
