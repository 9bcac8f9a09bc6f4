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
			Policy:   l.Policy.record(),
			Counter:  l.Counter,
		},
		Head: l.Head.record(),
	}
	copy(out.Head.LastManifest[:], l.Head.LastManifest)
	return out
}

func (l *stateLine) record() *engine.State {
	return &engine.State{Slots: l.Slots, Rewinds: each(l.Rewinds, (*rangeLine).record), Runs: each(l.Runs, (*runLine).record)}
}

// index is an index that may be absent.
func index(i *int32) int32 {
	if i == nil {
		return -1
	}
	return *i
}

func (l *cutLine) record() conversation.Cut { return conversation.Cut(*l) }

func (l *headLine) record() engine.Head {
	out := engine.Head{
		Version: l.Version, Revision: l.Revision,
		Messages: l.Messages, Tokens: l.Tokens, EditSeq: l.EditSeq, ManifestSeq: l.ManifestSeq,
		Turn: l.Turn, Seen: l.Seen, SeenBefore: l.SeenBefore, Start: l.Start,
		UnitStart: l.UnitStart, CallsEnd: l.CallsEnd, LeadingSystem: l.LeadingSystem, Request: l.Request, Opening: index(l.Opening), CallOrdinal: l.CallOrdinal,
		Place:      conversation.Place(l.Place),
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

func (l *policyLine) record() conversation.Policy {
	return conversation.Policy{
		Fit: conversation.FitPolicy(l.Fit), TTL: l.TTL, TTLWithoutTombstone: l.TTLWithoutTombstone, Retention: conversation.RetentionPolicy(l.Retention), MaxWait: l.MaxWait,
		Expiration: conversation.ExpirationPolicy{Off: l.Expiration.Off, Results: *l.Expiration.Results.record()},
		Rewrite: conversation.RewritePolicy{
			Mode: conversation.RewriteMode(l.Rewrite.Mode), MinGainTokens: l.Rewrite.MinGainTokens,
			MaxDeferralTurns: l.Rewrite.MaxDeferralTurns, ColdAfter: l.Rewrite.ColdAfter, ExpectTurns: l.Rewrite.ExpectTurns,
		},
		Pruning: conversation.PruningPolicy(l.Pruning),
		Compaction: conversation.CompactionPolicy{
			Strategy: conversation.Strategy(l.Compaction.Strategy), ThresholdMessages: l.Compaction.ThresholdMessages,
			PreparePercent: l.Compaction.PreparePercent, KeepRecent: l.Compaction.KeepRecent, TailPercent: l.Compaction.TailPercent,
			TargetPercent: l.Compaction.TargetPercent, MinShrinkPercent: l.Compaction.MinShrinkPercent, FanOut: l.Compaction.FanOut,
			SummaryTokens: l.Compaction.SummaryTokens, PromptID: l.Compaction.PromptID, CountReasoning: l.Compaction.CountReasoning,
			ListTokens: l.Compaction.ListTokens, LivePrefix: l.Compaction.LivePrefix, SummaryInputTokens: l.Compaction.SummaryInputTokens,
		},
		Citations:     conversation.CitationsPolicy(l.Citations),
		Deduplication: conversation.DeduplicationPolicy(l.Deduplication),
		Memory:        l.Memory.record(),
	}
}

func (l *expirationLine) record() *conversation.Expiration {
	if l == nil {
		return nil
	}
	return &conversation.Expiration{
		Turns: l.Turns, Mode: conversation.ExpirationMode(l.Mode), CompactMode: conversation.CompactMode(l.CompactMode),
		CompactLength: l.CompactLength, CompactPromptID: l.CompactPromptID, PreserveOriginal: l.PreserveOriginal,
		Source: conversation.ExpirationSource(l.Source),
	}
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
	out := &conversation.Message{
		ID: l.ID, Index: l.Index, Role: conversation.Role(l.Role), Name: l.Name, Parts: each(l.Parts, (*partLine).record),
		Type: conversation.MessageType(l.Type), Actions: each(l.Actions, (*actionLine).record), Pinned: l.Pinned, Model: l.Model,
		RunID: l.RunID, StepID: l.StepID, Tags: l.Tags, Metadata: l.Metadata, CreateTime: l.CreateTime.UTC(), TurnAdded: l.TurnAdded,
		Tokens: l.Tokens, Estimated: l.Estimated, RequestID: l.RequestID, Commit: l.Commit,
		Expiration: l.Expiration.record(), Place: conversation.Place(l.Place), RequestBack: l.RequestBack,
		Importance: conversation.Importance(l.Importance),
	}
	if l.Unit != nil {
		out.Unit = *l.Unit + 1
	}
	return out
}

func inline(s string) conversation.Content { return conversation.Content{Inline: s} }

// record trusts that check found at most one kind, and that what is erased names contents of it.
func (l *partLine) record() conversation.Part {
	out := []conversation.Part{l.content()}
	p := &out[0]
	p.Tokens, p.Estimated = l.Tokens, l.Estimated
	p.Retention, p.Plugin, p.Variant = l.Retention.record(), l.Plugin, conversation.Variant(l.Variant)
	p.Citation, p.Recalled = l.Citation.record(), recalledMemories(l.Recalled)
	p.Residue = (*conversation.Residue)(l.Residue)
	if len(l.Erased) > 0 {
		contents := conversation.Contents(out)
		for i := range l.Erased {
			*contents[l.Erased[i].Content] = l.Erased[i].record()
		}
	}
	return *p
}

func (l *retentionLine) record() conversation.Retention {
	switch {
	case l.Permanent:
		return conversation.Retention{Kind: conversation.RetentionPermanent}
	case l.KeepLast != nil:
		return conversation.Retention{Kind: conversation.RetentionKeepLast, Last: *l.KeepLast}
	default:
		return conversation.Retention{}
	}
}

func (l *erasedLine) record() conversation.Content {
	return conversation.Content{Erased: &conversation.ErasedContent{Bytes: l.Bytes, Chars: l.Chars, Hash: l.Hash}}
}

func (l *partLine) content() conversation.Part {
	var out conversation.Part
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
		Expiration: l.Expiration.record(), Ordinal: l.Ordinal, Recalled: l.Recalled.record(), Source: l.Source.record(),
		Importance: conversation.Importance(l.Importance),
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
		Turn: l.Turn, Time: l.Time.UTC(), Before: l.Before, After: l.After, Erases: l.Erases, Content: l.Content, Commit: l.Commit,
		Said: l.Said, Brought: l.Brought,
		Parts: each(l.Parts, func(p *shownLine) conversation.PartEdit {
			return conversation.PartEdit{Part: p.Part, Level: conversation.Level(p.Level), Shown: p.Shown.record(), Copies: each(p.Copies, (*copyLine).record)}
		}),
	}
	if l.Summary != nil {
		out.Summary = l.Summary.record()
	}
	return out
}

func (l *summaryLine) record() *conversation.Summary {
	out := &conversation.Summary{
		ID: l.ID, Level: l.Level, Children: l.Children, Text: inline(l.Text), Tokens: l.Tokens,
		Except: each(l.Except, (*rangeLine).record), Verbatim: each(l.Verbatim, (*rangeLine).record), Facts: inline(l.Facts), Model: l.Model, Recorded: l.Recorded, Erased: l.OriginalErased,
	}
	if l.Erased != nil {
		out.Text = l.Erased.record()
	}
	if l.FactsErased != nil {
		out.Facts = l.FactsErased.record()
	}
	return out
}

func (l *manifestLine) record() *conversation.Manifest {
	return &conversation.Manifest{
		Seq: l.Seq, Turn: l.Turn, Format: conversation.Format(l.Format), Model: l.Model, MessageCount: l.MessageCount,
		EditSeq: l.EditSeq, Window: conversation.Window{
			Start: l.WindowStart, Request: l.WindowRequest, Opening: index(l.WindowOpening), Restored: l.WindowRestored, Afresh: l.WindowAfresh,
			Cuts: each(l.WindowCuts, (*cutLine).record),
		},
		LeadingSystem: l.LeadingSystem, Pins: each(l.Pins, (*rangeLine).record), Budget: l.Budget, Tokens: l.Tokens,
		FixedTokens: l.FixedTokens, FixedHash: l.FixedHash, Counter: l.Counter, Factor: l.Factor, PolicyHash: l.PolicyHash,
		RendererVersion: l.RendererVersion, SHA256: l.SHA256, Time: l.Time.UTC(), Revision: l.Revision, Blocks: l.Blocks,
		UsageReported: l.UsageReported,
	}
}
