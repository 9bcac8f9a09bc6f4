package admission

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func exchangeIn(ctx context.Context, a *Controller) *Exchange {
	return &Exchange{ctx: ctx, admission: a, longest: MaxReceiveBytes}
}

func largeListing() *pb.ListMessagesRequest {
	return &pb.ListMessagesRequest{MaxReplyBytes: new(int32(paging.MaxReplyBytes))}
}

func TestExchange_AdmitReply_LargeOnes_WaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New(littleMemory)
		first, second := exchangeIn(t.Context(), a), exchangeIn(t.Context(), a)
		if err := first.AdmitReply(largeListing()); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if err := second.AdmitReply(largeListing()); conversation.KindOf(err) != conversation.Overloaded || time.Since(begin) != maxAdmissionWait {
			t.Errorf("the second ends with %v after %s", err, time.Since(begin))
		}
		if err := second.AdmitStream(1 << 20); conversation.KindOf(err) != conversation.Overloaded {
			t.Errorf("an export beside it: %v", err)
		}
		small := exchangeIn(t.Context(), a)
		if err := small.AdmitReply(&pb.BuildContextRequest{}); err != nil {
			t.Errorf("a small answer waits for a large one: %v", err)
		}
		small.End()
		if err := small.AdmitReply(&pb.AppendMessageRequest{}); err != nil || small.reply.admission != nil { // what it had is given back
			t.Errorf("an append takes memory for its answer: %v", err)
		}
		first.End()
		if err := second.AdmitReply(largeListing()); err != nil {
			t.Errorf("nobody is before it: %v", err)
		}
		second.End()
		a.reclaim.Stop()
	})
}

// TestExchange_WithoutReply_OthersHaveItsMemory: a build that waits for a model keeps nobody from an answer.
func TestExchange_WithoutReply_OthersHaveItsMemory(t *testing.T) {
	a := New(littleMemory)
	defer a.reclaim.Stop()
	waiting, other := exchangeIn(t.Context(), a), exchangeIn(t.Context(), a)
	if err := waiting.AdmitReply(largeListing()); err != nil {
		t.Fatal(err)
	}
	err := waiting.WithoutReply(func() {
		if err := other.AdmitReply(largeListing()); err != nil {
			t.Error(err)
		}
		other.End()
	})
	if err != nil || a.replies.large.TryAcquire(a.replies.large.size) {
		t.Errorf("it does not have its memory again: %v", err)
	}
	waiting.End()
	if !a.replies.large.TryAcquire(a.replies.large.size) {
		t.Error("something is still held")
	}
}
