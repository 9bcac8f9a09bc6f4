package inspect

import (
	"fmt"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// labelWidth is how wide the labels of a view are.
const labelWidth = 13

// contextView prints what a build shows.
type contextView struct {
	*sheet.Sheet
	textWidth
	conversation *pb.Conversation
	build        *pb.BuildContextResponse
	factor       factor
}

func (v *contextView) print() {
	fields(v.Sheet, v.fields()...)
	v.in()
	v.out()
	for _, d := range v.build.GetDegradations() {
		v.Field("not done", labelWidth, fmt.Sprintf("%s: %s; instead: %s", d.GetAsked(), d.GetReason(), d.GetDone()))
	}
}

// field is a line of a heading. Without a value it is left out.
type field struct{ label, value string }

func fields(s *sheet.Sheet, all ...field) {
	for _, f := range all {
		if f.value != "" {
			s.Field(f.label, labelWidth, f.value)
		}
	}
}

func (v *contextView) fields() []field {
	b := v.build
	t := b.GetTokens()
	return []field{
		{"conversation", fmt.Sprintf("%s, turn %d, revision %d: %s on record, %s tokens", v.conversation.GetId(), b.GetTurn(), b.GetRevision(),
			sheet.Count(int(v.conversation.GetMessageCount()), "message"), v.factor.tokens(v.conversation.GetTokenCount()))},
		{"context", share(v.Sheet, t.GetTotal(), t.GetBudget())},
		{"of it", v.shares()},
		{"saved by", v.saved()},
		{"counted by", joinNonEmpty(", ", v.factor.counter(t.GetCounter()), estimated(t))},
		{"used", v.used()},
		{"compaction", compactionWords(b.GetCompaction())},
		{"own calls", ownCalls(b.GetCompaction().GetOwnCalls())},
		{"prefix", v.prefix()},
		{"policy", b.GetPolicyHash()},
	}
}

// share is a bar, and the same in figures.
func share(s *sheet.Sheet, part, whole int64) string {
	percent := (part*100 + max(whole, 1) - 1) / max(whole, 1)
	return fmt.Sprintf("%s %s of %s tokens, %d %%",
		s.Bar(part, whole, s.Width/4, "░"), terminal.Number(part), terminal.Number(whole), percent)
}

// shares says what the context is made of.
func (v *contextView) shares() string {
	t, summaries := v.build.GetTokens(), 0
	for _, m := range v.build.GetMessages() {
		if m.GetOrigin().GetSummaryId() != "" {
			summaries++
		}
	}
	summarized, fixed := v.factor.times(t.GetSummaries()), v.factor.times(t.GetFixed())
	words := []string{fmt.Sprintf("%s in %s", terminal.Number(t.GetTotal()-summarized-fixed), sheet.Count(len(v.build.GetMessages())-summaries, "message"))}
	if summaries > 0 {
		words = append(words, fmt.Sprintf("%s in %s", terminal.Number(summarized), sheet.Count(summaries, "summary")))
	}
	if fixed > 0 {
		words = append(words, terminal.Number(fixed)+" in system prompt and tools")
	}
	return strings.Join(words, ", ")
}

// saved says what each mechanism keeps out of the context.
func (v *contextView) saved() string {
	t, words := v.build.GetTokens(), make([]string, 0, 8)
	for _, by := range []struct {
		name   string
		tokens int64
	}{
		{"compaction", t.GetSavedByCompaction()}, {"pruning", t.GetSavedByPruning()}, {"expiry", t.GetSavedByExpiry()},
		{"retention", t.GetSavedByRetention()}, {"citing", t.GetSavedByCiting()},
		{"deduplication", t.GetSavedByDeduplication()},
		{"clipping", t.GetSavedByClipping()}, {"the window's start", t.GetSavedByFit()},
	} {
		if by.tokens != 0 {
			words = append(words, by.name+" "+v.factor.tokens(by.tokens))
		}
	}
	return joinNonEmpty(", ", words...)
}

// factor is a calibration factor. Of a context, total, budget and what the provider reported are given with it, all else without:
// what is printed has it throughout, so that figures add up.
type factor float64

func (f factor) times(n int64) int64 { return int64(tokens.Scale(int(n), float64(f))) }

func (f factor) tokens(n int64) string { return terminal.Number(f.times(n)) }

func (f factor) counter(name string) string {
	if f == 1 {
		return name
	}
	return fmt.Sprintf("%s, all figures times %.2f, as the provider counts", name, float64(f))
}

func estimated(t *pb.TokenReport) string {
	if t.GetEstimated() {
		return "in part estimated"
	}
	return ""
}

// used tells the provider's own figure apart from ours.
func (v *contextView) used() string {
	c := v.build.GetCompaction()
	if !c.GetReported() {
		return ""
	}
	return share(v.Sheet, c.GetUsedTokens(), v.build.GetTokens().GetBudget()) + ", by the provider's last report"
}

func compactionWords(c *pb.CompactionStatus) string {
	next := ""
	switch c.GetState() {
	case pb.CompactionState_COMPACTION_STATE_PREPARING:
		next = "the next summary is being prepared"
	case pb.CompactionState_COMPACTION_STATE_READY:
		next = "the next summary is ready for the build that overflows"
	}
	newest := ""
	if c.GetSummaryId() != "" {
		newest = "newest summary " + c.GetSummaryId()
	}
	return joinNonEmpty("; ", newest, next, fmt.Sprintf("the window starts at message %d", c.GetWindowStartIndex()))
}

func ownCalls(u *pb.ModelUsage) string {
	if u.GetCalls() == 0 {
		return ""
	}
	words := fmt.Sprintf("%s, %s tokens in, %s out", sheet.Count(int(u.GetCalls()), "model call"), terminal.Number(u.GetInputTokens()), terminal.Number(u.GetOutputTokens()))
	if u.GetCost() > 0 {
		words += fmt.Sprintf(", cost %.4f", u.GetCost())
	}
	return words
}

func (v *contextView) prefix() string {
	p := v.build.GetPrefix()
	if p.GetBrokenBy() == pb.PrefixBreak_PREFIX_BREAK_FIRST_BUILD {
		return "no earlier build in this format"
	}
	words := fmt.Sprintf("%d of the last build's %s are the same, %s tokens", p.GetStableBlocks(), sheet.Count(int(p.GetPreviousBlocks()), "block"),
		v.factor.tokens(p.GetStableTokens()))
	if p.GetBrokenBy() != pb.PrefixBreak_PREFIX_BREAK_UNSPECIFIED {
		words += "; changed: " + sheet.EnumText(p.GetBrokenBy())
	}
	return joinNonEmpty("; ", words, v.rewrite(p.GetRewrite()))
}

// rewrite says what it costs that text was changed, and when that is paid back.
func (v *contextView) rewrite(r *pb.RewriteReport) string {
	if r == nil {
		return ""
	}
	words := v.factor.tokens(r.GetRereadTokens()) + " tokens to read anew"
	switch {
	case r.GetSavedTokensPerTurn() < 0:
		return words + ", " + v.factor.tokens(-r.GetSavedTokensPerTurn()) + " more than before"
	case r.BreakEvenTurns == nil:
		return words
	case r.GetBreakEvenTurns() == 0:
		return words + " in any case, " + v.factor.tokens(r.GetSavedTokensPerTurn()) + " fewer a turn"
	default:
		return words + fmt.Sprintf(", %s fewer a turn, which pays after %s", v.factor.tokens(r.GetSavedTokensPerTurn()), sheet.Count(int(r.GetBreakEvenTurns()), "turn"))
	}
}

// in lists what the model sees, in its order.
func (v *contextView) in() {
	forms := formsOf(v.build.GetDecisions())
	shown(v.Sheet, "In", v.textWidth, v.factor, v.build.GetMessages(), func(m *pb.ContextMessage) string {
		index, ok := indexOf(m)
		if ok && forms[index] == "" && !m.GetShortened() {
			return "full" // an edit that no decision speaks of has brought it back
		}
		return forms[index]
	})
}

// shown is a table of a context's messages.
func shown(s *sheet.Sheet, title string, width textWidth, f factor, messages []*pb.ContextMessage, form func(*pb.ContextMessage) string) {
	s.Title(title)
	heaviest := int64(1)
	for _, m := range messages {
		heaviest = max(heaviest, int64(m.GetTokens()))
	}
	list := &sheet.Table{Sheet: s, Columns: width.column([]sheet.Column{
		{Title: "#", Right: true}, {Title: "message", Most: 20}, {Title: "tokens", Right: true}, {Title: ""}, {Title: "shown", Most: 24},
	})}
	rows := make([][]string, len(messages))
	for i, m := range messages {
		rows[i] = []string{
			name(m), kindOf(m), f.tokens(int64(m.GetTokens())), s.Bar(int64(m.GetTokens()), heaviest, s.Width/10, " "), shownAs(m, form(m)),
			width.excerpt(s, m.GetParts()),
		}[:len(list.Columns)]
	}
	list.Rows(rows)
}

// indexOf is the message of the record that a message of a context shows; false if it shows none.
func indexOf(m *pb.ContextMessage) (int32, bool) {
	origin, ok := m.GetOrigin().GetSource().(*pb.Origin_MessageIndex)
	if !ok {
		return 0, false
	}
	return origin.MessageIndex, true
}

// name is how a command asks for what a message of a context shows.
func name(m *pb.ContextMessage) string {
	if index, ok := indexOf(m); ok {
		return fmt.Sprint(index)
	}
	return m.GetOrigin().GetSummaryId()
}

func kindOf(m *pb.ContextMessage) string {
	switch {
	case m.GetOrigin().GetSummaryId() != "":
		return "summary"
	case m.GetOrigin().GetSynthetic() != "":
		return sheet.EnumText(m.GetRole()) + ", made up"
	default:
		return subject(m.GetRole(), m.GetParts())
	}
}

// shownAs is the form that decisions know of, or what can be told without them.
func shownAs(m *pb.ContextMessage, form string) string {
	switch _, ok := indexOf(m); {
	case form != "":
		return joinNonEmpty(" ", form, m.GetEditId(), contentIDs(m.GetParts()))
	case m.GetOrigin().GetSummaryId() != "" && m.GetShortened():
		return joinNonEmpty(" ", "summary, shortened", m.GetEditId())
	case m.GetOrigin().GetSummaryId() != "":
		return joinNonEmpty(" ", "summary", m.GetEditId())
	case !ok:
		return m.GetOrigin().GetSynthetic()
	case m.GetShortened():
		return joinNonEmpty(" ", "shortened", m.GetEditId())
	case m.GetEditId() != "":
		return joinNonEmpty(" ", "edited", m.GetEditId(), contentIDs(m.GetParts()))
	default:
		return "full"
	}
}

// formKinds are the decisions about messages that are shown, from what says least of how much is left to what says most.
var formKinds = []pb.DecisionKind{
	pb.DecisionKind_DECISION_KIND_CORRECTED, pb.DecisionKind_DECISION_KIND_DEFERRED, pb.DecisionKind_DECISION_KIND_DEDUPLICATED,
	pb.DecisionKind_DECISION_KIND_MASKED, pb.DecisionKind_DECISION_KIND_CLIPPED, pb.DecisionKind_DECISION_KIND_CITED,
	pb.DecisionKind_DECISION_KIND_COMPACTED, pb.DecisionKind_DECISION_KIND_PRUNED, pb.DecisionKind_DECISION_KIND_CLEARED,
}

// formsOf says of messages that are shown, by index, in which form.
func formsOf(decisions []*pb.Decision) map[int32]string {
	forms := map[int32]string{}
	for _, kind := range formKinds {
		for _, d := range decisions {
			if d.GetSummaryId() != "" { // it is the summary that is shortened
				continue
			}
			for i := d.GetStartIndex(); d.GetKind() == kind && i < d.GetEndIndex(); i++ {
				forms[i] = sheet.EnumText(kind)
			}
		}
	}
	return forms
}

// out lists what the model does not see as it was appended, and what was made up for the provider.
func (v *contextView) out() {
	if len(v.build.GetDecisions()) == 0 {
		v.Say("Everything on record is in, as it was appended.")
		return
	}
	v.Title("Out, or not as it was appended")
	list := &sheet.Table{Sheet: v.Sheet, Wrapped: true, Columns: []sheet.Column{
		{Title: "#", Right: true}, {Title: "what", Most: 12}, {Title: "tokens", Right: true}, {Title: "left", Right: true}, {Title: "by"}, {Title: "why"},
	}}
	_ = show(list, v.build.GetDecisions(), func(d *pb.Decision) []string {
		because := d.GetDetail()
		if because == "" {
			because = reasonText(d.GetReason())
		}
		return []string{
			indexRange(d.GetStartIndex(), d.GetEndIndex()), sheet.EnumText(d.GetKind()), v.factor.tokens(d.GetTokensBefore()), v.factor.tokens(d.GetTokensAfter()),
			joinNonEmpty(" ", d.GetSummaryId(), d.GetEditId(), v.handlesOf(d)), because,
		}
	})
}

// handlesOf are the contents that a decision about citing cites.
func (v *contextView) handlesOf(d *pb.Decision) string {
	for _, m := range v.build.GetMessages() {
		if index, ok := indexOf(m); ok && index == d.GetStartIndex() && d.GetKind() == pb.DecisionKind_DECISION_KIND_CITED {
			return contentIDs(m.GetParts())
		}
	}
	return ""
}

// manifestView prints an earlier build. What was decided in it is not on record; what was shown is.
type manifestView struct {
	*sheet.Sheet
	textWidth
	reply *pb.GetManifestResponse
}

func (v *manifestView) print(conversation string) {
	m := v.reply.GetManifest()
	f := factor(m.GetFactor())
	fields(v.Sheet, []field{
		{"conversation", fmt.Sprintf("%s, turn %d, build %s at %s UTC", conversation, m.GetTurn(), m.GetId(), timestamp(m.GetCreateTime()))},
		{"asked for", joinNonEmpty(", ", sheet.EnumText(m.GetFormat()), m.GetModel())},
		{"context", share(v.Sheet, m.GetTotalTokens(), m.GetBudgetTokens())},
		{"counted by", f.counter(m.GetCounter())},
		{"on record", fmt.Sprintf("%s and %s then; the window started at message %d",
			sheet.Count(int(m.GetMessageCount()), "message"), sheet.Count(int(m.GetEditSeq()), "edit"), m.GetWindowStartIndex())},
		{"policy", m.GetPolicyHash()},
		{"SHA-256", fmt.Sprintf("%s, by renderer %d", m.GetContentSha256(), m.GetRendererVersion())},
	}...)
	shown(v.Sheet, "In", v.textWidth, f, v.reply.GetMessages(), func(*pb.ContextMessage) string { return "" })
	v.missing()
}

// missing names the messages of then that were not shown themselves.
func (v *manifestView) missing() {
	seen := map[int32]bool{}
	for _, m := range v.reply.GetMessages() {
		if index, ok := indexOf(m); ok {
			seen[index] = true
		}
	}
	var out []string
	first := int32(0)
	for i := int32(0); i <= v.reply.GetManifest().GetMessageCount(); i++ {
		if i < v.reply.GetManifest().GetMessageCount() && !seen[i] {
			continue
		}
		if first < i {
			out = append(out, indexRange(first, i))
		}
		first = i + 1
	}
	if len(out) > 0 {
		v.Title("Out")
		v.Say(joinNonEmpty(", ", out...))
	}
}
