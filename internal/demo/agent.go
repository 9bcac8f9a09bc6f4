package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

// agent plays a script: in each turn it asks the sidecar what the model should see, says what the script says, runs the tools,
// and puts all of it on record. Beside it, it keeps the same conversation twice more, to compare: nothing expires in these and no
// plugin speaks, and in one of them large results are cited.
type agent struct {
	*screen
	sidecar, plain, citing *client
	tree                   *tree
	format                 pb.ContextFormat
	ledgers                ledgers
	entries                []entry                  // one for each message on record
	cited                  []citedResult            // in the conversation that cites
	events                 map[pb.EventType]int     // how often each has happened
	lastView               []*pb.ContextMessage     // what the newest context shows
	counter                string                   // what counts tokens
	early                  *pb.BuildContextResponse // of the first third, to be built again at the end
	alone                  bool                     // the other conversations have been left behind
	biggest                int                      // the message with the most bytes
	asked                  int                      // the message in which the user asked last
	turns, calls, failed   int
}

// entry is what the agent remembers of a message, to compare with what comes back. The content it forgets.
type entry struct {
	role   pb.Role
	label  string
	bytes  int
	tokens int64
	saved  int64           // tokens, by clipping
	shown  pb.DecisionKind // what the newest view shows of it; not specified: all of it
	sum    [32]byte
}

// retriedCall is the call whose result is appended twice, as if the first reply had been lost.
const retriedCall = 12

func newAgent(s *screen, sidecar *client, t *tree, format string) *agent {
	return &agent{
		screen: s, sidecar: sidecar, plain: sidecar.beside("plain"), citing: sidecar.beside("cited"), tree: t,
		format: pb.ContextFormat(pb.ContextFormat_value["CONTEXT_FORMAT_"+strings.ToUpper(strings.ReplaceAll(format, "-", "_"))]), events: map[pb.EventType]int{},
	}
}

// explore plays the script to its end.
func (a *agent) explore(ctx context.Context) error {
	_, err := a.citing.records.CreateConversation(ctx, &pb.CreateConversationRequest{Conversation: &pb.Conversation{
		Id: a.citing.conversation, Policy: &pb.Policy{Citations: &pb.CitationsPolicy{Enabled: proto.Bool(true)}},
	}})
	if err != nil {
		return fmt.Errorf("creating the conversation that cites: %w", err)
	}
	if err := a.say(ctx, pb.Role_ROLE_SYSTEM, systemPrompt, nil); err != nil {
		return err
	}
	if err := a.say(ctx, pb.Role_ROLE_USER, firstQuestion, a.questionNotes()); err != nil {
		return err
	}
	for i := range a.tree.script {
		if err := a.turn(ctx, &a.tree.script[i]); err != nil {
			return err
		}
		time.Sleep(a.pace)
	}
	return nil
}

// turn is one iteration of the loop: build, speak, run the tools, listen.
func (a *agent) turn(ctx context.Context, s *step) error {
	if err := a.build(ctx); err != nil {
		return err
	}
	a.wrapped("agent", sheet.Cyan, "%s", s.Says)
	a.resolve(s.Calls)
	if err := a.speak(ctx, s); err != nil {
		return err
	}
	for i, c := range s.Calls {
		if err := a.call(ctx, i, c); err != nil {
			return fmt.Errorf("recording %s: %w", c, err)
		}
	}
	if err := a.restore(ctx, s.Keep); err != nil || s.Next == "" {
		return err
	}
	if s.Then != "" {
		a.alone = true
		if err := a.between(ctx, s.Then); err != nil {
			return err
		}
	}
	a.wrapped("user", sheet.Bold, "%s", s.Next)
	a.line("plugins", sheet.Cyan, questionNoted)
	a.asked = len(a.entries)
	return a.say(ctx, pb.Role_ROLE_USER, s.Next, a.questionNotes())
}

// build asks what the model should see now, looks at the same view message by message, and shows it.
func (a *agent) build(ctx context.Context) error {
	built, err := a.sidecar.build(ctx, a.format)
	if err != nil {
		return fmt.Errorf("building the context: %w", err)
	}
	view, err := a.sidecar.dryRun(ctx)
	if err != nil {
		return fmt.Errorf("looking at the context: %w", err)
	}
	a.lastView, a.counter = view.Messages, built.GetTokens().GetCounter()
	if a.turns++; a.turns == len(a.tree.script)/3+1 {
		a.early = built
	}
	a.showView(built)
	if err := a.compare(ctx, built); err != nil {
		return fmt.Errorf("building the contexts in which nothing expires: %w", err)
	}
	return nil
}

// speak records what the agent says, and the tools that it calls.
func (a *agent) speak(ctx context.Context, s *step) error {
	m := &pb.Message{Role: pb.Role_ROLE_ASSISTANT, Parts: text(s.Says)}
	for i, c := range s.Calls {
		m.Parts = append(m.Parts, &pb.Part{Content: &pb.Part_ToolCall{ToolCall: &pb.ToolCall{
			CallId: callID(i), Name: c.Tool, ArgumentsJson: c.arguments(),
		}}})
	}
	if s.fleeting() {
		m.Expiration = lifetimes["list"]
	}
	_, err := a.append(ctx, m, nil, s.Says, "")
	return err
}

// callID repeats from turn to turn, as those of real models do.
func callID(i int) string { return fmt.Sprintf("call_%d", i) }

// call runs a tool and records its result.
func (a *agent) call(ctx context.Context, i int, c call) error {
	said, failure := a.run(ctx, c)
	result := &pb.ToolResult{
		CallId: callID(i), Name: c.Tool, Expiration: lifetimes[c.Tool], State: pb.ToolResultState_TOOL_RESULT_STATE_COMPLETED,
	}
	var notes []*pb.AdditionalContent
	switch {
	case failure != nil:
		a.wrapped("tool", sheet.Red, "%s: %s", c, failure)
		said, result.State, notes = failure.Error(), pb.ToolResultState_TOOL_RESULT_STATE_ERROR, failureNotes()
		a.failed++
	case c.Tool == expandTool:
		a.wrapped("tool", sheet.Green, "%s → %s, as it was appended; the view stays as it is", c, weight(len(said)))
	default:
		a.line("tool", "", "%s → %s", c, weight(len(said)))
	}
	result.Output = &pb.ToolResult_Text{Text: said}
	a.calls++
	m := &pb.Message{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: result}}}}
	requestID := fmt.Sprintf("%s-call-%d", a.sidecar.conversation, a.calls)
	receipt, err := a.append(ctx, m, notes, c.String(), requestID)
	if err == nil && a.calls == retriedCall {
		err = a.retry(ctx, m, notes, requestID, receipt.Index)
	}
	if failure != nil {
		a.line("plugins", sheet.Cyan, failureNoted)
	}
	return err
}

// run runs a tool: the sidecar's, or one of the tree's.
func (a *agent) run(ctx context.Context, c call) (string, error) {
	if c.Tool != expandTool {
		return a.tree.run(ctx, c)
	}
	if c.Index == nil {
		return "", errors.New("no such message")
	}
	message, err := a.readBack(ctx, *c.Index)
	if err != nil {
		return "", err
	}
	return message.Parts[0].GetToolResult().GetText(), nil
}

// retry appends again under the same request id, which must change nothing.
func (a *agent) retry(ctx context.Context, m *pb.Message, notes []*pb.AdditionalContent, requestID string, index int32) error {
	again, err := a.sidecar.append(ctx, m, notes, requestID)
	if err != nil {
		return err
	}
	if !again.Duplicate || again.Index != index {
		return fmt.Errorf("a retry of message %d was taken as message %d", index, again.Index)
	}
	a.line("retry", sheet.Green, "reply lost? the same request id again: still message %d, nothing added", index)
	return nil
}

func (a *agent) say(ctx context.Context, role pb.Role, said string, notes []*pb.AdditionalContent) error {
	_, err := a.append(ctx, &pb.Message{Role: role, Parts: text(said)}, notes, said, "")
	return err
}

// append puts a message on record, in all conversations.
func (a *agent) append(ctx context.Context, m *pb.Message, notes []*pb.AdditionalContent, label, requestID string) (*pb.Receipt, error) {
	receipt, err := a.sidecar.append(ctx, m, notes, requestID)
	if err != nil {
		return nil, err
	}
	if int(receipt.Index) != len(a.entries) {
		return nil, fmt.Errorf("message %d got index %d", len(a.entries), receipt.Index)
	}
	other, err := a.plain.append(ctx, withoutExpiration(m), nil, "")
	if err != nil {
		return nil, err
	}
	sum, size := fingerprint(m)
	if len(a.entries) == 0 || size > a.entries[a.biggest].bytes {
		a.biggest = len(a.entries)
	}
	a.entries = append(a.entries, entry{
		role: m.Role, label: label, bytes: size, sum: sum, tokens: int64(other.TokenCount),
	})
	return receipt, a.cite(ctx, withoutExpiration(m))
}

// resolve says which messages the calls for something back mean.
func (a *agent) resolve(calls []call) {
	for i := range calls {
		if index, ok := a.answerOf(calls[i].Of); ok {
			calls[i].Index = &index
		}
	}
}

// answerOf is the newest message in which a call was answered.
func (a *agent) answerOf(label string) (int32, bool) {
	for i := len(a.entries) - 1; i >= 0 && label != ""; i-- {
		if a.entries[i].label == label {
			return int32(i), true
		}
	}
	return 0, false
}
