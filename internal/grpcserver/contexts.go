package grpcserver

import (
	"encoding/hex"
	"math"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// toBuildResponse converts an answer. It shares the context's bytes with the engine's cache.
func toBuildResponse(r *engine.BuildResult) *pb.BuildContextResponse {
	out := &pb.BuildContextResponse{
		Messages: toContextMessages(r.Messages),
		Rendered: &pb.Rendered{
			SystemJson:       r.System,
			MessagesJson:     r.MessagesJSON,
			ContentSha256:    hex.EncodeToString(r.SHA256[:]),
			CacheBreakpoints: r.Breakpoints,
			Blocks:           r.Blocks,
		},
		Tokens:       toTokenReport(&r.Tokens),
		Prefix:       toPrefixReport(&r.Prefix),
		Decisions:    each(r.Decisions, toDecision),
		Events:       each(r.Events, toEvent),
		Degradations: each(r.Degradations, toDegradation),
		Compaction:   toCompactionStatus(r),
	}
	setCoordinates(out, r)
	return out
}

// setCoordinates fills in what a commit decides last, and what begins behind it.
func setCoordinates(out *pb.BuildContextResponse, r *engine.BuildResult) {
	out.Compaction.State = pb.CompactionState(r.Compaction.State)
	out.Turn = r.Turn
	out.ManifestId = formatID(buildPrefix, r.Manifest.Seq)
	out.Revision = r.Revision
	out.PolicyHash = r.Manifest.PolicyHash
	out.Duplicate = r.Duplicate
}

func toCompactionStatus(r *engine.BuildResult) *pb.CompactionStatus {
	c := &r.Compaction
	return &pb.CompactionStatus{
		UsedPercent:      percent(c.Used, r.Tokens.Budget),
		WindowStartIndex: r.Manifest.Window.Start,
		UsedTokens:       c.Used,
		Reported:         c.Reported,
		SummaryId:        toSummaryID(c.Summary),
		OwnCalls: &pb.ModelUsage{
			Calls: c.OwnCalls.Calls, InputTokens: c.OwnCalls.Input, OutputTokens: c.OwnCalls.Output, Cost: c.OwnCalls.Cost,
		},
	}
}

func percent(part, whole int64) int32 {
	if whole <= 0 {
		return 0
	}
	return clamp((part*100 + whole - 1) / whole)
}

func toTokenReport(t *engine.TokenReport) *pb.TokenReport {
	return &pb.TokenReport{
		Fixed:             t.Fixed,
		Messages:          t.Messages,
		Summaries:         t.Summaries,
		Total:             t.Total,
		Budget:            t.Budget,
		SavedByClipping:   t.SavedByClipping,
		SavedByFit:        t.SavedByFit,
		SavedByExpiry:     t.SavedByExpiry,
		SavedByRetention:  t.SavedByRetention,
		SavedByPruning:    t.SavedByPruning,
		SavedByCompaction: t.SavedByCompaction,
		SavedByCiting:     t.SavedByCiting,
		Counter:           t.Counter,
		Factor:            t.Factor,
		Estimated:         t.Estimated,
	}
}

func toPrefixReport(p *engine.PrefixReport) *pb.PrefixReport {
	return &pb.PrefixReport{
		StableBlocks:      p.StableBlocks,
		StableTokens:      p.StableTokens,
		FixedInputChanged: p.FixedInputChanged,
		BrokenBy:          pb.PrefixBreak(p.BrokenBy),
		PreviousBlocks:    p.PreviousBlocks,
	}
}

func toContextMessages(messages []engine.Message) []*pb.ContextMessage {
	if len(messages) == 0 {
		return nil
	}
	out := make([]*pb.ContextMessage, len(messages))
	for i := range messages {
		m := &messages[i]
		out[i] = &pb.ContextMessage{
			Role:   pb.Role(m.Role),
			Parts:  toParts(m.Parts),
			Tokens: m.Tokens,
			EditId: formatID(editPrefix, m.EditSeq),
			Origin: toOrigin(m),

			Shortened: m.Shortened,
		}
		if m.Last > 0 {
			out[i].LastMessageIndex = &m.Last
		}
	}
	return out
}

func toOrigin(m *engine.Message) *pb.Origin {
	switch {
	case m.Summary > 0:
		return &pb.Origin{Source: &pb.Origin_SummaryId{SummaryId: toSummaryID(m.Summary)}}
	case m.Synthetic != "":
		return &pb.Origin{Source: &pb.Origin_Synthetic{Synthetic: m.Synthetic}}
	default:
		return &pb.Origin{Source: &pb.Origin_MessageIndex{MessageIndex: m.Index}}
	}
}

func toManifest(m conversation.Manifest) *pb.Manifest {
	return &pb.Manifest{
		Id:               formatID(buildPrefix, m.Seq),
		Turn:             m.Turn,
		Format:           pb.ContextFormat(m.Format),
		Model:            m.Model,
		MessageCount:     m.MessageCount,
		EditSeq:          m.EditSeq,
		WindowStartIndex: m.Window.Start,
		BudgetTokens:     m.Budget,
		TotalTokens:      totalTokens(&m),
		Counter:          m.Counter,
		Factor:           m.Factor,
		PolicyHash:       m.PolicyHash,
		RendererVersion:  m.RendererVersion,
		ContentSha256:    hex.EncodeToString(m.SHA256[:]),
		CreateTime:       toTime(m.Time),
		Revision:         m.Revision,
	}
}

// totalTokens is what the engine reports as the total of a build: everything sent, times the factor, rounded up. The factors'
// decimal steps are not exact in binary, hence the slack.
func totalTokens(m *conversation.Manifest) int64 {
	product := float64(m.Tokens+m.FixedTokens) * m.Factor
	return int64(math.Ceil(product * (1 - 1e-9)))
}
