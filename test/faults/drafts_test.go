package faults

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// steady is one conversation that an agent works on, whatever becomes of the sidecar.
type steady struct {
	t       *testing.T
	folder  string
	models  *models
	acked   int32 // messages
	name    string
	sidecar *process.Sidecar
	client  *process.Client
}

func newSteady(t *testing.T) *steady {
	t.Helper()
	s := &steady{t: t, folder: t.TempDir(), models: serveModels(t)}
	s.start()
	return s
}

// begin begins another conversation.
func (s *steady) begin(name string) {
	s.name, s.acked = name, 0
	_, err := s.client.Conversations.CreateConversation(s.t.Context(), &pb.CreateConversationRequest{Conversation: &pb.Conversation{
		Id: s.name, Policy: &pb.Policy{
			Fit: &pb.FitPolicy{MaxContextTokens: new(int32(tightBudget))}, MaxWait: durationpb.New(time.Second),
			Compaction: &pb.CompactionPolicy{Strategy: pb.CompactionStrategy_COMPACTION_STRATEGY_SUMMARIZE},
		},
	}})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *steady) start() {
	var err error
	if s.sidecar, err = process.Start(binary, s.folder, s.models.flags()...); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.sidecar.Kill)
	if s.client, err = s.sidecar.Dial(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.client.Close)
}

// step appends an exchange and builds.
func (s *steady) step(ctx context.Context) (*pb.BuildContextResponse, error) {
	request := &pb.BatchAppendMessagesRequest{ConversationId: s.name, RequestId: fmt.Sprint("step-", s.acked), ExpectedIndex: new(s.acked)}
	for i, role := range []pb.Role{pb.Role_ROLE_USER, pb.Role_ROLE_ASSISTANT} {
		text := fmt.Sprintf("message %d: /srv/data/part%d.csv. %s", s.acked+int32(i), s.acked, strings.Repeat("so it goes on. ", 60))
		request.Items = append(request.Items, &pb.BatchAppendItem{Message: &pb.Message{Role: role, Parts: []*pb.Part{textPart(text)}}})
	}
	if _, err := s.client.Context.BatchAppendMessages(ctx, request); err != nil {
		return nil, err
	}
	s.acked += 2
	return s.client.Context.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: s.name, Format: pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT})
}

// works until the sidecar is gone, or a summary was made; that must not take long.
func (s *steady) works(ctx context.Context) (summary bool) {
	for range 60 {
		got, err := s.step(ctx)
		if err != nil {
			if err := gone(err); err != nil {
				s.t.Fatal(err)
			}
			return false
		}
		if t := got.GetTokens(); t.GetTotal() > t.GetBudget() {
			s.t.Fatalf("%d tokens for %d", t.GetTotal(), t.GetBudget())
		}
		for _, e := range got.GetEvents() {
			if e.GetType() == pb.EventType_EVENT_TYPE_SUMMARIZED {
				return true
			}
		}
	}
	s.t.Fatal("nothing is summarized any more")
	return false
}

// whole compares the record with what was acknowledged, and demands that every summary is whole.
func (s *steady) whole(ctx context.Context) state {
	s.t.Helper()
	messages, err := s.client.Messages(ctx, s.name, pb.ListView_LIST_VIEW_ORIGINAL)
	if err != nil {
		s.t.Fatal(err)
	}
	if n := int32(len(messages)); n < s.acked || n > s.acked+2 { // of the last call nobody knows
		s.t.Fatalf("%d messages are on record, %d were acknowledged", n, s.acked)
	}
	for i, m := range messages {
		if text := m.GetParts()[0].GetText(); !strings.HasPrefix(text, fmt.Sprintf("message %d: ", i)) {
			s.t.Fatalf("message %d is %.40q", i, text)
		}
	}
	export, err := s.client.Export(ctx, s.name)
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := exported(export)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// TestKill_WhileASummaryIsPreparedOrPublished_ResumesOrForgets kills the sidecar from inside the model that it asks, and around its answer:
// nothing acknowledged is lost, no summary is half there, and the next process goes on.
func TestKill_WhileASummaryIsPreparedOrPublished_ResumesOrForgets(t *testing.T) {
	t.Parallel()
	s := newSteady(t)
	total := state{}
	for round := range max(8, roundsOf(t)/5) {
		s.begin(fmt.Sprint("steady-", round))
		var once sync.Once
		strike := s.sidecar.Strike
		// At once, while the answer is on its way, or when the next builds publish it.
		delay := time.Duration([]int{0, 20, 60, 150}[round%4]+round) * time.Millisecond
		kill := func() { once.Do(func() { time.AfterFunc(delay, strike) }) }
		s.models.asked.Store(&kill)
		for s.works(t.Context()) { // until it is killed
		}
		s.sidecar.Kill()
		calm := func() {}
		s.models.asked.Store(&calm)
		s.start()
		was := s.whole(t.Context())
		if !s.works(t.Context()) {
			t.Fatalf("round %d: the sidecar is gone", round)
		}
		is := s.whole(t.Context())
		if is.summaries <= was.summaries {
			t.Errorf("round %d: %d summaries, and then %d", round, was.summaries, is.summaries)
		}
		total.summaries, total.models = total.summaries+is.summaries, total.models+is.models
	}
	t.Logf("%d summaries, %d of them a model's, %d calls", total.summaries, total.models, s.models.calls.Load())
	if total.models == 0 {
		t.Error("no summary is a model's: nothing is tested")
	}
	if err := s.sidecar.Stop(); err != nil {
		t.Errorf("the sidecar ended with %v", err)
	}
}

// TestKill_Politely_DoesNotWaitForTheModel that writes a summary, and gives the lease back.
func TestKill_Politely_DoesNotWaitForTheModel(t *testing.T) {
	t.Parallel()
	s := newSteady(t)
	s.begin("steady")
	asked, let := make(chan struct{}, 10), make(chan struct{})
	t.Cleanup(func() { close(let) })
	hang := func() {
		asked <- struct{}{}
		<-let
	}
	s.models.asked.Store(&hang)
	for len(asked) == 0 {
		if _, err := s.step(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // what is prepared asks behind an answer, and before a build has to wait for it
	}
	began := time.Now()
	if err := s.sidecar.Stop(); err != nil {
		t.Errorf("the sidecar ended with %v", err)
	}
	if took := time.Since(began); took > testlane.Slack(5*time.Second) {
		t.Errorf("stopping took %s", took)
	}
	calm := func() {}
	s.models.asked.Store(&calm)
	s.start()
	s.works(t.Context()) // the lease was given back: what comes next is a model's
	if out := s.whole(t.Context()); out.models == 0 {
		t.Error("the next process waits for a lease that nobody holds")
	}
}
