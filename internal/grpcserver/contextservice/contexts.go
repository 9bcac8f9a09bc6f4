package contextservice

import (
	"encoding/hex"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// toBuildResponse converts an answer. It shares the context's bytes with the engine's cache.
func toBuildResponse(r *engine.BuildResult) *pb.BuildContextResponse {
	out := &pb.BuildContextResponse{
		Messages: convert.ToContextMessages(r.Messages),
		Rendered: &pb.Rendered{
			SystemJson:       r.System,
			MessagesJson:     r.MessagesJSON,
			ContentSha256:    hex.EncodeToString(r.SHA256[:]),
			CacheBreakpoints: r.Breakpoints,
			Blocks:           r.Blocks,
			RequestJson:      string(r.RequestJSON),
		},
		Tokens:       toTokenReport(&r.Tokens),
		Prefix:       toPrefixReport(&r.Prefix),
		Decisions:    convert.Each(r.Decisions, toDecision),
		Events:       convert.Each(r.Events, convert.ToEvent),
		Degradations: convert.Each(r.Degradations, convert.ToDegradation),
		Compaction:   toCompactionStatus(r),
		Passes:       convert.Each(r.Passes, toBuildPass),
	}
	setCoordinates(out, r)
	return out
}

func toBuildPass(p engine.BuildPass) *pb.BuildPass {
	return &pb.BuildPass{
		Name: p.Name, TookUs: p.Took.Microseconds(), Edits: int32(p.Edits), Notes: int32(p.Notes), WindowStartIndex: p.Start, Tokens: p.Tokens,
	}
}

// setCoordinates fills in what a commit decides last, and what begins behind it.
func setCoordinates(out *pb.BuildContextResponse, r *engine.BuildResult) {
	out.Compaction.State = pb.CompactionState(r.Compaction.State)
	out.Turn = r.Turn
	out.ManifestId = convert.BuildID(r.Manifest.Seq)
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
		SummaryId:        convert.SummaryID(c.Summary),
		OwnCalls: &pb.ModelUsage{
			Calls: c.OwnCalls.Calls, InputTokens: c.OwnCalls.Tokens.Input, OutputTokens: c.OwnCalls.Tokens.Output, Cost: c.OwnCalls.Cost,
			CacheReadTokens: c.OwnCalls.Tokens.CacheRead, CacheWriteTokens: c.OwnCalls.Tokens.CacheWrite,
		},
	}
}

func percent(part, whole int64) int32 {
	if whole <= 0 {
		return 0
	}
	return convert.Clamp((part*100 + whole - 1) / whole)
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
		Memories:          t.Memories,

		SavedByDeduplication: t.SavedByDeduplication,

		Counter:   t.Counter,
		Factor:    t.Factor,
		Estimated: t.Estimated,
	}
}

func toPrefixReport(p *engine.PrefixReport) *pb.PrefixReport {
	return &pb.PrefixReport{
		StableBlocks:      p.StableBlocks,
		StableTokens:      p.StableTokens,
		FixedInputChanged: p.FixedInputChanged,
		BrokenBy:          pb.PrefixBreak(p.BrokenBy),
		PreviousBlocks:    p.PreviousBlocks,
		Rewrite:           toRewriteReport(&p.Rewrite),
	}
}

func toRewriteReport(r *engine.RewriteReport) *pb.RewriteReport {
	if *r == (engine.RewriteReport{}) {
		return nil
	}
	out := &pb.RewriteReport{RereadTokens: r.Reread, SavedTokensPerTurn: r.Saved, Cost: r.Cost, SavedPerTurn: r.SavedPerTurn}
	if r.BreakEvenTurns >= 0 {
		out.BreakEvenTurns = &r.BreakEvenTurns
	}
	return out
}
