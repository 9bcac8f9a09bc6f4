package exportformat

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func (l *conversationLine) record() *engine.Conversation {
	out := &engine.Conversation{
		Info: engine.Info{
			ActorID:  l.ActorID,
			AgentID:  l.AgentID,
			Title:    l.Title,
			Metadata: l.Metadata,
			Policy:   conversation.Policy{Fit: conversation.FitPolicy(l.Policy.Fit), TTL: l.Policy.TTL},
			Counter:  l.Counter,
		},
		Head: l.Head.record(),
	}
	copy(out.Head.LastManifest[:], l.Head.LastManifest)
	return out
}

func (l *headLine) record() engine.Head {
	out := engine.Head{
		Version: l.Version, Revision: l.Revision,
		Messages: l.Messages, Tokens: l.Tokens, EditSeq: l.EditSeq, ManifestSeq: l.ManifestSeq,
		Turn: l.Turn, Seen: l.Seen, Start: l.Start,
		UnitStart: l.UnitStart, LeadingSystem: l.LeadingSystem, LastUser: l.LastUser, CallOrdinal: l.CallOrdinal,
		Pins:       each(l.Pins, (*rangeLine).record),
		CreateTime: l.CreateTime.UTC(), UpdateTime: l.UpdateTime.UTC(), ExpireTime: l.ExpireTime.UTC(),
	}
	out.Unanswered = grown(out.Unanswered, len(l.Unanswered))
	for i, c := range l.Unanswered {
		o := &out.Unanswered[i]
		o.CallID, o.Name, o.Ordinal, o.Message = c.CallID, c.Name, c.Ordinal, c.Message
	}
	return out
}

// grown makes a list of n elements like those of list, whose type belongs to the store and has no name here.
func grown[T any](_ []T, n int) []T {
	if n == 0 {
		return nil
	}
	return make([]T, n)
}

func (l *rangeLine) record() conversation.Range { return conversation.Range(*l) }

func (l *actionLine) record() conversation.ActionRef { return conversation.ActionRef(*l) }

func (l *messageLine) record() *conversation.Message {
	return &conversation.Message{
		ID: l.ID, Index: l.Index, Role: conversation.Role(l.Role), Parts: each(l.Parts, (*partLine).record),
		Type: conversation.MessageType(l.Type), Actions: each(l.Actions, (*actionLine).record), Pinned: l.Pinned, Model: l.Model,
		RunID: l.RunID, StepID: l.StepID, Tags: l.Tags, Metadata: l.Metadata, CreateTime: l.CreateTime.UTC(), TurnAdded: l.TurnAdded,
		Tokens: l.Tokens, Estimated: l.Estimated, RequestID: l.RequestID, Commit: l.Commit,
	}
}

func inline(s string) conversation.Content { return conversation.Content{Inline: s} }

// record trusts that check found exactly one kind.
func (l *partLine) record() conversation.Part {
	out := conversation.Part{Tokens: l.Tokens, Estimated: l.Estimated}
	switch {
	case l.Text != nil:
		out.Kind, out.Text = conversation.PartText, inline(*l.Text)
	case l.Media != nil:
		out.Kind, out.Media = conversation.PartMedia, l.Media.record()
	case l.ToolCall != nil:
		c := l.ToolCall
		out.Kind = conversation.PartToolCall
		out.Call = &conversation.ToolCall{CallID: c.CallID, Name: c.Name, Arguments: inline(c.Arguments), Ordinal: c.Ordinal}
	case l.ToolResult != nil:
		out.Kind, out.Result = conversation.PartToolResult, l.ToolResult.record()
	case l.Reasoning != nil:
		r := l.Reasoning
		out.Kind = conversation.PartReasoning
		out.Reasoning = &conversation.Reasoning{Text: inline(r.Text), Signature: inline(r.Signature), Provider: r.Provider, Model: r.Model}
	case l.Opaque != nil:
		out.Kind, out.Opaque = conversation.PartOpaque, &conversation.Opaque{Provider: l.Opaque.Provider, JSON: inline(l.Opaque.JSON)}
	}
	return out
}

func (l *mediaLine) record() *conversation.Media {
	if l == nil {
		return nil
	}
	return &conversation.Media{MIMEType: l.MIMEType, Data: inline(string(l.Data)), URI: l.URI, Detail: l.Detail}
}

func (l *resultLine) record() *conversation.ToolResult {
	out := &conversation.ToolResult{
		CallID: l.CallID, Name: l.Name, State: conversation.ResultState(l.State), Actions: each(l.Actions, (*actionLine).record),
		Ordinal: l.Ordinal,
	}
	switch {
	case l.Text != nil:
		out.Text = inline(*l.Text)
	case l.JSON != nil:
		out.Output, out.Text = conversation.OutputJSON, inline(*l.JSON)
	case l.Parts != nil:
		out.Output, out.Parts = conversation.OutputParts, each(l.Parts, (*pieceLine).record)
	}
	return out
}

func (l *pieceLine) record() conversation.ResultPart {
	if l.Media != nil {
		return conversation.ResultPart{Media: l.Media.record()}
	}
	return conversation.ResultPart{Text: inline(*l.Text)}
}

func (l *editLine) record() *conversation.Edit {
	out := &conversation.Edit{
		Seq: l.Seq, Kind: conversation.EditKind(l.Kind), Range: l.Range.record(), Mask: l.Mask, Reason: conversation.Reason(l.Reason),
		Turn: l.Turn, Time: l.Time.UTC(), Before: l.Before, After: l.After, Commit: l.Commit,
		Parts: each(l.Parts, func(p *shownLine) conversation.PartEdit {
			return conversation.PartEdit{Part: p.Part, Level: conversation.Level(p.Level), Shown: p.Shown.record()}
		}),
	}
	if s := l.Summary; s != nil {
		out.Summary = &conversation.Summary{ID: s.ID, Level: s.Level, Children: s.Children, Text: inline(s.Text), Tokens: s.Tokens}
	}
	return out
}

func (l *manifestLine) record() *conversation.Manifest {
	return &conversation.Manifest{
		Seq: l.Seq, Turn: l.Turn, Format: conversation.Format(l.Format), Model: l.Model, MessageCount: l.MessageCount,
		EditSeq: l.EditSeq, Window: conversation.Window{Start: l.WindowStart, Anchor: l.WindowAnchor},
		LeadingSystem: l.LeadingSystem, Pins: each(l.Pins, (*rangeLine).record), Budget: l.Budget, Tokens: l.Tokens,
		FixedTokens: l.FixedTokens, FixedHash: l.FixedHash, Counter: l.Counter, Factor: l.Factor, PolicyHash: l.PolicyHash,
		RendererVersion: l.RendererVersion, SHA256: l.SHA256, Time: l.Time.UTC(), Revision: l.Revision, Blocks: l.Blocks,
		UsageReported: l.UsageReported,
	}
}
