package demo

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

// player plays a script: in each turn it asks the sidecar what the model should see, says what the script says, runs the tools,
// and puts all of it on record. Beside it, it keeps the same conversation twice more, to compare: nothing expires in these and no
// plugin speaks, and in one of them large results are cited.
type player struct {
	*sheet.Labels
	pb.ContextServiceClient
	pb.ConversationServiceClient
	pb.ContentServiceClient
	flags  *Command
	tree   *tree
	format pb.ContextFormat
	began  time.Time

	entries              []entry                  // one for each message on record
	view                 []*pb.ContextMessage     // what the newest context shows
	row                  string                   // how it shows each message, in letters
	early                *pb.BuildContextResponse // of the first third, to be built again at the end
	asked                int                      // the message in which the user asked last
	turns, calls, failed int
	found                int // bytes, by tools
	largest              citedResult
	citations            int
	history, clippedOff  int64            // tokens on record, and those that clipping keeps out for good
	whole, clipped       way              // the history as it is, and with clipped results
	plain, cited, kept   way              // the sidecar's conversations
	saved                map[string]int64 // tokens kept out of the contexts over all turns, by what
	changed              map[string]int   // messages, by what
	alone                bool             // the conversations beside are the same no longer
}

// entry is what the player remembers of a message, to compare with what comes back.
type entry struct {
	role   pb.Role
	call   string // that it answers
	bytes  int
	tokens int64
	sum    [32]byte
}

// play plays the script to its end, and shows what it came to.
func (p *player) play(ctx context.Context) {
	p.opening()
	must(p.CreateConversation(ctx, &pb.CreateConversationRequest{Conversation: &pb.Conversation{
		Id: p.cited.id, Policy: &pb.Policy{Citations: &pb.CitationsPolicy{Enabled: proto.Bool(true)}},
	}}))
	p.append(ctx, &pb.Message{Role: pb.Role_ROLE_SYSTEM, Parts: text(systemPrompt)}, "")
	p.ask(ctx, firstQuestion)
	for _, s := range p.tree.script {
		p.turn(ctx, s)
		if p.Terminal {
			time.Sleep(p.flags.Pace)
		}
	}
	p.showCited(ctx)
	p.showCosts()
	p.prove(ctx)
	if p.flags.Address != "" {
		p.Paragraph("The conversation stays on record as %s.", p.kept.id)
	}
}

// turn is one iteration of an agent's loop: build, speak, run the tools, listen.
func (p *player) turn(ctx context.Context, s step) {
	built := p.build(ctx, p.kept.id, p.format, false)
	if p.turns++; p.turns == len(p.tree.script)/3+1 {
		p.early = built
	}
	p.look(ctx)
	p.showView(built)
	p.compare(ctx, built)
	p.Wrapped("agent", sheet.Cyan, "%s", s.Says)
	said := &pb.Message{Role: pb.Role_ROLE_ASSISTANT, Parts: text(s.Says)}
	if s.Brief {
		said.Expiration = lifetimes["list"]
	}
	for i, call := range s.Calls {
		tool, about := parse(call)
		arguments := must(json.Marshal(map[string]string{"about": about}))
		said.Parts = append(said.Parts, &pb.Part{Content: &pb.Part_ToolCall{ToolCall: &pb.ToolCall{
			CallId: callID(i), Name: tool, ArgumentsJson: string(arguments),
		}}})
	}
	p.append(ctx, said, "")
	for i, call := range s.Calls {
		p.call(ctx, callID(i), call)
	}
	p.between(ctx, s.Then)
	if s.Next != "" {
		p.Wrapped("user", sheet.Bold, "%s", s.Next)
		p.Row("plugins", sheet.Cyan, "manner: for this build alone; progress: for good")
		p.ask(ctx, s.Next)
	}
}

// build begins the next turn of a conversation. A dry one builds the current turn again and commits nothing.
func (p *player) build(ctx context.Context, conversation string, format pb.ContextFormat, dry bool) *pb.BuildContextResponse {
	return must(p.BuildContext(ctx, &pb.BuildContextRequest{
		ConversationId: conversation, Format: format, SameTurn: dry, DryRun: dry, MaxReplyBytes: proto.Int32(dial.LargestReply),
		Budget: &pb.Budget{ContextWindowTokens: &p.flags.Window, ReservedOutputTokens: proto.Int32(p.flags.Window / 8)},
	}))
}

// look takes the messages of the newest context from a neutral one, which says where they come from.
func (p *player) look(ctx context.Context) {
	p.view = p.build(ctx, p.kept.id, pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL, true).GetMessages()
}

// callID repeats from turn to turn, as those of real models do.
func callID(i int) string { return fmt.Sprintf("call_%d", i) }

// call runs a tool, the sidecar's or one of the tree's, and records its result.
func (p *player) call(ctx context.Context, id, call string) {
	tool, about := parse(call)
	result := &pb.ToolResult{CallId: id, Name: tool, Expiration: lifetimes[tool], State: pb.ToolResultState_TOOL_RESULT_STATE_COMPLETED}
	run, as := p.tree.run, ""
	if tool == expandTool {
		call, as = fmt.Sprintf("%s #%d (%s)", tool, p.answerOf(about), about), ", as it was appended; the view stays as it is"
		run = func(ctx context.Context, _ string) (string, error) {
			m, err := p.readBack(ctx, p.answerOf(about))
			return textOf(m.GetParts()), err
		}
	}
	said, err := run(ctx, call)
	p.calls++
	var notes []*pb.AdditionalContent
	if err == nil {
		p.Wrapped("tool", "", "%s → %s%s", call, terminal.Bytes(len(said)), as)
	} else {
		p.failed++
		said, result.State = err.Error(), pb.ToolResultState_TOOL_RESULT_STATE_ERROR
		notes = append(notes, note("coach", "Look into the folder before you guess a file's name."))
		notes[0].SaveToChatHistory = &pb.AdditionalContent_KeepLast{KeepLast: 1}
		p.Wrapped("tool", sheet.Red, "%s: %s", call, said)
		p.Row("plugins", sheet.Cyan, "coach: until a plugin speaks again")
	}
	p.found += len(said)
	result.Output = &pb.ToolResult_Text{Text: said}
	p.append(ctx, &pb.Message{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: result}}}}, call, notes...)
}

// answerOf is the newest message in which a call was answered; -1 if it was not.
func (p *player) answerOf(call string) int32 {
	for i := len(p.entries) - 1; i >= 0; i-- {
		if p.entries[i].call == call {
			return int32(i)
		}
	}
	return -1
}

// retried is the message that is appended twice, as if the first reply had been lost.
const retried = 21

// append puts a message on record, in all conversations.
func (p *player) append(ctx context.Context, m *pb.Message, call string, notes ...*pb.AdditionalContent) {
	index := int32(len(p.entries))
	r := &pb.AppendMessageRequest{ConversationId: p.kept.id, Message: m, AdditionalContent: notes, RequestId: rand.Text()}
	receipt := must(p.AppendMessage(ctx, r)).GetReceipt()
	require(receipt.GetIndex() == index, "message %d was taken as message %d", index, receipt.GetIndex())
	if index == retried {
		again := must(p.AppendMessage(ctx, r)).GetReceipt()
		require(again.GetDuplicate() && again.GetIndex() == index, "message %d was taken anew when it came again", index)
		p.Row("retry", sheet.Green, "reply lost? the same request id again: still message %d, nothing added", index)
	}
	said, sum := textOf(m.Parts), fingerprint(m)
	m.Expiration = nil
	if result := m.Parts[0].GetToolResult(); result != nil {
		result.Expiration = nil
	}
	plain := must(p.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: p.plain.id, Message: m})).GetReceipt()
	cited := must(p.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: p.cited.id, Message: m})).GetReceipt()
	p.entries = append(p.entries, entry{m.Role, call, len(said), int64(plain.GetTokenCount()), sum})
	p.history += int64(plain.GetTokenCount())
	for _, c := range cited.GetCitations() {
		p.citations++
		p.keepLargest(index, c, said)
	}
}

// ask records a question, and what plugins add to it: how to answer it, for the next build alone; and how far the work was, for
// good. A note that left an old question later would make the provider read everything behind it anew.
func (p *player) ask(ctx context.Context, question string) {
	p.asked = len(p.entries)
	manner := note("manner", "Answer in at most three sentences. Name what you did not read.")
	manner.SaveToChatHistory = &pb.AdditionalContent_Never{Never: &pb.Never{}}
	progress := note("progress", fmt.Sprintf("Until now: %d tool calls, %s of results.", p.calls, terminal.Bytes(p.found)))
	progress.Header, progress.SaveToChatHistory = "[progress]", &pb.AdditionalContent_Always{Always: &pb.Always{}}
	p.append(ctx, &pb.Message{Role: pb.Role_ROLE_USER, Parts: text(question)}, "", manner, progress)
}

// The demo's summary leaves the newest messages alone, if they have room in what is asked for.
const (
	keptRecent   = 4
	targetTokens = 7_000
)

// between does what people do when the agent has spoken. The conversations beside are the same no longer from then on. What is too
// large to be put back into the view, or to be summarized, is refused, and the demo goes on.
func (p *player) between(ctx context.Context, what string) {
	p.alone = p.alone || what != ""
	switch do, call := parse(what); do {
	case "restore":
		index := p.answerOf(call)
		reply, err := p.expand(ctx, &pb.ExpandMessageRequest{
			Target: &pb.ExpandMessageRequest_MessageIndex{MessageIndex: index}, Mode: pb.ExpandMode_EXPAND_MODE_RESTORE,
		})
		if !p.refused(err) {
			p.Wrapped("restored", sheet.Green, "#%d %s: back in full, and its turns begin again; about %s tokens are read anew for it",
				index, call, number(reply.GetRewriteTokens()))
		}
	case "prune":
		protect := p.flags.Window / 16
		must(p.UpdateConversation(ctx, &pb.UpdateConversationRequest{
			Conversation: &pb.Conversation{Id: p.kept.id, Policy: &pb.Policy{
				Pruning: &pb.PruningPolicy{ProtectTokens: &protect, MinimumTokens: &protect},
			}},
			UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"policy.pruning"}},
		}))
		p.Wrapped("operator", sheet.Bold, "Results older than the newest %s tokens may be cleared.", number(protect))
	case "compact":
		p.Wrapped("operator", sheet.Bold, "Make the view smaller now, %s tokens at most. A build does so by itself once it outgrows its budget.", number(targetTokens))
		reply, err := p.CompactConversation(ctx, &pb.CompactConversationRequest{
			ConversationId: p.kept.id,
			Options:        &pb.CompactionOptions{KeepRecent: proto.Int32(keptRecent), TargetTokens: proto.Int32(targetTokens)},
		})
		if !p.refused(err) {
			p.look(ctx)
			p.showChanges(reply.GetEvents())
		}
	case "rewind":
		reply := must(p.RewindConversation(ctx, &pb.RewindConversationRequest{ConversationId: p.kept.id, FromIndex: int32(p.asked)}))
		p.Wrapped("rewound", sheet.Yellow, "#%d to #%d: the user takes the question back, to edit it; on record it stays", reply.GetStartIndex(), reply.GetEndIndex()-1)
	}
}

// refused shows why the sidecar refuses something, if it does.
func (p *player) refused(err error) bool {
	if err != nil {
		p.Wrapped("refused", sheet.Red, "%s", status.Convert(err).Message())
	}
	return err != nil
}

// expand asks for a message back, or for one page of what a summary stands for.
func (p *player) expand(ctx context.Context, r *pb.ExpandMessageRequest) (*pb.ExpandMessageResponse, error) {
	r.ConversationId, r.MaxReplyBytes = p.kept.id, proto.Int32(dial.LargestReply)
	return p.ExpandMessage(ctx, r)
}

// lifetimes say how long the results of a tool are shown in full, and what happens then. They go with each result, so that the
// catalog of a sidecar that runs already stays as it is.
var lifetimes = map[string]*pb.Expiration{
	"list":     {Turns: proto.Int32(1), Mode: pb.ExpirationMode_EXPIRATION_MODE_REMOVE},
	"search":   compactAfter(3, pb.CompactMode_COMPACT_MODE_FIRST_N_CHARS, 300),
	"read":     compactAfter(2, pb.CompactMode_COMPACT_MODE_AI_SUMMARY, 2_400),
	"go_doc":   compactAfter(4, pb.CompactMode_COMPACT_MODE_AI_SUMMARY, 2_400),
	expandTool: compactAfter(3, pb.CompactMode_COMPACT_MODE_FIRST_N_CHARS, 200),
}

func compactAfter(turns int32, how pb.CompactMode, length int32) *pb.Expiration {
	return &pb.Expiration{Turns: &turns, Mode: pb.ExpirationMode_EXPIRATION_MODE_COMPACT, CompactMode: how, CompactLength: &length}
}

func note(plugin, words string) *pb.AdditionalContent {
	return &pb.AdditionalContent{Plugin: plugin, Parts: text(words), DisplayOnCurrentMessage: true}
}

func text(said string) []*pb.Part { return []*pb.Part{{Content: &pb.Part_Text{Text: said}}} }

// textOf is the text of the first part, or of the tool result in it: what a message of the demo says.
func textOf(parts []*pb.Part) string {
	if len(parts) == 0 {
		return ""
	}
	return parts[0].GetText() + parts[0].GetToolResult().GetText()
}
