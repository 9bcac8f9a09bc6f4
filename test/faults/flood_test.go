package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// The bar: what the sidecar has, what is sent to it, and what must come of it.
const (
	floodMemory   = 256 << 20
	floodRequest  = 16 << 20
	floodHeaders  = 12 << 20
	headerFloods  = 60
	floodKeeps    = 32 << 20
	floodRecovery = 5 * time.Second
	floodP95      = 250 * time.Millisecond
)

// floodsAtOnce is how many flood it at once. Beside other tests they are fewer, but still send and ask for more than it has.
func floodsAtOnce() int {
	if testlane.Alone() {
		return 64
	}
	return 24
}

// TestFault_Floods_TheSidecarLivesAndAnswers floods a sidecar that has 256 MiB while a client appends and builds.
func TestFault_Floods_TheSidecarLivesAndAnswers(t *testing.T) {
	sidecar := startLimited(t, floodMemory)
	honest := startHonest(t, sidecar)
	time.Sleep(3 * time.Second)
	base := resident(t, sidecar)
	honest.forget()

	for name, flood := range map[string]func(*testing.T, *process.Sidecar){
		"lists": floodLists, "headers": floodWithHeaders, "messages": floodMessages, "json": floodProvidersJSON,
	} {
		begin := time.Now()
		flood(t, sidecar)
		t.Logf("%s: %s, then it holds %d MiB, at most %d MiB so far", name, time.Since(begin).Round(time.Millisecond), resident(t, sidecar)>>20, peak(t, sidecar)>>20)
	}
	end := time.Now()
	p95, calls := honest.stop()
	least := resident(t, sidecar)
	for time.Since(end) < floodRecovery+testlane.Slack(0) && least > base+floodKeeps {
		time.Sleep(100 * time.Millisecond)
		least = min(least, resident(t, sidecar))
	}
	t.Logf("%d honest calls, p95 %s; base %d MiB, %d MiB after %s, at most %d MiB", calls, p95.Round(time.Millisecond), base>>20, least>>20,
		time.Since(end).Round(time.Millisecond), peak(t, sidecar)>>20)
	if least > base+floodKeeps {
		t.Errorf("it keeps %d MiB, and had %d MiB before", least>>20, base>>20)
	}
	if p95 > testlane.Slack(floodP95) {
		t.Errorf("an honest client's p95 is %s", p95)
	}
	if peak(t, sidecar) > floodMemory {
		t.Errorf("it took %d MiB", peak(t, sidecar)>>20)
	}
	if err := sidecar.Stop(); err != nil {
		t.Errorf("the sidecar ended with %v", err)
	}
}

// honest is a client that does what an agent does, one call after the other.
type honest struct {
	t       *testing.T
	cancel  context.CancelFunc
	running sync.WaitGroup
	mu      sync.Mutex
	took    []time.Duration
}

func startHonest(t *testing.T, sidecar *process.Sidecar) *honest {
	ctx, cancel := context.WithCancel(t.Context())
	h := &honest{t: t, cancel: cancel}
	client, err := sidecar.Dial()
	if err != nil {
		t.Fatal(err)
	}
	h.running.Go(func() {
		defer client.Close()
		for i := 0; ctx.Err() == nil; i++ {
			h.turn(ctx, client, fmt.Sprintf("honest-%d", i/50))
		}
	})
	t.Cleanup(func() { h.stop() })
	return h
}

func (h *honest) turn(ctx context.Context, client *process.Client, conversation string) {
	for _, call := range []func() error{
		func() error {
			_, err := client.Context.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: conversation, Message: &pb.Message{
				Role: pb.Role_ROLE_USER, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: strings.Repeat("What now? ", 100)}}},
			}})
			return err
		},
		func() error {
			_, err := client.Context.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: conversation})
			return err
		},
	} {
		begin := time.Now()
		err := call()
		if err != nil && ctx.Err() == nil {
			h.t.Errorf("an honest call: %v", err)
			h.cancel()
		}
		h.mu.Lock()
		h.took = append(h.took, time.Since(begin))
		h.mu.Unlock()
	}
	time.Sleep(5 * time.Millisecond)
}

func (h *honest) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.took = nil
}

func (h *honest) stop() (p95 time.Duration, calls int) {
	h.cancel()
	h.running.Wait()
	slices.Sort(h.took)
	if len(h.took) == 0 {
		return 0, 0
	}
	return h.took[len(h.took)*95/100], len(h.took)
}

// floodLists sends every list of every request, full of empty elements.
func floodLists(t *testing.T, sidecar *process.Sidecar) {
	type target struct {
		method protoreflect.MethodDescriptor
		path   []protoreflect.FieldDescriptor
	}
	targets := make(chan target)
	var sending sync.WaitGroup
	for range floodsAtOnce() {
		sending.Go(func() {
			for to := range targets {
				raw := proptest.FillList(to.path, floodRequest-64)
				refused(t, sendRaw(t.Context(), sidecar, to.method, raw), codes.InvalidArgument, codes.ResourceExhausted)
			}
		})
	}
	for _, file := range []protoreflect.FileDescriptor{
		pb.File_palimpsest_v1_context_service_proto, pb.File_palimpsest_v1_conversation_service_proto,
		pb.File_palimpsest_v1_policy_service_proto, pb.File_palimpsest_v1_content_service_proto,
	} {
		methods := file.Services().Get(0).Methods()
		for i := range methods.Len() {
			for _, path := range proptest.Lists(methods.Get(i).Input()) {
				for range 2 {
					targets <- target{methods.Get(i), path}
				}
			}
		}
	}
	close(targets)
	sending.Wait()
}

// floodMessages sends the largest texts there can be, for appends that are refused: what they name is not there.
func floodMessages(t *testing.T, sidecar *process.Sidecar) {
	raw := []byte(strings.Repeat("x", floodRequest))
	var sending sync.WaitGroup
	for range floodsAtOnce() {
		sending.Go(func() {
			client, err := sidecar.Dial()
			if err != nil {
				t.Error(err)
				return
			}
			defer client.Close()
			_, err = client.Context.AppendMessage(t.Context(), &pb.AppendMessageRequest{
				ConversationId: "flood", ExpectedIndex: new(int32(7)),
				Message: &pb.Message{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: string(raw)}}}},
			})
			refused(t, err, codes.Aborted, codes.ResourceExhausted)
		})
	}
	sending.Wait()
}

// floodProvidersJSON sends the JSON of providers that becomes the most for its bytes.
func floodProvidersJSON(t *testing.T, sidecar *process.Sidecar) {
	worst := map[pb.ContextFormat][3]string{
		pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT:      {`{"role":"user","content":[`, `{"type":"text","text":"a"},`, `]}`},
		pb.ContextFormat_CONTEXT_FORMAT_OPENAI_RESPONSES: {`[`, `{"type":"reasoning"},`, `]`},
		pb.ContextFormat_CONTEXT_FORMAT_ANTHROPIC:        {`[`, `{},`, `]`},
		pb.ContextFormat_CONTEXT_FORMAT_GEMINI:           {`{"role":"user","parts":[`, `{"text":"a"},`, `]}`},
	}
	var sending sync.WaitGroup
	for range floodsAtOnce() / 4 {
		for format, of := range worst {
			sending.Go(func() {
				client, err := sidecar.Dial()
				if err != nil {
					t.Error(err)
					return
				}
				defer client.Close()
				json := of[0] + strings.TrimSuffix(strings.Repeat(of[1], (floodRequest-1024)/len(of[1])), ",") + of[2]
				_, err = client.Context.AppendMessage(t.Context(), &pb.AppendMessageRequest{
					ConversationId: "flood", ProviderInput: &pb.ProviderInput{Format: format, Json: json},
				})
				refused(t, err, codes.InvalidArgument, codes.ResourceExhausted)
			})
		}
	}
	sending.Wait()
}

func refused(t *testing.T, err error, with ...codes.Code) {
	if !slices.Contains(with, status.Code(err)) {
		t.Errorf("a flood ends with %v", err)
	}
}

// sendRaw sends bytes as the only message of a call on a connection of its own.
func sendRaw(ctx context.Context, sidecar *process.Sidecar, method protoreflect.MethodDescriptor, raw []byte) error {
	client, err := sidecar.Dial()
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	name := "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
	stream, err := client.Connection.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, name, grpc.ForceCodecV2(rawCodec{}))
	if err != nil {
		return err
	}
	_ = stream.SendMsg(raw) // if it is refused meanwhile, the answer says why
	return errors.Join(stream.CloseSend(), stream.RecvMsg(nil))
}

// rawCodec sends bytes as they are.
type rawCodec struct{}

func (rawCodec) Name() string { return proto.Name }

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	raw, _ := v.([]byte)
	return mem.BufferSlice{mem.SliceBuffer(raw)}, nil
}

func (rawCodec) Unmarshal(mem.BufferSlice, any) error { return nil }

// resident is how many bytes of memory the sidecar has of its own: not those of its files.
func resident(t *testing.T, sidecar *process.Sidecar) int64 { return statusOf(t, sidecar, "RssAnon:") }

// peak is the most that it had, its files' included.
func peak(t *testing.T, sidecar *process.Sidecar) int64 { return statusOf(t, sidecar, "VmHWM:") }

func statusOf(t *testing.T, sidecar *process.Sidecar, field string) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", sidecar.PID()))
	if err != nil {
		t.Errorf("the sidecar is gone: %v; it wrote:\n%s", err, sidecar.Log())
		return 0
	}
	_, rest, _ := strings.Cut(string(text), field)
	var kilobytes int64
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		t.Errorf("%s: %v; the sidecar wrote:\n%s", field, err, sidecar.Log())
	}
	return kilobytes << 10
}
