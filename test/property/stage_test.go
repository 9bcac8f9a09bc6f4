package property

import (
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// stage is one conversation whose messages are of any size beside its budget, and the last that was built of it. What it holds builds
// to knows nothing of how the engine decides: contexts, decisions, and the record alone.
type stage struct {
	*journey
	format conversation.Format
	own    int32  // the largest budget
	asks   string // the model that builds are for
	fixed  int32
	last   map[int64]*sight // by budget
	moves  int              // that changed the view, beside appends and builds
}

// sight is what one build has shown.
type sight struct {
	*seen
	edits  []conversation.Edit // that it made
	tokens int                 // of the context, by an independent count
	blocks []validate.Block    // of the context
	late   map[int32][]conversation.Part
	moves  int
}

var allFormats = []conversation.Format{
	conversation.FormatOpenAIChat, conversation.FormatOpenAIResponses, conversation.FormatAnthropic, conversation.FormatGemini,
	conversation.FormatNeutral,
}

// newStage opens a conversation under a policy. Summaries are extracts: no model is asked.
func newStage(t *rapid.T, g *generator, policy conversation.Policy) *stage {
	j := &journey{t: t, g: g, court: newCourt(t), key: key, store: &flaky{Store: memory.New(memory.Options{}), t: t}, policy: policy}
	j.service = summarize.New(summarize.Options{})
	j.engine = j.newEngine(rapid.SampledFrom([]int64{0, 1 << 20}).Draw(t, "cache"))
	_, err := j.engine.Create(ctx, engine.CreateRequest{Key: j.key, Info: store.Info{Counter: conversation.DefaultCounter, Policy: policy}})
	if err != nil {
		t.Fatal(err)
	}
	return &stage{journey: j, format: rapid.SampledFrom(allFormats).Draw(t, "format"), last: map[int64]*sight{}}
}

// stagePolicy draws what claims on a budget depend on.
func (g *generator) stagePolicy() conversation.Policy {
	var p conversation.Policy
	p.Compaction.Strategy = rapid.SampledFrom([]conversation.Strategy{
		conversation.StrategySummarize, conversation.StrategyHierarchical, conversation.StrategySlidingWindow,
	}).Draw(g.t, "strategy")
	p.Fit.KeepOpening = rapid.SampledFrom([]*bool{nil, nil, new(false)}).Draw(g.t, "opening")
	return p
}

// told draws the next message of a conversation, with texts of any size beside its budget.
func (g *generator) told(budget int32) (conversation.Message, engine.AppendExtra) {
	kinds := []string{"user", "user", "user", "given", "assistant", "calls", "calls", "calls", "system"}
	if len(g.open) > 0 {
		kinds = []string{"result", "result", "result", "result", "result", "result", "more", "user"}
	}
	kind := rapid.SampledFrom(kinds).Draw(g.t, "kind")
	if g.n == 0 && rapid.Bool().Draw(g.t, "system first") {
		kind = "system"
	}
	var extra engine.AppendExtra
	m := conversation.Message{Role: conversation.RoleAssistant}
	switch kind {
	case "result":
		return g.sized(budget), extra
	case "more":
		m.Parts = []conversation.Part{g.call()}
		return m, extra
	case "calls":
		g.close()
		if rapid.Bool().Draw(g.t, "says why") {
			m.Parts = g.words(budget, 0.05)
		}
		m.Parts = append(m.Parts, g.calls()...)
	case "system":
		g.close()
		m.Role, m.Parts = conversation.RoleSystem, g.words(budget, 0.02, 0.05, 0.2)
	case "assistant":
		g.close()
		m.Parts = g.words(budget, 0, 0.02, 0.1, 0.4)
	default:
		g.close()
		m.Role, m.Parts = conversation.RoleUser, g.words(budget, 0, 0, 0.02, 0.1, 0.3, 0.45, 0.7, 1.5)
		if kind == "given" {
			m.Type = rapid.SampledFrom(notOwn).Draw(g.t, "type")
		}
		extra.Additions = g.additions()
	}
	m.Pinned = rapid.IntRange(0, 24).Draw(g.t, "pinned") == 0 && len(m.Parts) > 0 && partWeight(&m.Parts[0]) < int(budget)/8
	return m, extra
}

// notOwn are types of messages whose words are not the user's.
var notOwn = []conversation.MessageType{conversation.TypeActionResult, conversation.TypeSubAgentResult, conversation.TypeRetryContext}

// words are a text of about a share of a budget, with a word of its own at each end.
func (g *generator) words(budget int32, shares ...float64) []conversation.Part {
	chars := int(rapid.SampledFrom(shares).Draw(g.t, "share") * float64(budget) * 4)
	text := g.mark() + strings.Repeat(" word", min(chars, 240_000)/5) + " " + g.mark()
	return []conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: text}}}
}

// sized answers some of the calls that wait, with results of up to three budgets.
func (g *generator) sized(budget int32) conversation.Message {
	m := g.results(&g.open)
	for i := range m.Parts {
		r := m.Parts[i].Result
		text := g.words(budget, 0, 0.02, 0.1, 0.2, 0.4, 1, 3)
		*r = conversation.ToolResult{CallID: r.CallID, State: r.State, Text: text[0].Text}
	}
	return m
}

// put appends a message, and takes it into the model.
func (s *stage) put(m conversation.Message, extra engine.AppendExtra) {
	e := &entry{
		index: int32(len(s.record)), turn: s.turn, seen: s.head().Seen, restored: -1, shown: map[int32]shownForm{}, masked: map[int32]bool{},
		message: conversation.Message{Role: m.Role, Type: m.Type, Pinned: m.Pinned, Tags: m.Tags, Parts: laid(conversation.CloneParts(m.Parts), extra.Additions)},
	}
	for i := len(m.Parts); i < len(e.message.Parts); i++ {
		e.message.Parts[i].Plugin = "a plugin"
	}
	m.Parts = conversation.CloneParts(m.Parts)
	_, err := s.engine.Append(ctx, engine.AppendRequest{Key: s.key, Messages: []conversation.Message{m}, Extras: []engine.AppendExtra{extra}})
	if err != nil {
		s.t.Fatalf("append %d: %v", e.index, err)
	}
	s.record = append(s.record, e)
	s.settleUnits()
	s.t.Logf("append %d: %s type %d pinned %t, %d tokens", e.index, m.Role, m.Type, m.Pinned, s.weight(e))
}

// weight is what a message weighs as it was appended.
func (s *stage) weight(e *entry) int {
	m := model(&e.message)
	return m.Tokens(count)
}

// show builds, and looks at what is shown. It is nil where the build was refused.
func (s *stage) show(budget int32, usage *engine.Usage) (*sight, error) {
	zero := int32(0)
	r := engine.BuildRequest{
		Key: s.key, Format: s.format, Model: s.asks, Budget: engine.BudgetOverride{ContextWindow: &budget, ReservedOutput: &zero},
		Fixed: engine.FixedInput{Tokens: &s.fixed}, CloseOpenCalls: true, LastUsage: usage,
	}
	got, err := s.engine.Build(ctx, r)
	if err != nil {
		s.t.Logf("refused at %d: %v", budget, err)
		return nil, err
	}
	b := &build{BuildResult: got, turn: got.Turn, count: int32(len(s.record)), time: time.Now(), model: s.asks, shown: written(got)}
	made := s.take()
	s.turn, s.builds = b.turn, append(s.builds, *b)
	v := s.viewOf(b)
	v.opening = s.policy.Fit.KeepOpening
	s.court.legal(s.format, budget, b)
	read := s.court.last[s.format]
	out := &sight{seen: v, edits: made, tokens: read.Tokens, blocks: read.Blocks, late: s.lateOf(got), moves: s.moves}
	for _, e := range made {
		s.t.Logf("  edit %d: kind %d, %+v, reason %d, %d tokens for %d %s", e.Seq, e.Kind, e.Range, e.Reason, e.After, e.Before, sketchSummary(&e))
	}
	s.t.Logf("build %d at %d: %d tokens, window %+v, %d edits, shown %v", got.Manifest.Seq, budget, out.tokens, got.Manifest.Window, len(made), v.order)
	return out, nil
}

// lateOf are the results that a context shows apart from the message they are in: no call waits for them there.
func (s *stage) lateOf(b *engine.BuildResult) map[int32][]conversation.Part {
	m, err := s.engine.Manifest(ctx, s.key, b.Manifest.Seq, conversation.FormatNeutral)
	if err != nil {
		s.t.Fatal(err)
	}
	out := map[int32][]conversation.Part{}
	for i := range m.Messages {
		if n := &m.Messages[i]; n.Index >= 0 && n.Summary == 0 && n.Role == conversation.RoleUser && s.record[n.Index].message.Role == conversation.RoleTool {
			out[n.Index] = append(out[n.Index], n.Parts...)
		}
	}
	return out
}

// parts are what a context shows of a message; nil if it shows nothing.
func (v *sight) parts(e *entry) []conversation.Part {
	if m := v.messages[e.index]; m != nil {
		return m.Parts
	}
	return nil
}

// whole says whether a context shows all that was appended of a message, but for what plugins added.
func (v *sight) whole(e *entry) bool {
	shown := v.parts(e)
	for i := range e.message.Parts {
		p := &e.message.Parts[i]
		if p.Plugin == "" && (!slices.ContainsFunc(shown, func(o conversation.Part) bool { return sameWords(p, &o) }) || !v.inBytes(p)) {
			return false
		}
	}
	return true
}

func sameWords(p, o *conversation.Part) bool {
	if p.Kind != o.Kind {
		return false
	}
	if p.Call != nil {
		return p.Call.Name == o.Call.Name && p.Call.Arguments.Inline == o.Call.Arguments.Inline
	}
	return blockText(p) == blockText(o)
}

// inBytes says whether the context that the model gets has a text, whatever the format. Texts have nothing to be escaped.
func (v *sight) inBytes(p *conversation.Part) bool {
	return p.Call != nil || strings.Contains(string(v.build.shown), blockText(p))
}
