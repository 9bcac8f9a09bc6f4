package faults

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// What the largest answers are made of: several messages, as none alone may be as large.
const (
	floodTexts = 4
	floodText  = 15 << 20
)

// TestFault_FloodsOfReplies_TheSidecarLivesAndAnswers lets many clients ask for the largest answers there are of a sidecar that has
// 256 MiB, and some not read them.
func TestFault_FloodsOfReplies_TheSidecarLivesAndAnswers(t *testing.T) {
	sidecar := startLimited(t, floodMemory)
	largeConversation(t, sidecar, "large", floodTexts)
	largeConversation(t, sidecar, "half", floodTexts/2)
	floodUnderWatch(t, sidecar, map[string]func(*testing.T, *process.Sidecar){
		"listings": func(t *testing.T, s *process.Sidecar) {
			floodReplies(t, s, pb.ConversationService_ListMessages_FullMethodName, &pb.ListMessagesRequest{
				ConversationId: "large", PageSize: 1000, MaxReplyBytes: new(int32(64 << 20)),
			})
		},
		"builds": func(t *testing.T, s *process.Sidecar) {
			floodReplies(t, s, pb.ContextService_BuildContext_FullMethodName, &pb.BuildContextRequest{
				ConversationId: "half", Format: pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT, MaxReplyBytes: new(int32(64 << 20)), DryRun: true,
				Budget: &pb.Budget{ContextWindowTokens: new(int32(100_000_000))},
			})
		},
		"exports": func(t *testing.T, s *process.Sidecar) {
			floodReplies(t, s, pb.ConversationService_ExportConversation_FullMethodName, &pb.ExportConversationRequest{ConversationId: "large"})
		},
		"answers that nobody reads": floodUnread,
	})
}

// TestFault_FloodsOfImports_TheSidecarLivesAndAnswers imports long lines, lines of many elements and lines that do not end.
func TestFault_FloodsOfImports_TheSidecarLivesAndAnswers(t *testing.T) {
	sidecar := startLimited(t, floodMemory)
	const begin, head = `{"palimpsest_export":1}` + "\n", `{"conversation":{"counter":"o200k","head":{"messageCount":1}}}` + "\n"
	line := func(parts string) string {
		return begin + head + `{"message":{"role":"USER","parts":[` + parts + "]}}\n"
	}
	floodUnderWatch(t, sidecar, map[string]func(*testing.T, *process.Sidecar){
		"texts": func(t *testing.T, s *process.Sidecar) {
			floodImports(t, s, line(`{"text":{"text":"`+strings.Repeat("x", floodText)+`"}}`))
		},
		"elements": func(t *testing.T, s *process.Sidecar) {
			floodImports(t, s, line(strings.Repeat("{},", floodText/3)+"{}"))
		},
		"few elements": func(t *testing.T, s *process.Sidecar) {
			floodImports(t, s, line(strings.Repeat("{},", 90_000)+"{}"))
		},
		"lines without an end": func(t *testing.T, s *process.Sidecar) {
			floodImports(t, s, begin+strings.Repeat("[", 2*floodText))
		},
	})
}

// floodUnderWatch floods a sidecar in several ways while a client appends and builds, and holds it to its memory.
func floodUnderWatch(t *testing.T, sidecar *process.Sidecar, floods map[string]func(*testing.T, *process.Sidecar)) {
	t.Helper()
	honest := startHonest(t, sidecar)
	most := watchMemory(t, sidecar)
	for name, flood := range floods {
		begin := time.Now()
		flood(t, sidecar)
		t.Logf("%s: %s, then it holds %d MiB", name, time.Since(begin).Round(time.Millisecond), resident(t, sidecar)>>20)
	}
	p95, calls := honest.stop()
	held := most()
	t.Logf("%d honest calls, p95 %s; at most %d MiB", calls, p95.Round(time.Millisecond), held>>20)
	if p95 > testlane.Slack(floodP95) {
		t.Errorf("an honest client's p95 is %s", p95)
	}
	if held > floodMemory {
		t.Errorf("it took %d MiB", held>>20)
	}
	if err := sidecar.Stop(); err != nil {
		t.Errorf("the sidecar ended with %v", err)
	}
}

// watchMemory finds the most memory of its own that the sidecar has until it is asked.
func watchMemory(t *testing.T, sidecar *process.Sidecar) (most func() int64) {
	var held int64
	ctx, end := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		for ctx.Err() == nil {
			held = max(held, resident(t, sidecar))
			time.Sleep(10 * time.Millisecond)
		}
	})
	return func() int64 { end(); watching.Wait(); return held }
}

// largeConversation is one of so many of the largest messages.
func largeConversation(t *testing.T, sidecar *process.Sidecar, id string, texts int) {
	t.Helper()
	client, err := sidecar.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range texts {
		_, err := client.Context.AppendMessage(t.Context(), &pb.AppendMessageRequest{ConversationId: id, Message: &pb.Message{
			Role: pb.Role_ROLE_USER, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: strings.Repeat("All of it. ", floodText/11)}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// floodReplies makes many calls at once, and demands that each is answered or told to come again.
func floodReplies(t *testing.T, sidecar *process.Sidecar, method string, request proto.Message) {
	raw, err := proto.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	var answered atomic.Int64
	var asking sync.WaitGroup
	for range floodsAtOnce() {
		asking.Go(func() {
			err := receiveRaw(t.Context(), sidecar, method, raw)
			if err == nil {
				answered.Add(1)
				return
			}
			overloaded(t, err)
		})
	}
	asking.Wait()
	if answered.Load() == 0 {
		t.Errorf("%s: nobody was answered", method)
	}
}

func overloaded(t *testing.T, err error) {
	if process.Reason(err) != "OVERLOADED" {
		t.Errorf("a flood ends with %v", err)
	}
}

// receiveRaw makes a call, and drops what comes.
func receiveRaw(ctx context.Context, sidecar *process.Sidecar, method string, raw []byte) error {
	client, err := sidecar.Dial()
	if err != nil {
		return err
	}
	defer client.Close()
	stream, err := client.Connection.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method, grpc.ForceCodecV2(rawCodec{}))
	if err != nil {
		return err
	}
	if err := errors.Join(stream.SendMsg(raw), stream.CloseSend()); err != nil {
		return err
	}
	for {
		if err := stream.RecvMsg(nil); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// floodUnread asks for many answers, and reads none of them for a while.
func floodUnread(t *testing.T, sidecar *process.Sidecar) {
	raw, err := proto.Marshal(&pb.ListMessagesRequest{ConversationId: "large", PageSize: 1, MaxReplyBytes: new(int32(64 << 20))})
	if err != nil {
		t.Fatal(err)
	}
	client, err := sidecar.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range floodsAtOnce() {
		stream, err := client.Connection.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true},
			pb.ConversationService_ListMessages_FullMethodName, grpc.ForceCodecV2(rawCodec{}))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(stream.SendMsg(raw), stream.CloseSend()); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(5 * time.Second)
}

// floodImports sends an import from many clients at once. None is good.
func floodImports(t *testing.T, sidecar *process.Sidecar, export string) {
	var sending sync.WaitGroup
	for range floodsAtOnce() {
		sending.Go(func() {
			client, err := sidecar.Dial()
			if err != nil {
				t.Error(err)
				return
			}
			defer client.Close()
			_, err = client.Import(t.Context(), "flood", []byte(export), 1<<20)
			refused(t, err, codes.InvalidArgument, codes.ResourceExhausted)
		})
	}
	sending.Wait()
}
