package engine

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// result is the answer of a build.
func (d *deciding) result(a *provider.Assembly, m conversation.Manifest) *BuildResult {
	r := &BuildResult{Turn: d.turn, Manifest: m, Revision: m.Revision}
	r.write(m.Format, d.out, a)
	total := d.fixed + d.out.tokens()
	r.Tokens = TokenReport{
		Fixed: d.fixed, Messages: d.out.tokens(), Total: scaled(total, d.settings.factor), Budget: d.settings.budget,
		Counter: d.settings.counter.Name(), Factor: d.settings.factor,
	}
	r.explain(d.out, &m, d.window.head.Tokens)
	r.Events = events(d.edits)
	return r
}

// write puts the context into the answer, in the shape of its format.
func (r *BuildResult) write(f conversation.Format, out *composition, a *provider.Assembly) {
	r.SHA256, r.Blocks, r.Breakpoints = a.Sum(), int32(len(a.Blocks())), out.breakpoints()
	if f == conversation.FormatNeutral {
		r.Messages = out.messages
		return
	}
	r.System, r.MessagesJSON = a.System(), a.Messages()
}

// explain says why messages are not shown as they were appended. recorded is what all messages on record weigh.
func (r *BuildResult) explain(out *composition, m *conversation.Manifest, recorded int64) {
	shown := int64(0)
	for i := range out.units {
		for j := range out.units[i].Items {
			it := &out.units[i].Items[j]
			shown += int64(it.Message.Tokens)
			r.Tokens.SavedByClipping += it.Saved
			r.Tokens.Estimated = r.Tokens.Estimated || it.Message.Estimated
			if it.Level > conversation.Full {
				r.Decisions = append(r.Decisions, clipped(it))
			}
		}
	}
	if m.Window.Start > m.LeadingSystem {
		r.Tokens.SavedByFit = max(recorded-shown, 0)
		r.Decisions = append(r.Decisions, conversation.Decision{
			First: m.LeadingSystem, Last: m.Window.Start - 1,
			Kind: conversation.DecisionLeftOut, Reason: conversation.ReasonBeforeWindow, Before: r.Tokens.SavedByFit,
		})
	}
	for _, p := range out.repairs {
		d := conversation.Decision{First: p.Index, Last: p.Index, Kind: conversation.DecisionRepaired, Reason: p.Reason}
		d.Before, d.After = max(-p.Tokens, 0), max(p.Tokens, 0)
		r.Decisions = append(r.Decisions, d)
	}
}

func clipped(it *conversation.Item) conversation.Decision {
	after := it.Tokens()
	return conversation.Decision{
		First: it.Message.Index, Last: it.Message.Index, Kind: conversation.DecisionClipped, Reason: it.Reason,
		Before: after + it.Saved, After: after, EditSeq: it.EditSeq,
	}
}

func events(edits []conversation.Edit) []conversation.Event {
	out := make([]conversation.Event, 0, len(edits))
	for i := range edits {
		e := &edits[i]
		out = append(out, conversation.Event{
			Type: conversation.EventClipped, Turn: e.Turn, Index: e.Range.First, Reason: e.Reason,
			Saved: e.Before - e.After, EditSeq: e.Seq, Level: conversation.Shortened,
		})
	}
	return out
}
