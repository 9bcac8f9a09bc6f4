package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/config"
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/memory/agentcore/agentcoretest"
)

// TestProgram_AgentCore_OneConversationTellsAnother_UntilTheActorIsForgotten: what a user says in one conversation is sent, drawn into a fact
// and shown in the next, over answers that are lost; what is forgotten is gone from the service and from the next build.
func TestProgram_AgentCore_OneConversationTellsAnother_UntilTheActorIsForgotten(t *testing.T) {
	server := agentcoretest.Start(t, agentcoretest.Options{})
	t.Setenv("AWS_ACCESS_KEY_ID", agentcoretest.Key)
	t.Setenv("AWS_SECRET_ACCESS_KEY", agentcoretest.Secret)
	t.Setenv("AWS_SESSION_TOKEN", "")
	s := config.Private(t.TempDir())
	s.Memory, s.MemoryID, s.MemoryRegion, s.MemoryURL = config.MemoryAgentCore, agentcoretest.MemoryID, agentcoretest.Region, server.URL
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	conn, ended := launch(ctx, t, s)

	server.Next(agentcoretest.Fault{Lose: true})
	remember(t, conn, "first", "I am allergic to walnuts.")
	until(t, "what had no answer is sent again", func() bool { return len(server.Calls()) == 2 })
	if events, records, _ := server.Holds("walnuts"); events != 1 || records != 1 {
		t.Errorf("the service has %d events and %d records of one batch", events, records)
	}
	remember(t, conn, "second", "Can I eat walnuts?")
	if got := shown(t, conn, "second"); !strings.Contains(got, "I am allergic to walnuts.") || !strings.Contains(got, "<memories") {
		t.Errorf("the next conversation is shown %q", got)
	}

	forget, err := pb.NewMemoryServiceClient(conn).ForgetActor(ctx, &pb.ForgetActorRequest{ActorId: "anna", Records: pb.ForgetRecords_FORGET_RECORDS_KEEP})
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the actor is forgotten", func() bool {
		got, err := pb.NewMemoryServiceClient(conn).GetForget(ctx, &pb.GetForgetRequest{ForgetId: forget.GetForget().GetForgetId()})
		if err != nil {
			t.Fatal(err)
		}
		return got.GetForget().GetState() >= pb.ForgetState_FORGET_STATE_VERIFYING // what is drawn late is looked for in 10 minutes
	})
	if events, records, found := server.Holds("walnuts"); events+records != 0 || found {
		t.Errorf("the service has %d events and %d records", events, records)
	}
	if got := shown(t, conn, "second"); strings.Contains(got, "I am allergic") {
		t.Errorf("the next conversation is still shown %q", got)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// remember lets a user say something in a conversation that is remembered.
func remember(t *testing.T, conn *grpc.ClientConn, id, text string) {
	t.Helper()
	policy := &pb.Policy{Memory: &pb.MemoryPolicy{
		Enabled: proto.Bool(true), Sync: pb.MemorySyncStrategy_MEMORY_SYNC_STRATEGY_IMMEDIATE, SyncDelay: durationpb.New(0),
		Recall: &pb.MemoryRecallPolicy{Deadline: durationpb.New(5 * time.Second)},
	}}
	_, err := pb.NewConversationServiceClient(conn).CreateConversation(t.Context(), &pb.CreateConversationRequest{
		Conversation: &pb.Conversation{Id: id, ActorId: "anna", Policy: policy},
	})
	if err != nil {
		t.Fatal(err)
	}
	said := message(text)
	said.ConversationId = id
	if _, err := pb.NewContextServiceClient(conn).AppendMessage(t.Context(), said); err != nil {
		t.Fatal(err)
	}
}

// shown is all text that a build shows.
func shown(t *testing.T, conn *grpc.ClientConn, id string) (out string) {
	t.Helper()
	built, err := pb.NewContextServiceClient(conn).BuildContext(t.Context(), &pb.BuildContextRequest{
		ConversationId: id, Budget: &pb.Budget{ContextWindowTokens: proto.Int32(100_000)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return built.String()
}

func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it is not so that %s", what)
		}
	}
}
