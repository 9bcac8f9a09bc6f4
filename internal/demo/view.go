package demo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

func (a *agent) opening(c *Command) {
	a.Rule("an agent explores " + a.tree.name)
	a.Paragraph("The agent's words are a script. Its tools are real: they read this machine's files now. Everything goes through " +
		"the sidecar over gRPC, and below stands what a model would be sent in each turn.")
	a.Paragraph("Window %s tokens, an eighth of it left for the answer. Format %s. No model is called.", number(c.Window), c.Format)
	a.Paragraph("Results live for some turns in full: listings for 1, then they leave; what was searched for 3 and what was read " +
		"for 2, then a short form stays; manuals for 4. Plugins add words to questions and to failures, for one build, for a while or for good.")
	a.Paragraph("The row of letters is the record: s system, u user, a assistant, t tool result, T clipped, c compacted, - cleared; ·12· " +
		"are twelve messages that the model does not see, [12] twelve that a summary stands for.")
}

// letters are what the row of letters shows of a message that is not in view in full; who speaks, where it is empty.
var letters = map[pb.DecisionKind]string{
	pb.DecisionKind_DECISION_KIND_CLIPPED: "T", pb.DecisionKind_DECISION_KIND_COMPACTED: "c", pb.DecisionKind_DECISION_KIND_CLEARED: "-",
	pb.DecisionKind_DECISION_KIND_PRUNED: "-", pb.DecisionKind_DECISION_KIND_REMOVED: "", pb.DecisionKind_DECISION_KIND_SUMMARIZED: "",
}

// note remembers what the newest view shows of each message, and returns how many changes wait.
func (a *agent) note(decisions []*pb.Decision) (waiting int) {
	for i := range a.entries {
		a.entries[i].shown = pb.DecisionKind_DECISION_KIND_UNSPECIFIED
	}
	for _, d := range decisions {
		if d.Kind == pb.DecisionKind_DECISION_KIND_DEFERRED {
			waiting++
		}
		for i := d.StartIndex; i < d.EndIndex; i++ {
			if _, ok := letters[d.Kind]; ok {
				a.entries[i].shown = d.Kind
			}
		}
	}
	for i := range indexesOf(a.lastView) {
		if a.entries[i].summarized() { // an exception: the summary does not stand for it
			a.entries[i].shown = pb.DecisionKind_DECISION_KIND_UNSPECIFIED
		}
	}
	return waiting
}

// showView prints what the model sees: how much of the budget, which messages, what of it the provider's cache has, and what this
// build changed.
func (a *agent) showView(b *pb.BuildContextResponse) {
	t, waiting := b.GetTokens(), a.note(b.GetDecisions())
	row, inView := a.strip(a.lastView)
	a.Rule(fmt.Sprintf("turn %d", b.GetTurn()))
	a.Put("context", fmt.Sprintf("%s %s of %s tokens, %d of %d messages",
		a.bar(t.GetTotal(), t.GetBudget(), a.Width/4), number(t.GetTotal()), number(t.GetBudget()), inView, len(a.entries)))
	a.Row("sees", "", "%s", sheet.CutStart(row, a.Room()))
	a.Row("cache", "", "%s", prefixWords(b.GetPrefix(), t.GetTotal()))
	for _, e := range b.GetEvents() {
		if e.Type == pb.EventType_EVENT_TYPE_CLIPPED {
			of := &a.entries[e.MessageIndex]
			of.saved = e.TokensSaved
			a.Row("clipped", sheet.Yellow, "#%d %s: %s → %s tokens", e.MessageIndex, of.label, number(of.tokens), number(of.tokens-of.saved))
		}
	}
	for _, c := range changesOf(b.GetEvents()) {
		a.showChange(c, a.example(c))
	}
	a.count(b.GetEvents())
	if waiting > 0 {
		a.Row("waiting", sheet.Dim, "%d due, until changing old text costs less than it saves", waiting)
	}
}

func prefixWords(p *pb.PrefixReport, total int64) string {
	share := fmt.Sprintf("%d %% stood in the last one, byte for byte", p.GetStableTokens()*100/max(total, 1))
	switch p.GetBrokenBy() {
	case pb.PrefixBreak_PREFIX_BREAK_UNSPECIFIED:
		return share
	case pb.PrefixBreak_PREFIX_BREAK_FIRST_BUILD:
		return "nothing yet: the first context"
	}
	return share + "; changed: " + sheet.EnumText(p.GetBrokenBy())
}

// strip writes the record as a row of letters, one for each message that the model sees: s, u, a and t for who speaks, T for a
// clipped result, c for a compacted one and - for one that a placeholder stands for. What it does not see is a number: between dots,
// or in brackets where a summary stands for it.
func (a *agent) strip(view []*pb.ContextMessage) (row string, inView int) {
	seen, gap := indexesOf(view), 0
	for i := range a.entries {
		e := &a.entries[i]
		if seen[int32(i)] {
			row += e.letter()
			continue
		}
		gap++
		next := i + 1
		if next < len(a.entries) && !seen[int32(next)] && a.entries[next].summarized() == e.summarized() {
			continue
		}
		row, gap = row+fmt.Sprintf(map[bool]string{false: "·%d·", true: "[%d]"}[e.summarized()], gap), 0
	}
	return row, len(seen)
}

// indexesOf says which messages of the record a context shows.
func indexesOf(view []*pb.ContextMessage) map[int32]bool {
	seen := make(map[int32]bool, len(view))
	for _, m := range view {
		if origin, ok := m.GetOrigin().GetSource().(*pb.Origin_MessageIndex); ok {
			seen[origin.MessageIndex] = true
		}
	}
	return seen
}

func (e *entry) summarized() bool { return e.shown == pb.DecisionKind_DECISION_KIND_SUMMARIZED }

func (e *entry) letter() string { return cmp.Or(letters[e.shown], sheet.EnumText(e.role)[:1]) }

// change is what happened to messages in one build in the same way.
type change struct {
	kind     pb.EventType
	messages []int32 // the first and the last, of a summary
	saved    int64   // tokens
	summary  string  // the id of the one that stands for them
}

// changesOf brings together what happened in the same way, in the order of what came first. Clipping is shown apart, and what expired
// and was removed, as removed.
func changesOf(events []*pb.LifecycleEvent) (out []change) {
	removed := func(message int32) bool {
		return slices.ContainsFunc(events, func(e *pb.LifecycleEvent) bool {
			return e.MessageIndex == message && e.Type == pb.EventType_EVENT_TYPE_REMOVED
		})
	}
	for _, e := range events {
		i := slices.IndexFunc(out, func(c change) bool { return c.kind == e.Type })
		switch {
		case e.Type == pb.EventType_EVENT_TYPE_CLIPPED, e.Type == pb.EventType_EVENT_TYPE_EXPIRED && removed(e.MessageIndex):
		case e.Type == pb.EventType_EVENT_TYPE_SUMMARIZED:
			out = append(out, change{e.Type, []int32{e.MessageIndex, e.EndIndex - 1}, e.TokensSaved, e.SummaryId})
		case i < 0:
			out = append(out, change{kind: e.Type, messages: []int32{e.MessageIndex}, saved: e.TokensSaved})
		default:
			out[i].messages = append(out[i].messages, e.MessageIndex)
			out[i].saved += e.TokensSaved
		}
	}
	return out
}

// count adds events up for the end.
func (a *agent) count(events []*pb.LifecycleEvent) {
	for _, e := range events {
		a.events[e.Type]++
	}
}

// example is what the view shows in the place of what was let go, in the first change of its kind: of tool results the last one, which
// is the largest as often as not. Summaries are always shown.
func (a *agent) example(c change) string {
	if c.kind == pb.EventType_EVENT_TYPE_RETENTION_APPLIED || a.events[c.kind] > 0 && c.summary == "" {
		return ""
	}
	for _, m := range a.lastView {
		if id := m.GetOrigin().GetSummaryId(); id != "" && id == c.summary {
			return m.Parts[0].GetText()
		}
		if indexesOf([]*pb.ContextMessage{m})[c.messages[len(c.messages)-1]] && c.summary == "" {
			return m.Parts[0].GetToolResult().GetText()
		}
	}
	return ""
}

// changeWords are the label of each kind of change, and what it means.
var changeWords = map[pb.EventType][2]string{
	pb.EventType_EVENT_TYPE_COMPACTED:         {"compacted", "a short form stays"},
	pb.EventType_EVENT_TYPE_EXPIRED:           {"cleared", "a placeholder stays"},
	pb.EventType_EVENT_TYPE_REMOVED:           {"removed", "with what was said about it"},
	pb.EventType_EVENT_TYPE_RETENTION_APPLIED: {"retention", "words of plugins are shown no longer"},
	pb.EventType_EVENT_TYPE_PRUNED:            {"pruned", "a placeholder stays"},
	pb.EventType_EVENT_TYPE_SUMMARIZED:        {"summary", "stands for them"},
}

// How many lines are shown of what stands for a result, and of a summary.
const (
	exampleLines = 3
	summaryLines = 6
)

// showChange prints what was let go, and some of what stands for it now.
func (a *agent) showChange(c change, example string) {
	words, ok := changeWords[c.kind]
	if !ok {
		return
	}
	a.Row(words[0], sheet.Yellow, "%s: %s, %s tokens fewer", c.which(), strings.TrimSpace(c.summary+" "+words[1]), number(c.saved))
	lines, most := a.Wrap(example, a.Room()), exampleLines
	if c.summary != "" {
		lines, most = linesOf(example), summaryLines
	}
	if example != "" {
		a.Block("", lines[:min(most, len(lines))], most, 0, 0)
	}
}

// which names the messages, the first few of them: of a summary the first and the last.
func (c change) which() string {
	const most = 6
	if c.summary != "" {
		return fmt.Sprintf("#%d to #%d", c.messages[0], c.messages[1])
	}
	more, names := len(c.messages)-most, fmt.Sprintf("#%d", c.messages[0])
	for _, m := range c.messages[1:min(most, len(c.messages))] {
		names += fmt.Sprintf(", #%d", m)
	}
	if more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return names
}
