package exportformat

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// Writer writes an export, record by record.
type Writer struct {
	lines *json.Encoder
	began bool
	end   endLine
}

// NewWriter returns a writer to w. Every line is one call of w.Write.
func NewWriter(w io.Writer) *Writer {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	return &Writer{lines: lines}
}

// Write writes one record. Its contents must be inline.
func (w *Writer) Write(r engine.Record) error {
	if err := w.begin(); err != nil {
		return err
	}
	switch {
	case r.Conversation != nil:
		return w.lines.Encode(line{Conversation: fromConversation(r.Conversation)})
	case r.State != nil:
		return w.lines.Encode(line{State: fromState(r.State)})
	case r.Message != nil:
		w.end.Messages++
		return w.lines.Encode(line{Message: fromMessage(r.Message)})
	case r.Edit != nil:
		w.end.Edits++
		return w.lines.Encode(line{Edit: fromEdit(r.Edit)})
	case r.Manifest != nil:
		w.end.Manifests++
		return w.lines.Encode(line{Manifest: fromManifest(r.Manifest)})
	case r.Source != nil:
		w.end.Sources++
		return w.lines.Encode(line{Source: fromSource(r.Source)})
	case r.Chunk != nil:
		return w.lines.Encode(line{Chunk: (*chunkLine)(r.Chunk)})
	default:
		return errors.New("exportformat: an empty record")
	}
}

func (w *Writer) begin() error {
	if w.began {
		return nil
	}
	w.began = true
	return w.lines.Encode(line{Export: Version})
}

// End writes the last line. Without it the export does not import.
func (w *Writer) End() error { return w.lines.Encode(line{End: &w.end}) }

func fromState(s *engine.State) *stateLine {
	return &stateLine{
		Slots:   s.Slots,
		Rewinds: each(s.Rewinds, func(r *conversation.Range) rangeLine { return rangeLine(*r) }),
		Runs:    each(s.Runs, fromRun),
	}
}

func fromConversation(c *engine.Conversation) *conversationLine {
	return &conversationLine{
		ActorID:  c.Info.ActorID,
		AgentID:  c.Info.AgentID,
		Title:    c.Info.Title,
		Metadata: c.Info.Metadata,
		Policy:   fromPolicy(&c.Info.Policy),
		Counter:  c.Info.Counter,
		Head:     fromHead(&c.Head),
	}
}

// present is an index that is there; below 0 there is none.
func present(index int32) *int32 {
	if index < 0 {
		return nil
	}
	return &index
}

func fromHead(h *engine.Head) headLine {
	out := headLine{
		Version: h.Version, Revision: h.Revision,
		Messages: h.Messages, Tokens: h.Tokens, EditSeq: h.EditSeq, ManifestSeq: h.ManifestSeq,
		Turn: h.Turn, Seen: h.Seen, SeenBefore: h.SeenBefore, Start: h.Start, LastManifest: h.LastManifest[:],
		UnitStart: h.UnitStart, CallsEnd: h.CallsEnd, LeadingSystem: h.LeadingSystem, Request: h.Request, Opening: present(h.Opening), CallOrdinal: h.CallOrdinal,
		Place:      placeLine(h.Place),
		Pins:       each(h.Pins, func(r *conversation.Range) rangeLine { return rangeLine(*r) }),
		CreateTime: h.CreateTime.UTC(), UpdateTime: h.UpdateTime.UTC(), ExpireTime: h.ExpireTime.UTC(),
	}
	for _, c := range h.Unanswered {
		out.Unanswered = append(out.Unanswered, openCall(c))
	}
	return out
}

func fromPolicy(p *conversation.Policy) policyLine {
	return policyLine{
		Fit: fitLine(p.Fit), TTL: p.TTL, TTLWithoutTombstone: p.TTLWithoutTombstone, Retention: retentionPolicyLine(p.Retention), MaxWait: p.MaxWait,
		Expiration: expirationPolicyLine{Off: p.Expiration.Off, Results: *fromExpiration(&p.Expiration.Results)},
		Rewrite: rewriteLine{
			Mode: rewriteName(p.Rewrite.Mode), MinGainTokens: p.Rewrite.MinGainTokens,
			MaxDeferralTurns: p.Rewrite.MaxDeferralTurns, ColdAfter: p.Rewrite.ColdAfter, ExpectTurns: p.Rewrite.ExpectTurns,
		},
		Pruning: fromPruning(p.Pruning),
		Compaction: compactionLine{
			Strategy: strategyName(p.Compaction.Strategy), ThresholdMessages: p.Compaction.ThresholdMessages,
			PreparePercent: p.Compaction.PreparePercent, KeepRecent: p.Compaction.KeepRecent, TailPercent: p.Compaction.TailPercent,
			TargetPercent: p.Compaction.TargetPercent, MinShrinkPercent: p.Compaction.MinShrinkPercent, FanOut: p.Compaction.FanOut,
			SummaryTokens: p.Compaction.SummaryTokens, PromptID: p.Compaction.PromptID, CountReasoning: p.Compaction.CountReasoning,
			ListTokens: p.Compaction.ListTokens, LivePrefix: p.Compaction.LivePrefix, SummaryInputTokens: p.Compaction.SummaryInputTokens,
		},
		Citations:     fromCitations(p.Citations),
		Deduplication: fromDeduplication(p.Deduplication),
		Memory:        fromMemory(&p.Memory),
	}
}

func fromPruning(p conversation.PruningPolicy) pruningLine {
	p.ProtectedTools, p.ProtectedPrefixes = fromNames(p.ProtectedTools), fromNames(p.ProtectedPrefixes)
	return pruningLine(p)
}

func fromCitations(p conversation.CitationsPolicy) citationsLine {
	p.RecallTools = fromNames(p.RecallTools)
	return citationsLine(p)
}

// fromNames writes a list that is set and empty as [], and never as null, which is read as a list that is not set.
func fromNames[T any](list *[]T) *[]T {
	if list == nil || len(*list) > 0 {
		return list
	}
	return &[]T{}
}

func fromExpiration(e *conversation.Expiration) *expirationLine {
	if e == nil {
		return nil
	}
	return &expirationLine{
		Turns: e.Turns, Mode: modeName(e.Mode), CompactMode: compactName(e.CompactMode), CompactLength: e.CompactLength,
		CompactPromptID: e.CompactPromptID, PreserveOriginal: e.PreserveOriginal, Source: sourceName(e.Source),
	}
}

func each[A, B any](list []A, convert func(*A) B) []B {
	if len(list) == 0 {
		return nil
	}
	out := make([]B, len(list))
	for i := range list {
		out[i] = convert(&list[i])
	}
	return out
}

func fromMessage(m *conversation.Message) *messageLine {
	out := &messageLine{
		ID: m.ID, Index: m.Index, Role: roleName(m.Role), Name: m.Name, Parts: each(m.Parts, fromPart), Type: typeName(m.Type),
		Actions: each(m.Actions, fromAction), Pinned: m.Pinned, Model: m.Model, RunID: m.RunID, StepID: m.StepID,
		Tags: m.Tags, Metadata: m.Metadata, CreateTime: m.CreateTime.UTC(), TurnAdded: m.TurnAdded, Tokens: m.Tokens,
		Estimated: m.Estimated, RequestID: m.RequestID, Commit: m.Commit,
		Expiration: fromExpiration(m.Expiration), Place: placeLine(m.Place), RequestBack: m.RequestBack,
		Importance: importanceName(m.Importance),
	}
	if m.Unit > 0 {
		first := m.Unit - 1
		out.Unit = &first
	}
	return out
}

func fromAction(a *conversation.ActionRef) actionLine { return actionLine(*a) }

func fromPart(p *conversation.Part) partLine {
	out := partLine{
		Tokens: p.Tokens, Estimated: p.Estimated,
		Retention: fromRetention(p.Retention), Plugin: p.Plugin, Variant: variantName(p.Variant), Erased: fromErased(p),
		Citation: fromCitation(p.Citation), Recalled: fromRecalledMemories(p.Recalled), Residue: (*residueLine)(p.Residue),
	}
	switch p.Kind {
	case conversation.PartText:
		out.Text = &p.Text.Inline
	case conversation.PartMedia:
		out.Media = fromMedia(p.Media)
	case conversation.PartToolCall:
		out.ToolCall = &callLine{CallID: p.Call.CallID, Name: p.Call.Name, Arguments: p.Call.Arguments.Inline, Ordinal: p.Call.Ordinal}
	case conversation.PartToolResult:
		out.ToolResult = fromResult(p.Result)
	case conversation.PartReasoning:
		r := p.Reasoning
		out.Reasoning = &reasoningLine{Text: r.Text.Inline, Signature: r.Signature.Inline, Provider: r.Provider, Model: r.Model}
	case conversation.PartOpaque:
		out.Opaque = &opaqueLine{Provider: p.Opaque.Provider, JSON: p.Opaque.JSON.Inline}
	}
	return out
}

func fromRetention(r conversation.Retention) retentionLine {
	switch r.Kind {
	case conversation.RetentionPermanent:
		return retentionLine{Permanent: true}
	case conversation.RetentionKeepLast:
		return retentionLine{KeepLast: &r.Last}
	default:
		return retentionLine{}
	}
}

// fromErased lists what of a part's contents is erased.
func fromErased(p *conversation.Part) []erasedLine {
	var out []erasedLine
	for i, c := range conversation.Contents([]conversation.Part{*p}) {
		if e := c.Erased; e != nil {
			left := fromErasedContent(e)
			left.Content = int32(i)
			out = append(out, *left)
		}
	}
	return out
}

func fromMedia(m *conversation.Media) *mediaLine {
	if m == nil {
		return nil
	}
	return &mediaLine{MIMEType: m.MIMEType, Data: []byte(m.Data.Inline), URI: m.URI, Detail: m.Detail}
}

func fromResult(r *conversation.ToolResult) *resultLine {
	out := &resultLine{
		CallID: r.CallID, Name: r.Name, State: stateName(r.State), Actions: each(r.Actions, fromAction), Ordinal: r.Ordinal,
		Expiration: fromExpiration(r.Expiration), Recalled: fromRecalled(r.Recalled), Source: fromOrigin(r.Source),
		Importance: importanceName(r.Importance),
	}
	switch r.Output {
	case conversation.OutputText:
		out.Text = &r.Text.Inline
	case conversation.OutputJSON:
		out.JSON = &r.Text.Inline
	case conversation.OutputParts:
		out.Parts = each(r.Parts, fromPiece)
	}
	return out
}

func fromPiece(p *conversation.ResultPart) pieceLine {
	if p.Media != nil {
		return pieceLine{Media: fromMedia(p.Media)}
	}
	return pieceLine{Text: &p.Text.Inline}
}

func fromEdit(e *conversation.Edit) *editLine {
	out := &editLine{
		Seq: e.Seq, Kind: editName(e.Kind), Range: rangeLine(e.Range), Mask: e.Mask, Reason: reasonName(e.Reason), Turn: e.Turn,
		Time: e.Time.UTC(), Before: e.Before, After: e.After, Erases: e.Erases, Content: e.Content, Commit: e.Commit,
		Said: e.Said, Brought: e.Brought,
		Parts: each(e.Parts, func(p *conversation.PartEdit) shownLine {
			return shownLine{Part: p.Part, Level: levelName(p.Level), Shown: fromPart(&p.Shown), Copies: each(p.Copies, fromCopy)}
		}),
	}
	if s := e.Summary; s != nil {
		out.Summary = fromSummary(s)
	}
	return out
}

func fromSummary(s *conversation.Summary) *summaryLine {
	return &summaryLine{
		ID: s.ID, Level: s.Level, Children: s.Children, Text: s.Text.Inline, Erased: fromErasedContent(s.Text.Erased), Tokens: s.Tokens,
		Except: each(s.Except, fromRange), Verbatim: each(s.Verbatim, fromRange), Facts: s.Facts.Inline, FactsErased: fromErasedContent(s.Facts.Erased),
		Model: s.Model, Recorded: s.Recorded, OriginalErased: s.Erased,
	}
}

func fromRange(r *conversation.Range) rangeLine { return rangeLine(*r) }

func fromErasedContent(e *conversation.ErasedContent) *erasedLine {
	if e == nil {
		return nil
	}
	return &erasedLine{Bytes: e.Bytes, Chars: e.Chars, Hash: e.Hash}
}

func fromManifest(m *conversation.Manifest) *manifestLine {
	return &manifestLine{
		Seq: m.Seq, Turn: m.Turn, Format: formatName(m.Format), Model: m.Model, MessageCount: m.MessageCount, EditSeq: m.EditSeq,
		WindowStart: m.Window.Start, WindowRequest: m.Window.Request, WindowOpening: present(m.Window.Opening), WindowRestored: m.Window.Restored,
		WindowAfresh: m.Window.Afresh, LeadingSystem: m.LeadingSystem,
		WindowCuts: each(m.Window.Cuts, func(c *conversation.Cut) cutLine { return cutLine(*c) }),
		Pins:       each(m.Pins, func(r *conversation.Range) rangeLine { return rangeLine(*r) }),
		Budget:     m.Budget, Tokens: m.Tokens, FixedTokens: m.FixedTokens, FixedHash: m.FixedHash, Counter: m.Counter,
		Factor: m.Factor, PolicyHash: m.PolicyHash, RendererVersion: m.RendererVersion, SHA256: m.SHA256, Time: m.Time.UTC(),
		Revision: m.Revision, Blocks: m.Blocks, UsageReported: m.UsageReported,
	}
}
