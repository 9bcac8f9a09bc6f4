package demo

import (
	palimpsestv1 "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// change is what happened to messages in one build in the same way.
type change struct {
	kind     palimpsestv1.EventType
	messages []int32
	saved    int64  // tokens
	example  string // what the view shows of one of them, in the first change of its kind
	summary  string // the id of the one that stands for them; messages are its first and its last then
}

// note remembers what the newest view shows of each message, and what has changed.
func (a *agent) note(t *turn) {
	for i := range a.entries {
		a.entries[i].shown = palimpsestv1.DecisionKind_DECISION_KIND_UNSPECIFIED
	}
	for _, d := range t.build.Decisions {
		a.decided(t, d)
	}
	for i := range seenIn(a.last.Messages) {
		if a.entries[i].summarized() { // an exception: the summary does not stand for it
			a.entries[i].shown = palimpsestv1.DecisionKind_DECISION_KIND_UNSPECIFIED
		}
	}
	t.changes = changesOf(t.build.Events)
	for i := range t.changes {
		if c := &t.changes[i]; a.let[c.kind] == 0 || c.summary != "" {
			c.example = a.example(c)
		}
	}
	a.count(t.build.Events)
}

// example is what the newest view shows of a tool result that was compacted or cleared: the last of them, which is the largest
// as often as not. Of a summary it is the summary.
func (a *agent) example(c *change) string {
	if c.kind == palimpsestv1.EventType_EVENT_TYPE_RETENTION_APPLIED {
		return ""
	}
	for _, m := range a.last.Messages {
		if id := m.GetOrigin().GetSummaryId(); id != "" && id == c.summary {
			return m.Parts[0].GetText()
		}
		if index, ok := originOf(m); ok && index == c.messages[len(c.messages)-1] {
			return m.Parts[0].GetToolResult().GetText()
		}
	}
	return ""
}

func (a *agent) decided(t *turn, d *palimpsestv1.Decision) {
	switch d.Kind {
	case palimpsestv1.DecisionKind_DECISION_KIND_DEFERRED:
		t.waiting++
	case palimpsestv1.DecisionKind_DECISION_KIND_CLIPPED:
		a.clipped(t, d)
		a.entries[d.StartIndex].shown = d.Kind
	case palimpsestv1.DecisionKind_DECISION_KIND_COMPACTED, palimpsestv1.DecisionKind_DECISION_KIND_CLEARED,
		palimpsestv1.DecisionKind_DECISION_KIND_PRUNED:
		a.entries[d.StartIndex].shown = d.Kind
	case palimpsestv1.DecisionKind_DECISION_KIND_REMOVED, palimpsestv1.DecisionKind_DECISION_KIND_SUMMARIZED:
		for i := d.StartIndex; i < d.EndIndex; i++ {
			a.entries[i].shown = d.Kind
		}
	}
}

// clipped remembers a result that had not been clipped before.
func (a *agent) clipped(t *turn, d *palimpsestv1.Decision) {
	e := &a.entries[d.StartIndex]
	if saved := d.TokensBefore - d.TokensAfter; e.saved != saved {
		e.saved = saved
		t.clipped = append(t.clipped, reduction{*e, d.StartIndex, d.TokensBefore, d.TokensAfter})
	}
}

// count adds events up for the end.
func (a *agent) count(events []*palimpsestv1.LifecycleEvent) {
	for _, e := range events {
		a.let[e.Type]++
	}
}

// changesOf brings together what happened in the same way, in the order of what came first.
func changesOf(events []*palimpsestv1.LifecycleEvent) (out []change) {
	at, left := map[palimpsestv1.EventType]int{}, map[int32]bool{}
	for _, e := range events {
		left[e.MessageIndex] = left[e.MessageIndex] || e.Type == palimpsestv1.EventType_EVENT_TYPE_REMOVED
	}
	for _, e := range events {
		expired := e.Type == palimpsestv1.EventType_EVENT_TYPE_EXPIRED
		if e.Type == palimpsestv1.EventType_EVENT_TYPE_CLIPPED || expired && left[e.MessageIndex] {
			continue // shown apart, or with the rest of its unit
		}
		if e.Type == palimpsestv1.EventType_EVENT_TYPE_SUMMARIZED {
			out = append(out, change{kind: e.Type, messages: []int32{e.MessageIndex, e.EndIndex - 1}, saved: e.TokensSaved, summary: e.SummaryId})
			continue
		}
		i, ok := at[e.Type]
		if !ok {
			i, at[e.Type] = len(out), len(out)
			out = append(out, change{kind: e.Type})
		}
		out[i].messages = append(out[i].messages, e.MessageIndex)
		out[i].saved += e.TokensSaved
	}
	return out
}
