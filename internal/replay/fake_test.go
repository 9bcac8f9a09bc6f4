package replay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/recall"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/bpe"
)

// fake is a sidecar that keeps everything in memory, renders OpenAI Chat and
// leaves nothing out. Its fields break one promise each.
type fake struct {
	pb.UnimplementedContextServiceServer
	pb.UnimplementedConversationServiceServer
	pb.UnimplementedPolicyServiceServer
	pb.UnimplementedContentServiceServer

	lock     sync.Mutex
	record   map[string][]*pb.Message
	previous map[string][]string
	turns    map[string]int32
	policies map[string]*pb.Policy
	windows  map[string]int32 // the first that was built in
	restored map[string]map[int]bool

	messages func([]*pb.Message) []*pb.Message // what is shown, up to the first window
	narrow   func([]*pb.Message) []*pb.Message // what is shown in larger ones; all by default
	deaf     bool                              // takes no notice of what is restored
	restore  error
	element  func(map[string]any) // how it is written
	build    error
	append   error
	report   func(*pb.BuildContextResponse)
	read     func(*pb.Message)
	expand   func(*pb.Message) error
	create   error
	chapters *chapters
	citer    citer
	profile  *pb.ModelProfile
}

func (f *fake) CreateConversation(_ context.Context, r *pb.CreateConversationRequest) (*pb.CreateConversationResponse, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.policies[r.GetConversation().GetId()] = r.GetConversation().GetPolicy()
	return &pb.CreateConversationResponse{}, f.create
}

func (f *fake) DeleteConversation(_ context.Context, r *pb.DeleteConversationRequest) (*pb.DeleteConversationResponse, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	delete(f.policies, r.GetConversationId())
	delete(f.record, r.GetConversationId())
	return &pb.DeleteConversationResponse{}, nil
}

func (f *fake) ExpandMessage(_ context.Context, r *pb.ExpandMessageRequest) (*pb.ExpandMessageResponse, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if r.GetSummaryId() != "" {
		return f.expandSummary(r)
	}
	if r.GetMode() == pb.ExpandMode_EXPAND_MODE_RESTORE {
		f.bringBack(r.GetConversationId(), int(r.GetMessageIndex()))
		return &pb.ExpandMessageResponse{}, f.restore
	}
	m := f.stored(f.record[r.GetConversationId()][r.GetMessageIndex()], int(r.GetMessageIndex()))
	if f.expand != nil {
		if err := f.expand(m); err != nil {
			return nil, err
		}
	}
	return &pb.ExpandMessageResponse{Message: m}, nil
}

func (f *fake) AppendMessage(_ context.Context, r *pb.AppendMessageRequest) (*pb.AppendMessageResponse, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.append != nil {
		return nil, f.append
	}
	id := r.GetConversationId()
	f.record[id] = append(f.record[id], r.GetMessage())
	receipt := &pb.Receipt{Index: int32(len(f.record[id]) - 1)}
	if p := f.policies[id].GetCitations(); p.GetEnabled() {
		receipt.Citations = f.citer.cite(id, receipt.GetIndex(), r.GetMessage())
	}
	return &pb.AppendMessageResponse{Receipt: receipt}, nil
}

// closed answers the calls of the last message.
func closed(messages []*pb.Message) []*pb.Message {
	out := slices.Clone(messages)
	for _, p := range messages[len(messages)-1].GetParts() {
		if c := p.GetToolCall(); c != nil {
			r := &pb.ToolResult{CallId: c.GetCallId(), Output: &pb.ToolResult_Text{Text: neverAnswered}}
			out = append(out, &pb.Message{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: r}}}})
		}
	}
	return out
}

func (f *fake) BuildContext(_ context.Context, r *pb.BuildContextRequest) (*pb.BuildContextResponse, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.build != nil {
		return nil, f.build
	}
	id := r.GetConversationId()
	waits := historyOf(f.record[id]).Pending()
	if waits && !r.GetCloseOpenCalls() {
		return nil, refusal(reasonPending)
	}
	entered, citing := f.citer.entered(id, f.record[id])
	if waits {
		entered = closed(entered)
	}
	messages := f.view(id, entered, r.GetBudget().GetContextWindowTokens())
	if !r.GetSameTurn() {
		f.turns[id]++
	}
	blocks := f.chat(messages)
	stable := 0
	for before := f.previous[id]; stable < min(len(before), len(blocks)) && before[stable] == blocks[stable]; {
		stable++
	}
	broken := pb.PrefixBreak_PREFIX_BREAK_UNSPECIFIED
	if stable < len(f.previous[id]) {
		broken = pb.PrefixBreak_PREFIX_BREAK_WINDOW_MOVED
	}
	f.previous[id] = blocks
	raw, _ := json.Marshal(rawList(blocks))
	sum := sha256.Sum256(append([]byte{0}, raw...))
	response := &pb.BuildContextResponse{
		Turn:     f.turns[id],
		Rendered: &pb.Rendered{MessagesJson: raw, ContentSha256: hex.EncodeToString(sum[:]), Blocks: int32(len(blocks))},
		Tokens:   &pb.TokenReport{Budget: f.budget(id, r.GetBudget())},
		Prefix:   &pb.PrefixReport{StableBlocks: int32(stable), BrokenBy: broken},
	}
	response.Tokens.SavedByExpiry = f.weightOf(entered) - f.weightOf(messages)
	response.Tokens.SavedByCiting = f.weightOf(f.record[id]) - f.weightOf(entered)
	response.Decisions = slices.Concat(citing, decisionsOf(entered, messages))
	if f.report != nil {
		f.report(response)
	}
	return response, nil
}

func (f *fake) budget(id string, b *pb.Budget) int64 {
	room := b.GetContextWindowTokens() - b.GetReservedOutputTokens()
	if most := f.policies[id].GetFit().GetMaxContextTokens(); most > 0 {
		room = min(room, most)
	}
	return int64(room)
}

// view is what is shown of a record in a window: what was restored in full.
func (f *fake) view(id string, entered []*pb.Message, window int32) []*pb.Message {
	if f.windows[id] == 0 {
		f.windows[id] = window
	}
	show := f.messages
	if window > f.windows[id] {
		show = f.narrow
	}
	shown := entered
	if show != nil {
		shown = show(entered)
	}
	if len(f.restored[id]) == 0 {
		return shown
	}
	var out []*pb.Message
	for i, m := range entered {
		switch {
		case f.restored[id][i]:
			out = append(out, f.record[id][i])
		case len(shown) == len(entered):
			out = append(out, shown[i])
		case slices.Contains(shown, m):
			out = append(out, m)
		}
	}
	return out
}

// bringBack restores the unit of a message.
func (f *fake) bringBack(id string, i int) {
	if f.deaf || f.restore != nil {
		return
	}
	if f.restored[id] == nil {
		f.restored[id] = map[int]bool{}
	}
	first, end := historyOf(f.record[id]).Unit(i)
	for ; first < end; first++ {
		f.restored[id][first] = true
	}
}

// decisionsOf explains what is shown of a record: what is shorter than it has
// been compacted, what is not there lies before the window, or does in the
// middle.
func decisionsOf(record, shown []*pb.Message) (out []*pb.Decision) {
	short := len(record) == len(shown)
	for i, m := range record {
		kind := pb.DecisionKind_DECISION_KIND_LEFT_OUT
		if short {
			kind = pb.DecisionKind_DECISION_KIND_COMPACTED
		}
		if !slices.Contains(shown, m) {
			out = append(out, &pb.Decision{Kind: kind, StartIndex: int32(i), EndIndex: int32(i) + 1})
		}
	}
	return out
}

func (f *fake) weightOf(messages []*pb.Message) (n int64) {
	for _, m := range messages {
		own := recall.Message(m)
		n += int64(own.Tokens(func(text string) int { n, _ := o200k().Count(text); return n }))
	}
	return n
}

func rawList(blocks []string) []json.RawMessage {
	out := make([]json.RawMessage, len(blocks))
	for i, b := range blocks {
		out[i] = json.RawMessage(b)
	}
	return out
}

// asOne puts the assistant's messages of a unit together.
func asOne(messages []*pb.Message) (out []*pb.Message) {
	for _, m := range messages {
		if last := len(out) - 1; last >= 0 && m.GetRole() == pb.Role_ROLE_ASSISTANT && calls(out[last]) {
			out[last] = proto.CloneOf(out[last])
			out[last].Parts = append(out[last].Parts, m.GetParts()...)
			continue
		}
		out = append(out, m)
	}
	return out
}

func calls(m *pb.Message) bool {
	return slices.ContainsFunc(m.GetParts(), func(p *pb.Part) bool { return p.GetToolCall() != nil })
}

// chat writes messages for OpenAI Chat.
func (f *fake) chat(messages []*pb.Message) []string {
	var out []string
	for _, m := range asOne(messages) {
		element := map[string]any{"role": recall.Role(m.GetRole())}
		var calls []any
		for _, p := range m.GetParts() {
			if p.GetText() != "" {
				element["content"] = p.GetText()
			}
			if c := p.GetToolCall(); c != nil {
				calls = append(calls, map[string]any{"id": c.GetCallId(), "type": "function",
					"function": map[string]any{"name": c.GetName(), "arguments": c.GetArgumentsJson()}})
			}
			if r := p.GetToolResult(); r != nil {
				element["content"], element["tool_call_id"] = r.GetText(), r.GetCallId()
			}
		}
		if calls != nil {
			element["tool_calls"] = calls
		}
		if f.element != nil {
			f.element(element)
		}
		raw, _ := json.Marshal(element)
		out = append(out, string(raw))
	}
	return out
}

func (f *fake) ListMessages(_ context.Context, r *pb.ListMessagesRequest) (*pb.ListMessagesResponse, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	start := int(r.GetRange().GetStartIndex())
	if r.GetPageToken() != "" {
		start = int(r.GetPageToken()[0])
	}
	record := f.record[r.GetConversationId()]
	end := min(len(record), start+3)
	out := &pb.ListMessagesResponse{}
	for i := start; i < end; i++ {
		out.Messages = append(out.Messages, f.stored(record[i], i))
	}
	if f.chapters != nil && start == 0 && r.GetView() == pb.ListView_LIST_VIEW_CURRENT {
		out.Summaries = f.chapters.inForce
	}
	if end < len(record) {
		out.NextPageToken = string([]byte{byte(end)})
	}
	return out, nil
}

func (f *fake) GetMessage(_ context.Context, r *pb.GetMessageRequest) (*pb.GetMessageResponse, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	i := int(r.GetMessageIndex())
	return &pb.GetMessageResponse{Message: f.stored(f.record[r.GetConversationId()][i], i)}, nil
}

func (f *fake) stored(m *pb.Message, i int) *pb.Message {
	m = proto.CloneOf(m)
	m.Id, m.Index, m.TokenCount, m.TurnAdded = "m1", int32(i), 7, 2
	if f.read != nil {
		f.read(m)
	}
	return m
}

func refusal(reason string) error {
	s, err := status.New(codes.FailedPrecondition, "refused").WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: "palimpsest.dev"})
	return errors.Join(s.Err(), err)
}

// o200k counts for the fake and for who judges it. It is shared, because its vocabulary takes long to load.
var o200k = sync.OnceValue(func() tokens.Counter {
	counter, err := bpe.New(bpe.O200k)
	if err != nil {
		panic(err) // it is embedded
	}
	return counter
})

// start serves the fake on a free port.
func (f *fake) start(context.Context) (string, func(), error) {
	f.record, f.previous = map[string][]*pb.Message{}, map[string][]string{}
	f.turns, f.policies = map[string]int32{}, map[string]*pb.Policy{}
	f.windows, f.restored = map[string]int32{}, map[string]map[int]bool{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := grpc.NewServer()
	pb.RegisterContextServiceServer(server, f)
	pb.RegisterConversationServiceServer(server, f)
	pb.RegisterPolicyServiceServer(server, f)
	pb.RegisterContentServiceServer(server, f)
	go func() { _ = server.Serve(listener) }()
	return listener.Addr().String(), server.Stop, nil
}

const recorded = `{"id":"c","messages":[
	{"role":"system","content":"Be brief."},
	{"role":"user","content":"Read /src/main.go and order_77 please"},
	{"role":"assistant","content":"","tool_calls":[{"id":"a1","name":"read","arguments":"{\"path\":\"/src/main.go\"}"}]},
	{"role":"tool","tool_call_id":"a1","name":"read","content":"package main // v1.2.3 of base_99","raw":"package main // v1.2.3 of base_99 raw"},
	{"role":"assistant","content":"It is v1.2.3"},
	{"role":"user","content":"and order_77?"},
	{"role":"assistant","content":"order_77 is in base_99"}]}`

func fileOf(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "talk.jsonl")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// played replays content through f and returns the report.
func played(t *testing.T, f *fake, content string, change ...func(*Command)) (*report.Report, error) {
	t.Helper()
	c := &Command{Files: []string{fileOf(t, content)}, Format: "openai-chat", Window: 4096, Sample: 1, Join: 1, Parallel: 2, JSON: true}
	for _, f := range change {
		f(c)
	}
	var out, progress bytes.Buffer
	err := c.Run(t.Context(), &Env{Start: f.start, Counter: o200k(), Stdout: &out, Stderr: &progress})
	found := &report.Report{}
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), found); err != nil {
			t.Fatalf("%v in %s", err, out.String())
		}
	}
	return found, err
}

// textOf is a report as people read it, without Unicode.
func textOf(t *testing.T, r *report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Print(&b, false, true); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func wordsPart(text string) *pb.Part { return &pb.Part{Content: &pb.Part_Text{Text: text}} }

// historyOf is the judge's model of recorded messages, without weights.
func historyOf(messages []*pb.Message) *validate.History {
	h := validate.NewHistory(func(string) int { return 0 })
	for _, m := range messages {
		h.Add(recall.Message(m))
	}
	return h
}
