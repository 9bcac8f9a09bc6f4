package grpcserver

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/admission"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
)

func TestServer_LargeReply_IsRefusedWhileAnotherIsUnread(t *testing.T) {
	s := start(t, realEngine(t), limitedTo(16<<20))
	text := strings.Repeat("x", 3<<20)
	if _, err := s.contexts.AppendMessage(t.Context(), &pb.AppendMessageRequest{ConversationId: "c", Message: userText(text)}); err != nil {
		t.Fatal(err)
	}
	get := &pb.GetMessageRequest{ConversationId: "c", MaxReplyBytes: new(int32(paging.MaxReplyBytes))}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	unread, err := s.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, pb.ConversationService_GetMessage_FullMethodName)
	if err == nil {
		err = unread.SendMsg(get)
	}
	if err == nil {
		_, err = unread.Header() // the answer is on its way
	}
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = s.conversations.GetMessage(short, get)
	wantReason(t, err, codes.ResourceExhausted, "OVERLOADED")
	told := false
	for _, d := range status.Convert(err).Details() {
		_, is := d.(*errdetails.RetryInfo)
		told = told || is
	}
	if !told {
		t.Error("it does not say when to come again")
	}
	leave()
	if _, err := s.conversations.GetMessage(t.Context(), get); err != nil {
		t.Errorf("nobody is before it: %v", err)
	}
}

// TestServer_UnreadReply_EndsItsConnection: what is given to gRPC to send takes memory until then, on every transport.
func TestServer_UnreadReply_EndsItsConnection(t *testing.T) {
	for name, transport := range map[string]func(*Options){"plain": func(*Options) {}, "TLS": speakingTLS(t)} {
		t.Run(name, func(t *testing.T) { testUnreadReply(t, transport) })
	}
}

func testUnreadReply(t *testing.T, transport func(*Options)) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, realEngine(t), limitedTo(16<<20), transport)
		text := strings.Repeat("x", 3<<20)
		if _, err := s.contexts.AppendMessage(t.Context(), &pb.AppendMessageRequest{ConversationId: "c", Message: userText(text)}); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		stream, err := s.conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, pb.ConversationService_GetMessage_FullMethodName)
		if err == nil {
			err = stream.SendMsg(&pb.GetMessageRequest{ConversationId: "c"})
		}
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(admission.MaxSendTime + time.Second)
		for err == nil {
			err = stream.RecvMsg(&pb.GetMessageResponse{})
		}
		if status.Code(err) != codes.Unavailable {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
	})
}

// TestServer_IdleConnection_IsClosed and one with a watcher is not, however long nothing happens.
func TestServer_IdleConnection_IsClosed(t *testing.T) {
	for name, watch := range map[string]bool{"idle": false, "watched": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, realEngine(t))
				appendOne := func() {
					if _, err := s.contexts.AppendMessage(t.Context(), &pb.AppendMessageRequest{ConversationId: "c", Message: userText("x")}); err != nil {
						t.Error(err)
					}
				}
				appendOne()
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				if watch {
					stream, err := s.conversations.WatchEvents(ctx, &pb.WatchEventsRequest{ConversationId: "c"})
					if err == nil {
						_, err = stream.Recv()
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(connectionIdle + time.Minute)
				if closed := s.conn.GetState() == connectivity.Idle; closed == watch {
					t.Errorf("the connection is %s", s.conn.GetState())
				}
				appendOne() // a client connects anew, and notices nothing
			})
		})
	}
}

// TestServer_ReplyBeyondTheMemory_IsRefused: whatever the request lets it have.
func TestServer_ReplyBeyondTheMemory_IsRefused(t *testing.T) {
	s := start(t, realEngine(t), limitedTo(40<<20))
	text := strings.Repeat("x", 6<<20)
	if _, err := s.contexts.AppendMessage(t.Context(), &pb.AppendMessageRequest{ConversationId: "c", Message: userText(text)}); err != nil {
		t.Fatal(err)
	}
	_, err := s.conversations.GetMessage(t.Context(), &pb.GetMessageRequest{ConversationId: "c", MaxReplyBytes: new(int32(paging.MaxReplyBytes))})
	wantReason(t, err, codes.ResourceExhausted, "REPLY_TOO_LARGE")
}
