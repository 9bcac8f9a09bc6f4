package grpcserver

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// say appends a message under a request id and returns its index.
func (s *sidecar) say(t *testing.T, conversation, id string) (int32, error) {
	t.Helper()
	reply, err := s.contexts.AppendMessage(t.Context(), &pb.AppendMessageRequest{
		ConversationId: conversation, RequestId: id, Message: &pb.Message{
			Role: pb.Role_ROLE_USER, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: id}}},
		},
	})
	return reply.GetReceipt().GetIndex(), err
}

// TestDeleteConversation_WithoutTombstone_NextAppendBeginsAnew: and a retry from before does not. With a tombstone, none does.
func TestDeleteConversation_WithoutTombstone_NextAppendBeginsAnew(t *testing.T) {
	s := start(t, realEngine(t))
	for _, without := range []bool{false, true} {
		for _, id := range []string{"a", "b"} {
			if _, err := s.say(t, "c", id); err != nil {
				t.Fatal(err)
			}
		}
		request := &pb.DeleteConversationRequest{ConversationId: "c", RequestId: "gone", WithoutTombstone: without}
		reply, err := s.conversations.DeleteConversation(t.Context(), request)
		if err != nil || (reply.GetTombstoneExpireTime() == nil) != without {
			t.Fatalf("%v, %v", reply, err)
		}
		_, err = s.say(t, "c", "a")
		wantReason(t, err, codes.NotFound, "CONVERSATION_DELETED")
		if without {
			break
		}
		_, err = s.say(t, "c", "new")
		wantReason(t, err, codes.NotFound, "CONVERSATION_DELETED")
		if _, err := s.conversations.CreateConversation(t.Context(), &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: "c"}}); err != nil {
			t.Fatal(err)
		}
	}
	if index, err := s.say(t, "c", "new"); err != nil || index != 0 {
		t.Fatalf("index %d, %v", index, err)
	}
	_, err := s.say(t, "c", "b")
	wantReason(t, err, codes.NotFound, "CONVERSATION_DELETED")
	got, err := s.conversations.GetConversation(t.Context(), &pb.GetConversationRequest{ConversationId: "c"})
	if err != nil || got.GetConversation().GetMessageCount() != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestPolicy_TTLWithoutTombstone_NextAppendBeginsAnew: set by an update, as one field of the policy.
func TestPolicy_TTLWithoutTombstone_NextAppendBeginsAnew(t *testing.T) {
	now := &clock{now: time.UnixMilli(1_800_000_000_000)}
	s := start(t, realEngine(t, func(o *engine.Options) { o.Clock = now.read }))
	policy := &pb.Policy{Ttl: durationpb.New(time.Minute)}
	_, err := s.conversations.CreateConversation(t.Context(), &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: "c", Policy: policy}})
	if err != nil {
		t.Fatal(err)
	}
	updated, err := s.conversations.UpdateConversation(t.Context(), &pb.UpdateConversationRequest{
		Conversation: &pb.Conversation{Id: "c", Policy: &pb.Policy{TtlWithoutTombstone: new(true)}},
		UpdateMask:   &fieldmaskpb.FieldMask{Paths: []string{"policy.ttl_without_tombstone"}},
	})
	if p := updated.GetConversation().GetPolicy(); err != nil || !p.GetTtlWithoutTombstone() || p.GetTtl().GetSeconds() != 60 {
		t.Fatalf("%v, %v", updated, err)
	}
	if _, err := s.say(t, "c", "a"); err != nil {
		t.Fatal(err)
	}
	now.pass(time.Minute)
	_, err = s.say(t, "c", "a")
	wantReason(t, err, codes.NotFound, "CONVERSATION_DELETED")
	if index, err := s.say(t, "c", "new"); err != nil || index != 0 {
		t.Errorf("index %d, %v", index, err)
	}
}
