package soak

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

const (
	budget      = 6000 // tokens: small, so that windows move all the time
	longest     = 400  // messages; then the conversation is checked and deleted
	importChunk = 100_000
)

// counts is what all agents have done.
type counts struct {
	appends, builds, copies, deletions, expiries, expansions, erased, beyond atomic.Int64
	summaries, pruned, compactions, rewinds                                  atomic.Int64
	contents, searches, gone                                                 atomic.Int64
}

// entry is what an agent remembers of a message that it appended.
type entry struct {
	sum      [sha256.Size]byte
	erasable bool
	result   bool
	lives    []*pb.Expiration // the message's own, then its parts'; nil where it says none
}

// agent works on one conversation after another.
type agent struct {
	number int
	habits habits
	random *rand.Rand
	*process.Client
	done *counts

	lives        int
	conversation string
	record       []entry        // of what was appended, in order
	turns        []int32        // the first message of each
	results      *pb.Expiration // that the conversation's policy gives
	contents     []content
	runs         int // that were ended
}

func newAgent(number int, seed uint64, c *process.Client, done *counts) *agent {
	a := &agent{number: number, habits: habits(number % kinds), random: rand.New(rand.NewPCG(seed, uint64(number))), Client: c, done: done}
	a.begin()
	return a
}

func (a *agent) begin() {
	a.lives++
	a.conversation, a.record, a.turns = fmt.Sprintf("agent-%d-%d", a.number, a.lives), nil, nil
	a.results, a.contents, a.runs = nil, nil, 0
}

// work does one of the things that agents do.
func (a *agent) work(ctx context.Context) error {
	switch n := a.random.IntN(100); {
	case len(a.record) >= longest || n == 0 && len(a.record) > 0:
		return a.retire(ctx)
	case n < 3 && len(a.record) > 0:
		return a.copied(ctx)
	case n < 15:
		return a.expand(ctx)
	case n < 18:
		return a.compact(ctx)
	case n < 22:
		return a.rewind(ctx)
	case n < 30:
		return a.research(ctx)
	default:
		return a.turn(ctx)
	}
}

// turn is a user's message, some calls with their results, and a build.
func (a *agent) turn(ctx context.Context) error {
	if len(a.record) == 0 {
		if err := a.open(ctx); err != nil {
			return err
		}
	}
	messages := []*pb.Message{a.says(pb.Role_ROLE_USER)}
	for range a.random.IntN(4) {
		messages = append(messages, a.exchange()...)
	}
	a.turns = append(a.turns, int32(len(a.record)))
	if err := a.append(ctx, messages); err != nil {
		return err
	}
	return a.build(ctx)
}

func (a *agent) text(most int) string {
	return strings.Repeat(fmt.Sprintf("%x — ", a.random.Uint64()), 1+a.random.IntN(most/20))
}

func (a *agent) says(role pb.Role) *pb.Message {
	return &pb.Message{Role: role, Pinned: a.random.IntN(200) == 0, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: a.text(400)}}}}
}

func (a *agent) exchange() []*pb.Message {
	length := 2000
	if a.random.IntN(20) == 0 {
		length = 120_000 // chunks, and clipping
	}
	call := a.says(pb.Role_ROLE_ASSISTANT)
	call.Parts = append(call.Parts, &pb.Part{Content: &pb.Part_ToolCall{ToolCall: &pb.ToolCall{CallId: "again", Name: "read", ArgumentsJson: `{"a":1}`}}})
	result := &pb.ToolResult{
		CallId: "again", Name: "read", State: pb.ToolResultState_TOOL_RESULT_STATE_COMPLETED, Output: &pb.ToolResult_Text{Text: a.text(length)},
	}
	return []*pb.Message{call, {Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: result}}}}}
}

// append sends messages one by one or together, and some of them twice.
func (a *agent) append(ctx context.Context, messages []*pb.Message) error {
	request := &pb.BatchAppendMessagesRequest{ConversationId: a.conversation, ExpectedIndex: new(int32(len(a.record)))}
	for i, m := range messages {
		m.Id = fmt.Sprintf("%s-%d", a.conversation, len(a.record)+i)
		a.mortal(m)
		request.Items = append(request.Items, &pb.BatchAppendItem{Message: m, AdditionalContent: a.notes(m)})
	}
	for range 1 + a.random.IntN(2) {
		request.RequestId = messages[0].GetId()
		if _, err := a.Context.BatchAppendMessages(ctx, request); err != nil {
			return err
		}
	}
	for _, m := range messages {
		sum, err := sumOf(m)
		if err != nil {
			return err
		}
		a.record = append(a.record, entry{sum, erasable(m), m.GetRole() == pb.Role_ROLE_TOOL, livesOf(m)})
	}
	a.done.appends.Add(int64(len(messages)))
	return nil
}

// sumOf is the hash of a message without its expirations, of which replies say all that is in force.
func sumOf(m *pb.Message) ([sha256.Size]byte, error) {
	m = proto.CloneOf(m)
	m.Expiration = nil
	for _, p := range m.GetParts() {
		if r := p.GetToolResult(); r != nil {
			r.Expiration = nil
		}
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	return sha256.Sum256(b), err
}

func (a *agent) build(ctx context.Context) error {
	reply, err := a.Context.BuildContext(ctx, &pb.BuildContextRequest{
		ConversationId: a.conversation, Format: pb.ContextFormat(1 + a.random.IntN(5)), Model: fmt.Sprint("model-", a.random.IntN(3)),
		Budget: &pb.Budget{MaxContextTokens: new(int32(budget) << a.random.Int32N(3))}, DryRun: a.random.IntN(10) == 0,
	})
	if process.Reason(err) == "CONTEXT_CANNOT_FIT" {
		return nil // many pins, and a large turn
	}
	if err != nil {
		return err
	}
	a.done.builds.Add(1)
	a.note(reply.GetEvents())
	if t := reply.GetTokens(); t.GetTotal() > t.GetBudget() {
		return fmt.Errorf("%s: a build of %d tokens for a budget of %d", a.conversation, t.GetTotal(), t.GetBudget())
	}
	if _, err := process.Sum(reply.GetRendered()); err != nil || reply.GetManifestId() == "" {
		return err
	}
	_, err = a.Context.ReportUsage(ctx, &pb.ReportUsageRequest{
		ConversationId: a.conversation, ManifestId: reply.GetManifestId(), Usage: &pb.Usage{InputTokens: int32(reply.GetTokens().GetTotal()) + 7},
	})
	return err
}

// copied takes the conversation through an export and an import, which must change nothing.
func (a *agent) copied(ctx context.Context) error {
	export, err := a.Export(ctx, a.conversation)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s-copy-%d", a.conversation, a.random.Uint64())
	if _, err := a.Import(ctx, name, export, importChunk); err != nil {
		return err
	}
	again, err := a.Export(ctx, name)
	if err != nil {
		return err
	}
	if !bytes.Equal(export, again) {
		return fmt.Errorf("%s: the export of an import is not the export", a.conversation)
	}
	a.done.copies.Add(1)
	return a.remove(ctx, name)
}

func (a *agent) remove(ctx context.Context, name string) error {
	_, err := a.Conversations.DeleteConversation(ctx, &pb.DeleteConversationRequest{ConversationId: name})
	a.done.deletions.Add(1)
	return err
}

// retire checks the conversation, deletes it and begins another.
func (a *agent) retire(ctx context.Context) error {
	if err := a.check(ctx); err != nil {
		return err
	}
	old := a.conversation
	a.begin()
	return a.remove(ctx, old)
}

// check compares the record with what was appended, and rebuilds the newest builds.
func (a *agent) check(ctx context.Context) error {
	if len(a.record) == 0 {
		return nil
	}
	messages, err := a.Messages(ctx, a.conversation, pb.ListView_LIST_VIEW_ORIGINAL)
	if err != nil {
		return err
	}
	if len(messages) != len(a.record) {
		return fmt.Errorf("%s: %d messages on record, %d were appended", a.conversation, len(messages), len(a.record))
	}
	for i, m := range messages {
		if err := a.same(i, m); err != nil {
			return err
		}
	}
	return a.rebuild(ctx)
}

func (a *agent) rebuild(ctx context.Context) error {
	newest, err := a.Conversations.ListManifests(ctx, &pb.ListManifestsRequest{ConversationId: a.conversation, PageSize: 5})
	if err != nil {
		return err
	}
	for _, m := range newest.GetManifests() {
		got, err := a.Conversations.GetManifest(ctx, &pb.GetManifestRequest{ConversationId: a.conversation, ManifestId: m.GetId()})
		if process.Reason(err) == "MANIFEST_NOT_REBUILDABLE" && a.habits == erasing {
			a.done.beyond.Add(1)
			continue
		}
		if err != nil {
			return err
		}
		if sum, err := process.Sum(got.GetRendered()); err != nil || sum != m.GetContentSha256() {
			return fmt.Errorf("%s: manifest %s is rebuilt as %s, not as %s (%w)", a.conversation, m.GetId(), sum, m.GetContentSha256(), err)
		}
	}
	return nil
}

// ending begins a conversation that ends by itself after the shortest ttl there is.
func (a *agent) ending(ctx context.Context, name string) error {
	_, err := a.Conversations.CreateConversation(ctx, &pb.CreateConversationRequest{Conversation: &pb.Conversation{
		Id: name, Policy: &pb.Policy{Ttl: &durationpb.Duration{Seconds: 60}},
	}})
	if err != nil {
		return err
	}
	_, err = a.Context.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: name, Message: a.says(pb.Role_ROLE_USER)})
	return err
}

// ended demands that it has.
func (a *agent) ended(ctx context.Context, name string) error {
	_, err := a.Conversations.GetConversation(ctx, &pb.GetConversationRequest{ConversationId: name})
	if process.Reason(err) != "CONVERSATION_DELETED" {
		return fmt.Errorf("%s has outlived its ttl: %w", name, err)
	}
	a.done.expiries.Add(1)
	return nil
}
