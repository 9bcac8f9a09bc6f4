package grpcserver

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

const littleMemory = 256 * mebibyte

func limitedTo(bytes int64) func(*Options) { return func(o *Options) { o.MemoryLimit = bytes } }

func TestAdmission_LargeRequests_WaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission(littleMemory)
		first, err := a.announced(t.Context(), maxReceiveBytes)
		if err != nil {
			t.Fatal(err)
		}
		small, err := a.announced(t.Context(), 100)
		if err == nil {
			small, err = a.counted(t.Context(), small, 100, 10)
		}
		if err != nil {
			t.Fatalf("a small request waits for a large one: %v", err)
		}
		small.release()

		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		begin := time.Now()
		_, err = a.announced(ctx, maxReceiveBytes)
		if conversation.KindOf(err) != conversation.Overloaded || time.Since(begin) != 2*time.Second {
			t.Errorf("the second ends with %v after %s", err, time.Since(begin))
		}
		begin = time.Now()
		if _, err = a.announced(t.Context(), maxReceiveBytes); conversation.KindOf(err) != conversation.Overloaded || time.Since(begin) != maxAdmissionWait {
			t.Errorf("one without a deadline ends with %v after %s", err, time.Since(begin))
		}
		if _, err = a.announced(ctx, maxReceiveBytes); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("one whose deadline has passed: %v", err)
		}
		time.AfterFunc(time.Second, first.release)
		next, err := a.announced(t.Context(), maxReceiveBytes)
		if err != nil {
			t.Fatalf("nobody is before it: %v", err)
		}
		next.release()
		a.reclaim.Stop()
	})
}

func TestAdmission_Counted_KeepsWhatItTakes(t *testing.T) {
	a := newAdmission(littleMemory)
	defer a.reclaim.Stop()
	var held []*grant
	for range 8 { // 1 MiB of one text each: what was granted for the worst is given back, or two would be too many
		g, err := a.announced(t.Context(), mebibyte)
		if err == nil {
			g, err = a.counted(t.Context(), g, mebibyte, 3)
		}
		if err != nil {
			t.Fatalf("%d are held: %v", len(held), err)
		}
		held = append(held, g)
	}
	for _, g := range held {
		g.release()
		g.release() // the second does nothing
	}
	if !a.large.TryAcquire(a.large.size) {
		t.Error("something is still held")
	}
}

func TestAdmission_FewBytesOfManyElements_AreLarge(t *testing.T) {
	a := newAdmission(littleMemory)
	defer a.reclaim.Stop()
	g, err := a.announced(t.Context(), smallMessageBytes)
	if err == nil {
		g, err = a.counted(t.Context(), g, smallMessageBytes, smallMessageBytes/2)
	}
	if err != nil || g.lane != a.large {
		t.Errorf("%v, %v", g, err)
	}
	g.release()
}

func TestAdmission_Search_AsManyAsProcessors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission(0)
		var last func()
		for a.searches.TryAcquire(1) {
			last = func() { a.searches.Release(1) }
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := a.search(ctx); conversation.KindOf(err) != conversation.Overloaded {
			t.Errorf("one more: %v", err)
		}
		last()
		if _, err := a.search(ctx); err != nil {
			t.Errorf("after one has ended: %v", err)
		}
	})
}

func TestServer_ManyElements_AreRefusedByName(t *testing.T) {
	s := start(t, realEngine(t))
	parts := make([]*pb.Part, maxElements)
	for i := range parts {
		parts[i] = &pb.Part{}
	}
	_, err := s.contexts.AppendMessage(t.Context(), &pb.AppendMessageRequest{ConversationId: "c", Message: &pb.Message{Parts: parts}})
	if got := wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD"); !strings.Contains(got["message.parts"], "200,000 elements") {
		t.Errorf("violations %q", got)
	}
}

func TestServer_ManyCalls_AreRefusedAndProbesAreNot(t *testing.T) {
	s := start(t, realEngine(t), limitedTo(1))
	if _, err := s.contexts.AppendMessage(t.Context(), &pb.AppendMessageRequest{ConversationId: "c", Message: userText("x")}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	get := func() error {
		_, err := s.conversations.GetConversation(t.Context(), &pb.GetConversationRequest{ConversationId: "c"})
		return err
	}
	var err error
	for range 1000 {
		if _, err = s.conversations.WatchEvents(ctx, &pb.WatchEventsRequest{ConversationId: "c"}); err != nil {
			t.Fatal(err)
		}
		if err = get(); err != nil {
			break
		}
	}
	wantReason(t, err, codes.ResourceExhausted, "OVERLOADED")
	var retry *errdetails.RetryInfo
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok {
			retry = info
		}
	}
	if retry.GetRetryDelay().AsDuration() != overloadedRetry {
		t.Errorf("retry after %s", retry.GetRetryDelay())
	}
	if _, err := healthpb.NewHealthClient(s.conn).Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
		t.Errorf("a probe: %v", err)
	}
	cancel()
	for begin := time.Now(); get() != nil; time.Sleep(time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Fatal("calls that have ended are still counted")
		}
	}
}

func TestServer_LargeHeaders_AreRefused(t *testing.T) {
	s := start(t, realEngine(t))
	for size, want := range map[int]codes.Code{maxHeaderBytes / 2: codes.NotFound, maxHeaderBytes: codes.Internal} {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "x-large", strings.Repeat("x", size))
		_, err := s.conversations.GetConversation(ctx, &pb.GetConversationRequest{ConversationId: "c"})
		if status.Code(err) != want {
			t.Errorf("%d bytes: %v, want %s", size, err, want)
		}
	}
}

func TestServer_CallWithoutRequest_IsRefused(t *testing.T) {
	s := start(t, realEngine(t))
	stream, err := s.conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, pb.ConversationService_GetConversation_FullMethodName)
	if err == nil {
		err = stream.CloseSend()
	}
	if err != nil {
		t.Fatal(err)
	}
	wantReason(t, stream.RecvMsg(&pb.GetConversationResponse{}), codes.InvalidArgument, "INVALID_FIELD")
}

func TestServer_LargestText_IsReceivedInLittleMemory(t *testing.T) {
	s := start(t, realEngine(t), limitedTo(littleMemory))
	text := strings.Repeat("x", maxContentBytes)
	if _, err := s.contexts.AppendMessage(t.Context(), &pb.AppendMessageRequest{ConversationId: "c", Message: userText(text)}); err != nil {
		t.Fatal(err)
	}
}
