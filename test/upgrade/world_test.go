package upgrade

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// conversations are played in every phase.
var conversations = []string{"weather", "travel"}

var formats = []pb.ContextFormat{
	pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT, pb.ContextFormat_CONTEXT_FORMAT_OPENAI_RESPONSES,
	pb.ContextFormat_CONTEXT_FORMAT_ANTHROPIC, pb.ContextFormat_CONTEXT_FORMAT_GEMINI,
}

// phase is one version at work on the folder.
type phase struct {
	*testing.T
	ctx     context.Context
	sidecar *process.Sidecar
	client  *process.Client
}

// begin starts a version. A small window lets it prune, clip and summarize.
func begin(t *testing.T, binary, folder string) *phase {
	t.Helper()
	sidecar, err := process.Start(binary, folder, "--default-window", "6000", "--default-reserve", "500", "--default-policy", "cite")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sidecar.Kill)
	client, err := sidecar.Dial()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return &phase{T: t, ctx: ctx, sidecar: sidecar, client: client}
}

// end stops the version as an orchestrator does.
func (p *phase) end() {
	p.Helper()
	p.client.Close()
	if err := p.sidecar.Stop(); err != nil {
		p.Fatalf("it ended with %v:\n%s", err, p.sidecar.Log())
	}
}

// play lets each agent take a few turns; number keeps the texts of phases apart.
func (p *phase) play(number int) {
	p.Helper()
	for _, conversation := range conversations {
		for turn := range 4 {
			for i, m := range turnOf(number, turn) {
				p.append(conversation, fmt.Sprintf("%d-%d-%d", number, turn, i), m)
			}
			p.build(conversation, formats[turn%len(formats)])
		}
	}
}

// append appends with a request id, and says whether it was a retry.
func (p *phase) append(conversation, requestID string, m *pb.Message) (duplicate bool) {
	p.Helper()
	answer, err := p.client.Context.AppendMessage(p.ctx, &pb.AppendMessageRequest{ConversationId: conversation, Message: m, RequestId: requestID})
	if err != nil {
		p.Fatal(err)
	}
	return answer.GetReceipt().GetDuplicate()
}

func (p *phase) build(conversation string, format pb.ContextFormat) {
	p.Helper()
	if _, err := p.client.Context.BuildContext(p.ctx, &pb.BuildContextRequest{ConversationId: conversation, Format: format}); err != nil {
		p.Fatal(err)
	}
}

// turnOf is what an agent says in a turn: a question, a call, a result that outgrows its share, an answer.
func turnOf(number, turn int) []*pb.Message {
	text := func(role pb.Role, text string) *pb.Message {
		return &pb.Message{Role: role, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: text}}}}
	}
	id := fmt.Sprintf("call-%d-%d", number, turn)
	result := strings.Repeat(fmt.Sprintf("Phase %d, turn %d: 12 °C in Kraków, rain after 16:00, at https://example.com/%d.\n", number, turn, turn), 60)
	return []*pb.Message{
		text(pb.Role_ROLE_USER, fmt.Sprintf("What about turn %d of phase %d? Never say \"maybe\".", turn, number)),
		{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{
			{Content: &pb.Part_ToolCall{ToolCall: &pb.ToolCall{CallId: id, Name: "weather", ArgumentsJson: `{"city": "Kraków"}`}}},
		}},
		{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{
			{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{CallId: id, Output: &pb.ToolResult_Text{Text: result}}}},
		}},
		text(pb.Role_ROLE_ASSISTANT, fmt.Sprintf("Rain, says turn %d.", turn)),
	}
}

// record is what a folder holds, as a client sees it.
type record struct {
	messages map[string][]*pb.Message  // by conversation
	builds   map[string][]*pb.Manifest // by conversation
}

func (p *phase) record() record {
	p.Helper()
	r := record{messages: map[string][]*pb.Message{}, builds: map[string][]*pb.Manifest{}}
	for _, conversation := range conversations {
		messages, err := p.client.Messages(p.ctx, conversation, pb.ListView_LIST_VIEW_ORIGINAL)
		if err != nil {
			p.Fatal(err)
		}
		builds, err := p.client.Conversations.ListManifests(p.ctx, &pb.ListManifestsRequest{ConversationId: conversation, PageSize: 1000})
		if err != nil {
			p.Fatal(err)
		}
		r.messages[conversation], r.builds[conversation] = messages, builds.GetManifests()
	}
	return r
}

// holds fails unless all of an earlier record is there: messages byte for byte, and contexts that are built again with the same hash.
func (p *phase) holds(before record) {
	p.Helper()
	if last := before.builds[conversations[0]]; len(last) == 0 || last[0].GetEditSeq() == 0 {
		p.Fatal("no build has edits: nothing but plain messages would be tried")
	}
	now := p.record()
	for conversation, messages := range before.messages {
		if got := len(now.messages[conversation]); got < len(messages) || len(messages) == 0 {
			p.Fatalf("%s has %d messages of %d", conversation, got, len(messages))
		}
		for i, m := range messages {
			if got := now.messages[conversation][i]; !proto.Equal(bare(got), bare(m)) {
				p.Errorf("%s, message %d is another:\n%v\nand was\n%v", conversation, i, got, m)
			}
		}
		for _, build := range before.builds[conversation] {
			p.rebuilds(conversation, build)
		}
	}
}

// bare is a message without what changes as the conversation goes on: how it is shown.
func bare(m *pb.Message) *pb.Message {
	m, _ = proto.Clone(m).(*pb.Message)
	m.View = nil
	return m
}

func (p *phase) rebuilds(conversation string, build *pb.Manifest) {
	p.Helper()
	again, err := p.client.Conversations.GetManifest(p.ctx, &pb.GetManifestRequest{ConversationId: conversation, ManifestId: build.GetId()})
	if err != nil && strings.Contains(err.Error(), "was made by renderer") {
		p.Logf("%s, build %s: %v", conversation, build.GetId(), err) // as the API says: the messages are there, these bytes are not
		return
	}
	if err != nil {
		p.Fatal(err)
	}
	sum, err := process.Sum(again.GetRendered())
	if err != nil {
		p.Fatal(err)
	}
	if same := sum == build.GetContentSha256(); !same {
		p.Errorf("%s, build %s (renderer %d): %s now, and was %s", conversation, build.GetId(), build.GetRendererVersion(), sum, build.GetContentSha256())
	}
}

// checkStore lets a version look for damage.
func checkStore(t *testing.T, binary, folder string) {
	t.Helper()
	if output, err := exec.Command(binary, "store", "check", "--data-dir", folder).CombinedOutput(); err != nil {
		t.Errorf("%s store check: %v\n%s", binary, err, output)
	}
}
