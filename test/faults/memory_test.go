package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// What is remembered goes on after so long: a lease of the process that was killed ends, and the sweeper comes by.
const rememberedWithin = 4 * time.Minute

const (
	talkers         = 4
	talksOfARoundTo = 2 // as many kills live through one set of conversations
)

// TestKill_Memory_LosesNoMessage kills the sidecar while messages go to a memory that loses answers, asks to wait, and knows no batch again. In
// the end it has each message that is on record, once, in order. It waits for leases, so that `make faults` alone kills often; what kills do
// within a process, pkg/engine tests always.
func TestKill_Memory_LosesNoMessage(t *testing.T) {
	t.Parallel() // it waits more than it works
	rounds, seed := roundsOf(t), proptest.Seed(t)
	if os.Getenv(roundsVariable) == "" {
		rounds = 3
	}
	m, folder := serveMem0(t, seed), t.TempDir()
	random := rand.New(rand.NewPCG(seed, 1))
	var talks []string
	for round := range rounds {
		sidecar := startRemembering(t, folder, m)
		if round%talksOfARoundTo == 0 {
			for i := range talkers {
				talks = append(talks, fmt.Sprintf("talk-%d-%d", round, i))
				openTalk(t, sidecar, talks[len(talks)-1])
			}
		}
		after := time.Duration(150+random.IntN(750)) * time.Millisecond
		talkUntilKilled(t, sidecar, round, talks[len(talks)-talkers:], after)
	}
	m.behave()
	sidecar := startRemembering(t, folder, m)
	client, ctx, end := dialMemory(t, sidecar)
	defer end()
	messages, deadline := 0, time.Now().Add(rememberedWithin)
	for _, talk := range talks {
		messages += checkTalk(ctx, t, client, m, talk, deadline)
	}
	t.Logf("%d kills, seed %d: %d messages in %d conversations, %d answers lost", rounds, seed, messages, len(talks), m.lost)
	if messages < rounds {
		t.Errorf("only %d messages", messages)
	}
}

func startRemembering(t *testing.T, folder string, m *mem0) *process.Sidecar {
	t.Helper()
	sidecar, err := process.Start(binary, folder, m.flags()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sidecar.Kill)
	return sidecar
}

func dialMemory(t *testing.T, sidecar *process.Sidecar) (*process.Client, context.Context, func()) {
	t.Helper()
	client, err := sidecar.Dial()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*rememberedWithin)
	return client, ctx, func() {
		cancel()
		client.Close()
	}
}

// openTalk creates a conversation with an actor of its own, whose messages are remembered at once.
func openTalk(t *testing.T, sidecar *process.Sidecar, talk string) {
	t.Helper()
	client, ctx, end := dialMemory(t, sidecar)
	defer end()
	policy := &pb.MemoryPolicy{
		Enabled: new(true), Sync: pb.MemorySyncStrategy_MEMORY_SYNC_STRATEGY_IMMEDIATE, SyncDelay: durationpb.New(10 * time.Millisecond),
	}
	if _, err := client.Conversations.CreateConversation(ctx, &pb.CreateConversationRequest{
		Conversation: &pb.Conversation{Id: talk, ActorId: talk, Policy: &pb.Policy{Memory: policy}},
	}); err != nil {
		t.Fatal(err)
	}
}

// talkUntilKilled appends to conversations, each in turn, until the sidecar is killed: so long after its first answer, which a machine with
// other work makes late.
func talkUntilKilled(t *testing.T, sidecar *process.Sidecar, round int, talks []string, after time.Duration) {
	t.Helper()
	var running sync.WaitGroup
	var answered sync.Once
	for _, talk := range talks {
		client, ctx, end := dialMemory(t, sidecar)
		running.Go(func() {
			defer end()
			for n := 0; ; n++ {
				m := &pb.Message{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{textPart(fmt.Sprintf("%s: round %d, message %d", talk, round, n))}}
				if _, err := client.Context.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: talk, Message: m}); err != nil {
					return
				}
				answered.Do(func() { time.AfterFunc(after, sidecar.Strike) })
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	running.Wait()
	sidecar.Kill()
}

// checkTalk waits until all of a conversation is remembered, and compares.
func checkTalk(ctx context.Context, t *testing.T, client *process.Client, m *mem0, talk string, deadline time.Time) int {
	t.Helper()
	for {
		r, err := client.Memories.GetMemorySync(ctx, &pb.GetMemorySyncRequest{ConversationId: talk})
		if err != nil {
			t.Fatal(err)
		}
		s := r.GetSync()[0]
		if s.GetState() == pb.MemorySyncState_MEMORY_SYNC_STATE_IN_SYNC {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", talk, s)
		}
		time.Sleep(100 * time.Millisecond)
	}
	record, err := client.Messages(ctx, talk, pb.ListView_LIST_VIEW_ORIGINAL)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, message := range record {
		want = append(want, message.GetParts()[0].GetText())
	}
	if got := m.texts("default:" + talk); !slices.Equal(got, want) {
		t.Errorf("%s: %d messages are remembered of %d, or in another order", talk, len(got), len(want))
	}
	return len(want)
}
