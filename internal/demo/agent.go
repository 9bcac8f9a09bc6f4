package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
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
	began                  time.Time
	cancel                 func() // ends what is being asked
	err                    error  // what failed first
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

func newAgent(s *screen, sidecar *client, t *tree, format string, cancel func()) *agent {
	a := &agent{
		screen: s, sidecar: sidecar, tree: t, events: map[pb.EventType]int{}, began: time.Now(), cancel: cancel,
		format: pb.ContextFormat(pb.ContextFormat_value["CONTEXT_FORMAT_"+strings.ToUpper(strings.ReplaceAll(format, "-", "_"))]),
	}
	sidecar.fail = a.fail
	a.plain, a.citing = sidecar.beside("plain"), sidecar.beside("cited")
	return a
}

// fail ends the demo, if there is an error: nothing more is asked, and nothing shown.
func (a *agent) fail(doing string, err error) {
	if err != nil && a.err == nil {
		a.err = fmt.Errorf("%s: %w", doing, err)
		a.Out = io.Discard
		a.cancel()
	}
}

// explore plays the script to its end.
func (a *agent) explore(ctx context.Context) {
	_, err := a.citing.records.CreateConversation(ctx, &pb.CreateConversationRequest{Conversation: &pb.Conversation{
		Id: a.citing.conversation, Policy: &pb.Policy{Citations: &pb.CitationsPolicy{Enabled: proto.Bool(true)}},
	}})
	a.fail("creating the conversation that cites", err)
	a.say(ctx, pb.Role_ROLE_SYSTEM, systemPrompt, nil)
	a.say(ctx, pb.Role_ROLE_USER, firstQuestion, a.questionNotes())
	for i := range a.tree.script {
		if a.err == nil {
			a.turn(ctx, &a.tree.script[i])
			time.Sleep(a.pace)
		}
	}
}

// turn is one iteration of the loop: build, speak, run the tools, listen.
func (a *agent) turn(ctx context.Context, s *step) {
	a.build(ctx)
	a.Wrapped("agent", sheet.Cyan, "%s", s.Says)
	a.resolve(s.Calls)
	a.speak(ctx, s)
	for i, c := range s.Calls {
		a.call(ctx, i, c)
	}
	a.restore(ctx, s.Keep)
	if s.Then != "" {
		a.alone = true
		a.between(ctx, s.Then)
	}
	if s.Next != "" {
		a.Wrapped("user", sheet.Bold, "%s", s.Next)
		a.Row("plugins", sheet.Cyan, questionNoted)
		a.asked = len(a.entries)
		a.say(ctx, pb.Role_ROLE_USER, s.Next, a.questionNotes())
	}
}

// build asks what the model should see now, looks at the same view message by message, and shows it.
func (a *agent) build(ctx context.Context) {
	built := a.sidecar.build(ctx, a.format)
	a.lastView, a.counter = a.sidecar.dryRun(ctx).GetMessages(), built.GetTokens().GetCounter()
	if a.turns++; a.turns == len(a.tree.script)/3+1 {
		a.early = built
	}
	a.showView(built)
	a.compare(ctx, built)
}

// speak records what the agent says, and the tools that it calls.
func (a *agent) speak(ctx context.Context, s *step) {
	m := &pb.Message{Role: pb.Role_ROLE_ASSISTANT, Parts: text(s.Says)}
	for i, c := range s.Calls {
		m.Parts = append(m.Parts, &pb.Part{Content: &pb.Part_ToolCall{ToolCall: &pb.ToolCall{
			CallId: callID(i), Name: c.Tool, ArgumentsJson: c.arguments(),
		}}})
	}
	if s.fleeting() {
		m.Expiration = lifetimes["list"]
	}
	a.append(ctx, m, nil, s.Says, "")
}

// callID repeats from turn to turn, as those of real models do.
func callID(i int) string { return fmt.Sprintf("call_%d", i) }

// call runs a tool and records its result.
func (a *agent) call(ctx context.Context, i int, c call) {
	said, failure := a.run(ctx, c)
	result := &pb.ToolResult{
		CallId: callID(i), Name: c.Tool, Expiration: lifetimes[c.Tool], State: pb.ToolResultState_TOOL_RESULT_STATE_COMPLETED,
	}
	var notes []*pb.AdditionalContent
	switch {
	case failure != nil:
		a.Wrapped("tool", sheet.Red, "%s: %s", c, failure)
		said, result.State, notes = failure.Error(), pb.ToolResultState_TOOL_RESULT_STATE_ERROR, failureNotes()
		a.failed++
	case c.Tool == expandTool:
		a.Wrapped("tool", sheet.Green, "%s → %s, as it was appended; the view stays as it is", c, terminal.Bytes(len(said)))
	default:
		a.Row("tool", "", "%s → %s", c, terminal.Bytes(len(said)))
	}
	result.Output = &pb.ToolResult_Text{Text: said}
	a.calls++
	m := &pb.Message{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: result}}}}
	requestID := fmt.Sprintf("%s-call-%d", a.sidecar.conversation, a.calls)
	a.append(ctx, m, notes, c.String(), requestID)
	if a.calls == retriedCall {
		a.retry(ctx, m, notes, requestID)
	}
	if failure != nil {
		a.Row("plugins", sheet.Cyan, failureNoted)
	}
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

// retry appends the newest message again under the same request id, which must change nothing.
func (a *agent) retry(ctx context.Context, m *pb.Message, notes []*pb.AdditionalContent, requestID string) {
	again, index := a.sidecar.append(ctx, m, notes, requestID), int32(len(a.entries)-1)
	if !again.GetDuplicate() || again.GetIndex() != index {
		a.fail("retrying", fmt.Errorf("message %d was taken as message %d", index, again.GetIndex()))
	}
	a.Row("retry", sheet.Green, "reply lost? the same request id again: still message %d, nothing added", index)
}

func (a *agent) say(ctx context.Context, role pb.Role, said string, notes []*pb.AdditionalContent) {
	a.append(ctx, &pb.Message{Role: role, Parts: text(said)}, notes, said, "")
}

// append puts a message on record, in all conversations.
func (a *agent) append(ctx context.Context, m *pb.Message, notes []*pb.AdditionalContent, label, requestID string) {
	receipt, lasting := a.sidecar.append(ctx, m, notes, requestID), withoutExpiration(m)
	if int(receipt.GetIndex()) != len(a.entries) {
		a.fail("recording a message", fmt.Errorf("number %d got index %d", len(a.entries), receipt.GetIndex()))
	}
	other := a.plain.append(ctx, lasting, nil, "")
	sum, size := fingerprint(m)
	if len(a.entries) == 0 || size > a.entries[a.biggest].bytes {
		a.biggest = len(a.entries)
	}
	a.entries = append(a.entries, entry{role: m.Role, label: label, bytes: size, sum: sum, tokens: int64(other.GetTokenCount())})
	a.cite(ctx, lasting)
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
