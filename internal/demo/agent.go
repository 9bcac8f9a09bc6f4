package demo

import (
	"context"
	"fmt"
	"iter"

	palimpsestv1 "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// agent plays a script: in each turn it asks the sidecar what the model should see, says what the script says, runs the tools,
// and puts all of it on record. Beside it, it keeps the same conversation twice more, to compare: nothing expires in these and no
// plugin speaks, and in one of them large results are cited.
type agent struct {
	sidecar *client
	plain   *client
	citing  *client
	cited   []citedResult // there
	tree    *tree
	format  palimpsestv1.ContextFormat
	entries []entry // one for each message on record
	builds  []built
	ledgers ledgers
	let     map[palimpsestv1.EventType]int
	alone   bool // the other conversations have been left behind
	asked   int  // the message in which the user asked last
	calls   int
	failed  int
	last    *palimpsestv1.BuildContextResponse // the newest view, in palimpsest's own messages
}

// entry is what the agent remembers of a message, to compare with what comes back. The content it forgets.
type entry struct {
	role      palimpsestv1.Role
	label     string
	bytes     int
	tokens    int64
	estimated bool
	saved     int64                     // tokens, by clipping
	shown     palimpsestv1.DecisionKind // what the newest view shows of it; not specified: all of it
	sum       [32]byte
}

// built is what the agent remembers of a build.
type built struct {
	manifestID string
	turn       int32
	sha256     string
}

// turn is one iteration of the loop, as it is shown.
type turn struct {
	step      *step
	build     *palimpsestv1.BuildContextResponse
	strip     string
	inView    int
	record    int         // messages
	clipped   []reduction // in this turn
	changes   []change    // in this turn, by what expired, and by blocks that are shown no longer
	waiting   int         // due, and held until changing old text pays
	results   []outcome
	retried   *palimpsestv1.Receipt
	restored  *restored
	compacted *compacted
	cleared   int32 // results older than so many tokens may be cleared from now on
	rewound   *palimpsestv1.RewindConversationResponse
	noted     string // the plugins that spoke
	err       error
}

// reduction is a result that the view shows shorter.
type reduction struct {
	entry         entry
	index         int32
	before, after int64
}

// outcome is what a tool said.
type outcome struct {
	call  call
	bytes int
	err   error
}

// restored is a message that was put back into the view.
type restored struct {
	index   int32
	label   string
	reply   *palimpsestv1.ExpandMessageResponse
	refused error
}

// retriedCall is the call whose result is appended twice, as if the first reply had been lost.
const retriedCall = 12

func (c *Command) newAgent(address string, t *tree) (*agent, error) {
	sidecar, err := dial(address, c.Window)
	if err != nil {
		return nil, err
	}
	return &agent{
		sidecar: sidecar, plain: sidecar.beside("plain"), citing: sidecar.beside("cited"), tree: t, format: formatOf(c.Format),
		let: map[palimpsestv1.EventType]int{},
	}, nil
}

func formatOf(name string) palimpsestv1.ContextFormat {
	return map[string]palimpsestv1.ContextFormat{
		"openai-chat":      palimpsestv1.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT,
		"openai-responses": palimpsestv1.ContextFormat_CONTEXT_FORMAT_OPENAI_RESPONSES,
		"anthropic":        palimpsestv1.ContextFormat_CONTEXT_FORMAT_ANTHROPIC,
		"gemini":           palimpsestv1.ContextFormat_CONTEXT_FORMAT_GEMINI,
		"neutral":          palimpsestv1.ContextFormat_CONTEXT_FORMAT_NEUTRAL,
	}[name]
}

// turns plays the script to its end. A turn with an error is the last.
func (a *agent) turns(ctx context.Context) iter.Seq[*turn] {
	return func(yield func(*turn) bool) {
		if err := a.open(ctx); err != nil {
			yield(&turn{err: err})
			return
		}
		for i := range a.tree.script {
			t := &turn{step: &a.tree.script[i]}
			if t.err = a.see(ctx, t); t.err == nil {
				t.err = a.act(ctx, t)
			}
			if !yield(t) || t.err != nil {
				return
			}
		}
	}
}

func (a *agent) open(ctx context.Context) error {
	if err := a.openCiting(ctx); err != nil {
		return err
	}
	if err := a.say(ctx, palimpsestv1.Role_ROLE_SYSTEM, systemPrompt, nil); err != nil {
		return err
	}
	return a.say(ctx, palimpsestv1.Role_ROLE_USER, firstQuestion, a.questionNotes())
}

// see asks what the model should see now, and looks at the same view message by message.
func (a *agent) see(ctx context.Context, t *turn) error {
	var err error
	if t.build, err = a.sidecar.build(ctx, a.format); err != nil {
		return fmt.Errorf("building the context: %w", err)
	}
	if a.last, err = a.sidecar.look(ctx); err != nil {
		return fmt.Errorf("looking at the context: %w", err)
	}
	a.builds = append(a.builds, built{t.build.ManifestId, t.build.Turn, t.build.GetRendered().GetContentSha256()})
	a.note(t)
	t.strip, t.inView = a.strip(a.last.Messages)
	t.record = len(a.entries)
	if err := a.compare(ctx, t.build); err != nil {
		return fmt.Errorf("building the contexts in which nothing expires: %w", err)
	}
	return nil
}

// compare books a context, and what it would have been without the sidecar, or if nothing expired.
func (a *agent) compare(ctx context.Context, b *palimpsestv1.BuildContextResponse) error {
	a.ledgers.saved.add(b.GetTokens())
	if a.alone {
		return nil
	}
	plain, err := a.plain.build(ctx, a.format)
	if err != nil {
		return err
	}
	cited, err := a.citing.build(ctx, a.format)
	if err == nil {
		a.ledgers.send(b, plain, cited, a.entries)
	}
	return err
}

// act says what the script says, runs the tools it asks for and records their results.
func (a *agent) act(ctx context.Context, t *turn) error {
	calls := a.resolve(t.step.calls)
	if err := a.speak(ctx, t.step, calls); err != nil {
		return err
	}
	for i, c := range calls {
		said, failure := a.run(ctx, c)
		t.results = append(t.results, outcome{c, len(said), failure})
		if err := a.record(ctx, t, i, said, failure); err != nil {
			return fmt.Errorf("recording %s: %w", c, err)
		}
	}
	if err := a.restore(ctx, t); err != nil || t.step.next == "" {
		return err
	}
	return a.listen(ctx, t)
}

// listen hears what people say when the agent has spoken.
func (a *agent) listen(ctx context.Context, t *turn) error {
	if err := a.between(ctx, t); err != nil {
		return err
	}
	t.noted, a.asked = questionNoted, len(a.entries)
	return a.say(ctx, palimpsestv1.Role_ROLE_USER, t.step.next, a.questionNotes())
}

func (a *agent) speak(ctx context.Context, s *step, calls []call) error {
	parts := words(s.says)
	for i, c := range calls {
		parts = append(parts, &palimpsestv1.Part{Content: &palimpsestv1.Part_ToolCall{ToolCall: &palimpsestv1.ToolCall{
			CallId: callID(i), Name: c.Tool, ArgumentsJson: c.arguments(),
		}}})
	}
	m := &palimpsestv1.Message{Role: palimpsestv1.Role_ROLE_ASSISTANT, Parts: parts}
	if s.fleeting() {
		m.Expiration = lives("list")
	}
	_, err := a.append(ctx, m, nil, s.says, "")
	return err
}

// callID repeats from turn to turn, as those of real models do.
func callID(i int) string { return fmt.Sprintf("call_%d", i) }

func (a *agent) record(ctx context.Context, t *turn, i int, said string, failure error) error {
	c := t.results[i].call
	result := &palimpsestv1.ToolResult{
		CallId: callID(i), Name: c.Tool, Expiration: lives(c.Tool),
		State:  palimpsestv1.ToolResultState_TOOL_RESULT_STATE_COMPLETED,
		Output: &palimpsestv1.ToolResult_Text{Text: said},
	}
	var notes []*palimpsestv1.AdditionalContent
	if failure != nil {
		result.State = palimpsestv1.ToolResultState_TOOL_RESULT_STATE_ERROR
		result.Output = &palimpsestv1.ToolResult_Text{Text: failure.Error()}
		notes, t.noted = failureNotes(), failureNoted
		a.failed++
	}
	message := &palimpsestv1.Message{
		Role:  palimpsestv1.Role_ROLE_TOOL,
		Parts: []*palimpsestv1.Part{{Content: &palimpsestv1.Part_ToolResult{ToolResult: result}}},
	}
	requestID := fmt.Sprintf("%s-call-%d", a.sidecar.conversation, a.calls)
	first, err := a.append(ctx, message, notes, c.String(), requestID)
	if a.calls++; err != nil || a.calls != retriedCall {
		return err
	}
	return a.retry(ctx, t, message, notes, requestID, first)
}

// retry appends again under the same request id, which must change nothing.
func (a *agent) retry(
	ctx context.Context, t *turn, m *palimpsestv1.Message, notes []*palimpsestv1.AdditionalContent, requestID string, first *palimpsestv1.Receipt,
) error {
	again, err := a.sidecar.append(ctx, m, notes, requestID)
	if err != nil {
		return err
	}
	if !again.Duplicate || again.Index != first.Index {
		return fmt.Errorf("a retry of message %d was taken as message %d", first.Index, again.Index)
	}
	t.retried = again
	return nil
}

func (a *agent) say(ctx context.Context, role palimpsestv1.Role, said string, notes []*palimpsestv1.AdditionalContent) error {
	_, err := a.append(ctx, &palimpsestv1.Message{Role: role, Parts: words(said)}, notes, said, "")
	return err
}

// append puts a message on record, in all conversations.
func (a *agent) append(
	ctx context.Context, m *palimpsestv1.Message, notes []*palimpsestv1.AdditionalContent, label, requestID string,
) (*palimpsestv1.Receipt, error) {
	receipt, err := a.sidecar.append(ctx, m, notes, requestID)
	if err != nil {
		return nil, err
	}
	other, err := a.plain.append(ctx, immortal(m), nil, "")
	if err != nil {
		return nil, err
	}
	if err := a.cite(ctx, immortal(m)); err != nil {
		return nil, err
	}
	if int(receipt.Index) != len(a.entries) {
		return nil, fmt.Errorf("message %d got index %d", len(a.entries), receipt.Index)
	}
	sum, size := fingerprint(m)
	a.entries = append(a.entries, entry{
		role: m.Role, label: label, bytes: size, sum: sum,
		tokens: int64(other.TokenCount), estimated: receipt.Estimated,
	})
	return receipt, nil
}
