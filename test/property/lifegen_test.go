package property

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// minded is the model of a case: how it answers is drawn once.
type minded struct {
	manner string
	calls  atomic.Int64
	asked  []string // what it was asked; it is called by one goroutine at a time
}

// summaryText is what a willing model answers.
const summaryText = "in short: zzz"

// Complete implements summarize.Model.
func (m *minded) Complete(ctx context.Context, call summarize.Call) (summarize.Answer, error) {
	m.calls.Add(1)
	m.asked = append(m.asked, call.System+call.Prompt)
	switch m.manner {
	case "fails":
		return summarize.Answer{}, &summarize.Failure{Reason: summarize.Status, Status: 400}
	case "rambles":
		return summarize.Answer{Text: "I would rather not"}, nil
	case "hangs":
		<-ctx.Done()
		return summarize.Answer{}, ctx.Err()
	case "slow":
		select {
		case <-ctx.Done():
			return summarize.Answer{}, ctx.Err()
		case <-time.After(5 * time.Second):
		}
	}
	return summarize.Answer{Text: `{"summary":"` + summaryText + `"}`}, nil
}

// lived draws what a message and its results say of their lives, and who acted.
func (g *generator) lived(m *conversation.Message) {
	for i := range m.Parts {
		g.tail(&m.Parts[i])
		if r := m.Parts[i].Result; r != nil {
			r.Expiration, r.Actions, r.Importance = g.expiration("result"), g.actions(), g.importance()
			r.Name = rapid.SampledFrom([]string{"search", "fs.read", ""}).Draw(g.t, "name")
			if r.Name == "" && len(m.Parts) > 1 { // which call a nameless one answers is known once those before it are paired
				r.Name = "1st tool"
			}
		}
	}
	m.Type = rapid.SampledFrom([]conversation.MessageType{0, 0, conversation.TypeActionResult, conversation.TypeSubAgentResult}).Draw(g.t, "type")
	m.Expiration, m.Actions = g.expiration("message"), g.actions()
	if m.Role != conversation.RoleSystem {
		m.Importance = g.importance()
	}
	if m.Role != conversation.RoleUser && m.Role != conversation.RoleTool {
		return
	}
	for i := range m.Parts {
		if m.Parts[i].Kind != conversation.PartToolResult && rapid.IntRange(0, 19).Draw(g.t, "own retention") == 19 {
			m.Parts[i].Retention = g.retention()
		}
	}
}

// tail ends every text of some length with a word of its own, so that it can be told what is left of it.
func (g *generator) tail(p *conversation.Part) {
	switch {
	case p.Kind == conversation.PartText && strings.TrimSpace(p.Text.Inline) != "":
		p.Text.Inline += " " + g.mark()
	case p.Kind == conversation.PartToolResult && p.Result.Output == conversation.OutputText && p.Result.Text.Inline != "":
		p.Result.Text.Inline += g.mark()
	}
}

func (g *generator) actions() []conversation.ActionRef {
	var out []conversation.ActionRef
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(g.t, "actions") {
		out = append(out, conversation.ActionRef{
			ActionID:      rapid.SampledFrom([]string{"", "fetch", "ask"}).Draw(g.t, "action"),
			AgentActionID: rapid.SampledFrom([]string{"", "a1", "a2"}).Draw(g.t, "agent action"),
		})
	}
	return out
}

// importance draws one, most often none.
func (g *generator) importance() conversation.Importance {
	return rapid.SampledFrom([]conversation.Importance{
		0, 0, 0, conversation.ImportanceLow, conversation.ImportanceNormal, conversation.ImportanceHigh,
	}).Draw(g.t, "importance")
}

// expiration draws a configuration that says something, or nil.
func (g *generator) expiration(of string) *conversation.Expiration {
	if rapid.IntRange(0, 2).Draw(g.t, "expiration of "+of) > 0 {
		return nil
	}
	e := g.settings()
	return &e
}

func (g *generator) settings() conversation.Expiration {
	turns := rapid.SampledFrom([]int32{1, 0, 2, 3}).Draw(g.t, "turns")
	length := rapid.SampledFrom([]int32{30, 100, 500}).Draw(g.t, "length")
	return conversation.Expiration{
		Turns: &turns, CompactLength: &length,
		Mode: rapid.SampledFrom([]conversation.ExpirationMode{
			conversation.ExpirationRemove, conversation.ExpirationCompact, conversation.ExpirationCompact, conversation.ExpirationNone,
		}).Draw(g.t, "mode"),
		CompactMode: rapid.SampledFrom([]conversation.CompactMode{
			conversation.CompactUnspecified, conversation.CompactFirstChars, conversation.CompactSummary,
		}).Draw(g.t, "compact mode"),
		PreserveOriginal: rapid.SampledFrom([]*bool{nil, nil, nil, new(bool)}).Draw(g.t, "preserve"),
	}
}

// override draws what stands above everything else, or nil: any of its fields, or that nothing is to expire.
func (g *generator) override() *conversation.ExpirationOverride {
	switch rapid.IntRange(0, 11).Draw(g.t, "override") {
	case 0:
		return &conversation.ExpirationOverride{Disable: true}
	case 1:
		turns := int32(rapid.IntRange(0, 2).Draw(g.t, "override turns"))
		return &conversation.ExpirationOverride{Expiration: conversation.Expiration{Turns: &turns}}
	case 2:
		return &conversation.ExpirationOverride{Expiration: g.settings()}
	default:
		return nil
	}
}

func (g *generator) retention() conversation.Retention {
	kind := rapid.SampledFrom([]conversation.RetentionKind{
		conversation.RetentionUnset, conversation.RetentionPermanent, conversation.RetentionKeepLast,
	}).Draw(g.t, "retention")
	r := conversation.Retention{Kind: kind}
	if kind == conversation.RetentionKeepLast {
		r.Last = int32(rapid.IntRange(1, 3).Draw(g.t, "last"))
	}
	return r
}

func (g *generator) additions() []conversation.Addition {
	var out []conversation.Addition
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3}).Draw(g.t, "additions") {
		a := conversation.Addition{
			Plugin:    rapid.SampledFrom([]string{"memory", "clock"}).Draw(g.t, "plugin"),
			Display:   rapid.Bool().Draw(g.t, "display"),
			Retention: g.retention(),
			Parts:     []conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: g.mark() + " from a plugin " + g.mark()}}},
		}
		if rapid.Bool().Draw(g.t, "header") {
			a.Header = "# " + g.mark()
		}
		out = append(out, a)
	}
	return out
}

// policies are the operator's words on actions, by key.
func (g *generator) policies() map[conversation.ActionKey]conversation.ActionPolicy {
	out := map[conversation.ActionKey]conversation.ActionPolicy{}
	keys := []conversation.ActionKey{{AgentActionID: "a1"}, {ActionID: "fetch"}, {ActionID: "ask"}, {ToolName: "search"}}
	for _, k := range keys {
		if rapid.IntRange(0, 3).Draw(g.t, fmt.Sprint("policy of ", k)) == 0 {
			out[k] = conversation.ActionPolicy{Key: k, Expiration: g.settings(), Importance: g.importance()}
		}
	}
	return out
}

// policy draws how the conversation's view is kept.
func (g *generator) policy() conversation.Policy {
	var p conversation.Policy
	p.Rewrite.Mode = rapid.SampledFrom([]conversation.RewriteMode{conversation.RewriteEager, conversation.RewriteCoalesced}).Draw(g.t, "rewrite")
	if p.Rewrite.Mode == conversation.RewriteCoalesced {
		p.Rewrite.MinGainTokens = rapid.SampledFrom([]*int32{nil, new(int32(0)), new(int32(300))}).Draw(g.t, "min gain")
		p.Rewrite.MaxDeferralTurns = rapid.SampledFrom([]*int32{nil, new(int32(0)), new(int32(3))}).Draw(g.t, "max deferral")
	}
	p.Rewrite.ExpectTurns = rapid.SampledFrom([]*int32{nil, new(int32(0)), new(int32(2))}).Draw(g.t, "expected turns")
	p.Rewrite.ColdCutPercent = rapid.SampledFrom([]*int32{nil, new(int32(20)), new(int32(100))}).Draw(g.t, "cold cut")
	if rapid.IntRange(0, 3).Draw(g.t, "results expire") == 0 {
		p.Expiration.Results = g.settings()
	}
	p.Retention.AllInputs = rapid.SampledFrom([]*bool{nil, new(true)}).Draw(g.t, "all inputs")
	p.MaxWait = rapid.SampledFrom([]*time.Duration{nil, new(time.Duration(0)), new(300 * time.Millisecond)}).Draw(g.t, "max wait")
	return p
}

// resolved is how long things live by the rules of behaviour §5: what is said of them, else their actions' policies, else
// their tool's; and above that, field by field, the override of the append.
func resolved(
	said *conversation.Expiration, actions []conversation.ActionRef, tool string,
	over *conversation.ExpirationOverride, policies map[conversation.ActionKey]conversation.ActionPolicy,
) *conversation.Expiration {
	if over != nil && over.Disable {
		return &conversation.Expiration{Mode: conversation.ExpirationNone}
	}
	var e conversation.Expiration
	var found []conversation.Expiration
	for _, a := range actions {
		byAgent, ok := policies[conversation.ActionKey{AgentActionID: a.AgentActionID}]
		if ok && a.AgentActionID != "" {
			found = append(found, byAgent.Expiration)
		} else if p, ok := policies[conversation.ActionKey{ActionID: a.ActionID}]; ok && a.ActionID != "" {
			found = append(found, p.Expiration)
		}
	}
	p, byTool := policies[conversation.ActionKey{ToolName: tool}]
	switch {
	case said != nil:
		e = *said
	case len(found) > 0:
		e = harshest(found)
	case byTool && tool != "":
		e = p.Expiration
	}
	if e != (conversation.Expiration{}) { // what is drawn says when and what: nothing is left for the conversation's policy
		length, preserve := int32(500), true
		e = above(e, conversation.Expiration{CompactMode: conversation.CompactFirstChars, CompactLength: &length, PreserveOriginal: &preserve})
	}
	if over != nil {
		e = above(over.Expiration, e)
	}
	if e == (conversation.Expiration{}) {
		return nil
	}
	return &e
}

// ranked is how important a part of a message is: as it says itself, as its message does, as its actions say, or its tool.
func ranked(
	own, message conversation.Importance, actions []conversation.ActionRef, tool string, policies map[conversation.ActionKey]conversation.ActionPolicy,
) conversation.Importance {
	if own != 0 {
		return own
	}
	if message != 0 {
		return message
	}
	highest := conversation.ImportanceUnspecified
	for _, a := range actions {
		found := conversation.ImportanceUnspecified
		if a.AgentActionID != "" {
			found = policies[conversation.ActionKey{AgentActionID: a.AgentActionID}].Importance
		}
		if found == 0 && a.ActionID != "" {
			found = policies[conversation.ActionKey{ActionID: a.ActionID}].Importance
		}
		highest = max(highest, found)
	}
	if highest == 0 && tool != "" {
		return policies[conversation.ActionKey{ToolName: tool}].Importance
	}
	return highest
}

// harshest is the configuration that leaves least.
func harshest(list []conversation.Expiration) conversation.Expiration {
	rank := func(e conversation.Expiration) [4]int {
		mode, compact := 1, 0
		if e.Mode == conversation.ExpirationRemove {
			mode = 0
		} else if e.CompactMode == conversation.CompactSummary {
			compact = 1
		}
		return [4]int{int(*e.Turns), mode, compact, int(*e.CompactLength)}
	}
	best := -1
	for i, e := range list {
		if e.Mode == conversation.ExpirationNone {
			continue
		}
		if best < 0 || less(rank(e), rank(list[best])) {
			best = i
		}
	}
	return list[max(best, 0)]
}

func less(a, b [4]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// laid are the blocks of a message by the rules of behaviour §6.
func laid(own []conversation.Part, additions []conversation.Addition) []conversation.Part {
	retained := len(additions) > 0
	for i := range own {
		retained = retained || own[i].Retention.Kind != conversation.RetentionUnset
	}
	if !retained {
		return own
	}
	out := conversation.CloneParts(own)
	for i := range out {
		if out[i].Retention.Kind == conversation.RetentionUnset {
			out[i].Retention.Kind = conversation.RetentionPermanent
		}
	}
	var order []string
	groups := map[string][]conversation.Addition{}
	for _, a := range additions {
		if groups[a.Plugin] == nil {
			order = append(order, a.Plugin)
		}
		groups[a.Plugin] = append(groups[a.Plugin], a)
	}
	for _, plugin := range order {
		out = append(out, laidPlugin(groups[plugin])...)
	}
	return out
}

func laidPlugin(group []conversation.Addition) []conversation.Part {
	var out []conversation.Part
	header, display, permanent, last := "", false, false, int32(0)
	for _, a := range group {
		if header == "" {
			header = a.Header
		}
		display = display || a.Display
		permanent = permanent || a.Retention.Kind == conversation.RetentionPermanent
		last = max(last, a.Retention.Last)
	}
	keep := conversation.Retention{}
	if permanent {
		keep.Kind = conversation.RetentionPermanent
	} else if last > 0 {
		keep = conversation.Retention{Kind: conversation.RetentionKeepLast, Last: last}
	}
	if header != "" {
		out = append(out, laidBlock(header, display, keep)...)
	}
	for _, a := range group {
		out = append(out, laidBlock(a.Parts[0].Text.Inline, a.Display, a.Retention)...)
		out = append(out, laidBlock("\n\n", a.Display, a.Retention)...)
	}
	return out
}

func laidBlock(text string, display bool, keep conversation.Retention) []conversation.Part {
	p := conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: text}, Retention: keep}
	saved := keep.Kind != conversation.RetentionUnset
	switch {
	case display && !saved:
		p.Variant = conversation.DisplayOnly
	case saved && !display:
		p.Variant = conversation.PersistentOnly
	case !saved:
		return nil
	}
	return []conversation.Part{p}
}

// extraOf is what goes with a message.
func (g *generator) extraOf(m *conversation.Message) engine.AppendExtra {
	extra := engine.AppendExtra{Override: g.override()}
	if m.Role == conversation.RoleUser || m.Role == conversation.RoleTool {
		extra.Additions = g.additions()
	}
	return extra
}
