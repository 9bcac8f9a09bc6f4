package citations

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

const (
	loopRounds = 10
	loopWindow = 200_000
	// leastSaved is how much fewer tokens research must take with citations, what is asked for again included.
	leastSaved = 0.90
	// leastActions is how many results there must be room for before anything is summarized.
	leastActions = 50
)

// formats are all that a context is built in, as the judge names them.
var formats = map[pb.ContextFormat]validate.Format{
	pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL:          validate.Neutral,
	pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT:      validate.OpenAIChat,
	pb.ContextFormat_CONTEXT_FORMAT_OPENAI_RESPONSES: validate.OpenAIResponses,
	pb.ContextFormat_CONTEXT_FORMAT_ANTHROPIC:        validate.Anthropic,
	pb.ContextFormat_CONTEXT_FORMAT_GEMINI:           validate.Gemini,
}

// research is an agent at work.
type research struct {
	*world
	t        *testing.T
	checkers map[pb.ContextFormat]*validate.Checker
	builds   int
	uncited  int // tokens of calls and results, without citations
	cited    int // and with them, the calls that recall and what they brought back included
	recalls  int // of those, the calls and what they brought back
	actions  int
	seen     int // facts that a citation shows already
	before   int // actions before the first summary; 0: there was none
	kinds    map[string][2]int
}

func newResearch(t *testing.T) *research {
	r := &research{world: newWorld(t), t: t, checkers: map[pb.ContextFormat]*validate.Checker{}, kinds: map[string][2]int{}}
	for format, name := range formats {
		r.checkers[format] = must[*validate.Checker](t)(validate.NewChecker(name, weigh))
	}
	r.create(t, "research", func(p *pb.Policy) {
		p.Fit = &pb.FitPolicy{ContextWindowTokens: new(int32(loopWindow))}
	})
	for role, said := range map[pb.Role]string{pb.Role_ROLE_SYSTEM: "You research codes.", pb.Role_ROLE_USER: "Find all reserve codes."} {
		must[*pb.AppendMessageResponse](t)(r.agent.AppendMessage(t.Context(), &pb.AppendMessageRequest{
			ConversationId: "research", Message: &pb.Message{Role: role, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: said}}}},
		}))
	}
	return r
}

// build builds a context, in all formats if it is to, and returns all of its text.
func (r *research) build(all bool) string {
	r.t.Helper()
	format := pb.ContextFormat(1 + r.builds%len(formats))
	r.builds++
	built := must[*pb.BuildContextResponse](r.t)(r.agent.BuildContext(r.t.Context(), &pb.BuildContextRequest{ConversationId: "research", Format: format, MaxReplyBytes: new(room)}))
	if r.before == 0 && built.GetCompaction().GetSummaryId() != "" {
		r.before = r.actions
	}
	for other := range formats {
		if all && other != format {
			again := must[*pb.BuildContextResponse](r.t)(r.agent.BuildContext(r.t.Context(), &pb.BuildContextRequest{
				ConversationId: "research", Format: other, DryRun: true, SameTurn: true, MaxReplyBytes: new(room),
			}))
			r.legal(other, again)
		}
	}
	return r.legal(format, built)
}

// legal demands that a context is legal for its provider.
func (r *research) legal(format pb.ContextFormat, built *pb.BuildContextResponse) string {
	r.t.Helper()
	messages := built.GetRendered().GetMessagesJson()
	if format == pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL {
		messages = neutralJSON(r.t, built.GetMessages())
	}
	for _, v := range r.checkers[format].Read(built.GetRendered().GetSystemJson(), messages).Violations {
		r.t.Errorf("build %d in %v is illegal: %v", r.builds, format, v)
	}
	return string(messages)
}

// do lets the agent make a call, see its result, and look for the fact in it.
func (r *research) do(s step) {
	r.t.Helper()
	r.actions++
	receipt := must[*pb.Receipt](r.t)(r.append(r.t.Context(), "research", s.outcome))
	if len(receipt.GetCitations()) != 1 {
		r.t.Fatalf("a result of %d bytes has %d citations", len(s.text), len(receipt.GetCitations()))
	}
	c := receipt.GetCitations()[0]
	call := weigh(s.tool) + weigh(s.arguments) + 10 + 4
	whole, cited := weigh(s.text), weigh(c.GetText())
	r.uncited, r.cited = r.uncited+call+whole, r.cited+call+cited
	k := r.kinds[s.tool]
	r.kinds[s.tool] = [2]int{k[0] + whole, k[1] + cited}
	if strings.Contains(r.build(false), s.answer) {
		r.seen++
	}
	arguments, err := json.Marshal(map[string]any{"content_id": c.GetContentId(), "search_terms": []string{s.question}})
	if err != nil {
		r.t.Fatal(err)
	}
	asked := &pb.ToolCall{CallId: "recall-" + s.id, Name: "retrieve_content", ArgumentsJson: string(arguments)}
	answer := must[*pb.AnswerToolCallResponse](r.t)(r.recall(r.t.Context(), "research", asked, 0)).GetToolResult()
	must[*pb.BatchAppendMessagesResponse](r.t)(r.agent.BatchAppendMessages(r.t.Context(), &pb.BatchAppendMessagesRequest{
		ConversationId: "research", Items: []*pb.BatchAppendItem{
			{Message: &pb.Message{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{{Content: &pb.Part_ToolCall{ToolCall: asked}}}}},
			{Message: &pb.Message{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: answer}}}}},
		},
	}))
	took := weigh(asked.GetName()) + weigh(asked.GetArgumentsJson()) + 10 + 4 + weigh(answer.GetText())
	r.cited, r.recalls = r.cited+took, r.recalls+took
	if !strings.Contains(r.build(r.actions%18 == 0), s.answer) {
		r.t.Errorf("the fact in result %d, of %s with %d bytes, is in no context", r.actions, s.tool, len(s.text))
	}
}

// TestResearch_TenRounds_FitsAWindow: with citations, ten rounds of five searches, ten pages and three queries take a tenth of the tokens,
// and everything that was looked for is found.
func TestResearch_TenRounds_FitsAWindow(t *testing.T) {
	figures(t)
	m := newMaterial(t)
	r := newResearch(t)
	for n := range loopRounds {
		for _, s := range m.round(n) {
			r.do(s)
		}
	}
	saved := 1 - float64(r.cited)/float64(r.uncited)
	t.Logf("%d results in %d builds: %d tokens uncited, %d cited, %d of them for asking again: %.1f %% less; first summary after %d results",
		r.actions, r.builds, r.uncited, r.cited, r.recalls, 100*saved, r.before)
	for _, tool := range sortedKeys(r.kinds) {
		t.Logf("%s: %d tokens, cited %d", tool, r.kinds[tool][0], r.kinds[tool][1])
	}
	if r.seen > r.actions/10 {
		t.Errorf("%d facts are in citations: nothing is tested", r.seen)
	}
	if saved < leastSaved {
		t.Errorf("%.1f %% of the tokens are saved, not %.0f", 100*saved, 100*leastSaved)
	}
	if r.before > 0 && r.before <= leastActions {
		t.Errorf("something is summarized after %d results", r.before)
	}
}

// neutralJSON writes neutral messages as the judge reads them.
func neutralJSON(t testing.TB, messages []*pb.ContextMessage) []byte {
	t.Helper()
	type message struct {
		Role  string          `json:"role"`
		Parts []validate.Item `json:"parts"`
	}
	out := make([]message, len(messages))
	for i, m := range messages {
		out[i].Role = strings.ToLower(strings.TrimPrefix(m.GetRole().String(), "ROLE_"))
		for _, p := range m.GetParts() {
			out[i].Parts = append(out[i].Parts, itemOf(t, p))
		}
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(out); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// itemOf is a part as the judge reads it: the agent here says texts, calls and results.
func itemOf(t testing.TB, p *pb.Part) validate.Item {
	t.Helper()
	switch v := p.GetContent().(type) {
	case *pb.Part_Text:
		return validate.Item{Kind: validate.Text, Texts: []string{v.Text}}
	case *pb.Part_ToolCall:
		return validate.Item{Kind: validate.Call, ID: v.ToolCall.GetCallId(), Name: v.ToolCall.GetName(), Texts: []string{v.ToolCall.GetArgumentsJson()}}
	case *pb.Part_ToolResult:
		return validate.Item{Kind: validate.Result, ID: v.ToolResult.GetCallId(), Name: v.ToolResult.GetName(), Texts: []string{v.ToolResult.GetText()}}
	default:
		t.Fatalf("a context holds a part of type %T", v)
		return validate.Item{}
	}
}
