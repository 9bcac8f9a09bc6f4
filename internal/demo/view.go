package demo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

func (p *player) opening() {
	p.Rule("an agent explores " + p.tree.name)
	p.Paragraph("The agent's words are a script. Its tools are real: they read this machine's files now. Everything goes through " +
		"the sidecar over gRPC, and below stands what a model would be sent in each turn.")
	p.Paragraph("Window %s tokens, an eighth of it left for the answer. Format %s. No model is called.", number(p.flags.Window), p.flags.Format)
	p.Paragraph("Results live for some turns in full: listings for 1, then they leave; what was searched for 3 and what was read " +
		"for 2, then a short form stays; manuals for 4. Plugins add words to questions and to failures, for one build, for a while or for good.")
	p.Paragraph("The row of letters is the record: s system, u user, a assistant, t tool result; T clipped, c compacted, - cleared; " +
		"· a message that the model does not see, = one that a summary stands for.")
}

// letters are what the row shows of a message that is not in view in full; who speaks, where there is none.
var letters = map[pb.DecisionKind]string{
	pb.DecisionKind_DECISION_KIND_CLIPPED: "T", pb.DecisionKind_DECISION_KIND_COMPACTED: "c",
	pb.DecisionKind_DECISION_KIND_CLEARED: "-", pb.DecisionKind_DECISION_KIND_PRUNED: "-",
}

// strip writes the record as a row of letters, one for each message.
func (p *player) strip(decisions []*pb.Decision) (row string) {
	for i, e := range p.entries {
		letter, unseen := "", "·"
		for _, d := range decisions {
			if d.GetStartIndex() <= int32(i) && int32(i) < d.GetEndIndex() {
				letter = cmp.Or(letters[d.GetKind()], letter)
				if d.GetKind() == pb.DecisionKind_DECISION_KIND_SUMMARIZED {
					unseen = "="
				}
			}
		}
		if slices.ContainsFunc(p.view, func(m *pb.ContextMessage) bool { return shows(m, int32(i)) }) {
			row += cmp.Or(letter, sheet.EnumText(e.role)[:1])
		} else {
			row += unseen
		}
	}
	return row
}

// shows says whether a message of a context shows that message of the record.
func shows(m *pb.ContextMessage, index int32) bool {
	origin, ok := m.GetOrigin().GetSource().(*pb.Origin_MessageIndex)
	return ok && origin.MessageIndex == index
}

// showView prints what the model sees: how much of the budget, which messages, what of it the provider's cache has, and what this
// build changed.
func (p *player) showView(b *pb.BuildContextResponse) {
	t, prefix, waiting := b.GetTokens(), b.GetPrefix(), 0
	for _, d := range b.GetDecisions() {
		if d.GetKind() == pb.DecisionKind_DECISION_KIND_DEFERRED {
			waiting++
		}
	}
	p.row = p.strip(b.GetDecisions())
	seen := len(p.entries) - strings.Count(p.row, "·") - strings.Count(p.row, "=")
	p.Rule(fmt.Sprintf("turn %d", b.GetTurn()))
	p.Put("context", fmt.Sprintf("%s %s of %s tokens, %d of %d messages",
		p.Paint(sheet.Green, p.Bar(t.GetTotal(), t.GetBudget(), p.Width/4, "░")), number(t.GetTotal()), number(t.GetBudget()), seen, len(p.entries)))
	p.Row("sees", "", "%s", sheet.CutStart(p.row, p.Room()))
	cache := fmt.Sprintf("%d %% stood in the last one, byte for byte", prefix.GetStableTokens()*100/max(t.GetTotal(), 1))
	if prefix.GetBrokenBy() != pb.PrefixBreak_PREFIX_BREAK_UNSPECIFIED {
		cache += "; changed: " + sheet.EnumText(prefix.GetBrokenBy())
	}
	p.Row("cache", "", "%s", cache)
	p.showChanges(b.GetEvents())
	if waiting > 0 {
		p.Row("waiting", sheet.Dim, "%d due, until changing old text costs less than it saves", waiting)
	}
}

// changes are what can happen to messages, what it belongs to, and how many lines are shown of what stands for one then.
var changes = []struct {
	kind             pb.EventType
	label, by, means string
	lines            int
}{
	{pb.EventType_EVENT_TYPE_CLIPPED, "clipped", "clipping", "head and tail are shown", 0},
	{pb.EventType_EVENT_TYPE_RETENTION_APPLIED, "retention", "retention", "words of plugins are shown no longer", 0},
	{pb.EventType_EVENT_TYPE_COMPACTED, "compacted", "expiry", "a short form stays", 2},
	{pb.EventType_EVENT_TYPE_REMOVED, "removed", "expiry", "with what was said about it", 0},
	{pb.EventType_EVENT_TYPE_EXPIRED, "cleared", "expiry", "a placeholder stays", 1},
	{pb.EventType_EVENT_TYPE_PRUNED, "pruned", "pruning", "a placeholder stays", 1},
	{pb.EventType_EVENT_TYPE_SUMMARIZED, "summary", "compaction", "it stands for them", 6},
}

// showChanges prints what was let go, and some of what stands for the last of the messages now.
func (p *player) showChanges(events []*pb.LifecycleEvent) {
	for _, c := range changes {
		var names, lines []string
		saved := int64(0)
		for _, e := range events {
			// What expired and was removed is shown as removed.
			if e.GetType() == c.kind && (c.label != "cleared" || e.GetView().GetLevel() == pb.ViewLevel_VIEW_LEVEL_CLEARED) {
				names, lines, saved = append(names, p.nameOf(e)), p.instead(e), saved+e.GetTokensSaved()
			}
		}
		if len(names) == 0 {
			continue
		}
		p.changed[c.by] += len(names)
		if c.by == "clipping" {
			p.clippedOff += saved
		}
		if more := len(names) - most; more > 0 {
			names = append(names[:most], fmt.Sprintf("%d more", more))
		}
		p.Wrapped(c.label, sheet.Yellow, "%s: %s, %s tokens fewer", strings.Join(names, ", "), c.means, number(saved))
		p.Block("", lines[:min(c.lines, len(lines))], c.lines, 0, 0)
	}
}

// most is how many messages are named that changed alike.
const most = 6

// nameOf says which messages an event is about.
func (p *player) nameOf(e *pb.LifecycleEvent) string {
	switch {
	case e.GetSummaryId() != "":
		return fmt.Sprintf("%s for #%d to #%d", e.GetSummaryId(), e.GetMessageIndex(), e.GetEndIndex()-1)
	case e.GetType() == pb.EventType_EVENT_TYPE_CLIPPED:
		of := &p.entries[e.GetMessageIndex()]
		return fmt.Sprintf("#%d %s of %s tokens", e.GetMessageIndex(), of.call, number(of.tokens))
	}
	return fmt.Sprintf("#%d", e.GetMessageIndex())
}

// instead is what the view shows in the place of what an event let go, in lines.
func (p *player) instead(e *pb.LifecycleEvent) []string {
	for _, m := range p.view {
		summary := e.GetSummaryId() != "" && e.GetSummaryId() == m.GetOrigin().GetSummaryId()
		if summary || e.GetSummaryId() == "" && shows(m, e.GetMessageIndex()) {
			return linesOf(textOf(m.GetParts()))
		}
	}
	return nil
}

// linesOf are the lines of a text that say anything.
func linesOf(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
}

// number writes n with its digits grouped.
func number[N int | int32 | int64](n N) string { return terminal.Number(int64(n)) }
