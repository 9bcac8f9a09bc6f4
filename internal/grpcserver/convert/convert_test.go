package convert

import (
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"pgregory.net/rapid"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func words() *rapid.Generator[string] { return rapid.StringN(0, 20, -1) }

func drawAction(t *rapid.T) *pb.ActionRef {
	return &pb.ActionRef{ActionId: words().Draw(t, "action"), AgentActionId: words().Draw(t, "agent action")}
}

func drawMedia(t *rapid.T) *pb.Media {
	m := &pb.Media{MimeType: words().Draw(t, "type"), Detail: words().Draw(t, "detail")}
	if rapid.Bool().Draw(t, "uri?") {
		m.Source = &pb.Media_Uri{Uri: "u" + words().Draw(t, "uri")}
	} else {
		m.Source = &pb.Media_Data{Data: rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(t, "data")}
	}
	return m
}

func drawPiece(t *rapid.T) *pb.ToolResultPart {
	if rapid.Bool().Draw(t, "media?") {
		return &pb.ToolResultPart{Content: &pb.ToolResultPart_Media{Media: drawMedia(t)}}
	}
	return &pb.ToolResultPart{Content: &pb.ToolResultPart_Text{Text: words().Draw(t, "piece")}}
}

func drawResult(t *rapid.T) *pb.ToolResult {
	r := &pb.ToolResult{
		CallId: words().Draw(t, "call"), Name: words().Draw(t, "name"), State: pb.ToolResultState(rapid.IntRange(0, 2).Draw(t, "state")),
		Actions:    rapid.SliceOfN(rapid.Custom(drawAction), 0, 2).Draw(t, "actions"),
		Expiration: drawExpiration(t), RecalledFrom: drawRecalled(t),
		Source: drawOrigin(t), Importance: drawImportance(t),
	}
	switch rapid.IntRange(0, 2).Draw(t, "output") {
	case 0:
		r.Output = &pb.ToolResult_Text{Text: words().Draw(t, "text")}
	case 1:
		r.Output = &pb.ToolResult_Json{Json: words().Draw(t, "json")}
	default:
		r.Output = &pb.ToolResult_Parts{Parts: &pb.ToolResultParts{Parts: rapid.SliceOfN(rapid.Custom(drawPiece), 1, 3).Draw(t, "pieces")}}
	}
	return r
}

func drawOrigin(t *rapid.T) *pb.ResultSource {
	if rapid.Bool().Draw(t, "no source") {
		return nil
	}
	return &pb.ResultSource{Type: pb.SourceType(rapid.IntRange(0, 5).Draw(t, "type")), Url: words().Draw(t, "url"), Title: words().Draw(t, "title")}
}

func drawRecalled(t *rapid.T) *pb.RecalledFrom {
	switch rapid.IntRange(0, 2).Draw(t, "recalled") {
	case 0:
		return &pb.RecalledFrom{Source: &pb.RecalledFrom_ContentId{ContentId: "c" + words().Draw(t, "content")}}
	case 1:
		return &pb.RecalledFrom{Source: &pb.RecalledFrom_MessageIndex{MessageIndex: rapid.Int32Range(0, math.MaxInt32).Draw(t, "message")}}
	default:
		return nil
	}
}

func drawImportance(t *rapid.T) pb.Importance {
	return pb.Importance(rapid.IntRange(0, 3).Draw(t, "importance"))
}

// drawExpiration draws none where it would set nothing.
func drawExpiration(t *rapid.T) *pb.Expiration {
	number := rapid.Ptr(rapid.Int32Range(0, 1_000_000), true)
	e := &pb.Expiration{
		Turns: number.Draw(t, "turns"), Mode: pb.ExpirationMode(rapid.IntRange(0, 3).Draw(t, "mode")),
		CompactMode: pb.CompactMode(rapid.IntRange(0, 2).Draw(t, "compact mode")), CompactLength: number.Draw(t, "length"),
		CompactPromptId: words().Draw(t, "prompt"), PreserveOriginalContent: rapid.Ptr(rapid.Bool(), true).Draw(t, "preserve"),
	}
	if proto.Size(e) == 0 {
		return nil
	}
	return e
}

func drawRetention(t *rapid.T) *pb.Retention {
	switch rapid.IntRange(0, 2).Draw(t, "retention") {
	case 0:
		return &pb.Retention{Policy: &pb.Retention_Permanent{Permanent: &pb.Permanent{}}}
	case 1:
		return &pb.Retention{Policy: &pb.Retention_KeepLast{KeepLast: rapid.Int32Range(1, 1_000_000).Draw(t, "last")}}
	default:
		return nil
	}
}

func drawPart(t *rapid.T) *pb.Part {
	out := drawContent(t)
	out.Retention = drawRetention(t)
	if rapid.Bool().Draw(t, "residue") {
		out.Residue = &pb.Residue{Provider: words().Draw(t, "of"), Json: words().Draw(t, "said")}
	}
	return out
}

func drawContent(t *rapid.T) *pb.Part {
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return &pb.Part{Content: &pb.Part_Text{Text: words().Draw(t, "text")}}
	case 1:
		return &pb.Part{Content: &pb.Part_Media{Media: drawMedia(t)}}
	case 2:
		c := &pb.ToolCall{CallId: words().Draw(t, "call"), Name: words().Draw(t, "name"), ArgumentsJson: words().Draw(t, "arguments")}
		return &pb.Part{Content: &pb.Part_ToolCall{ToolCall: c}}
	case 3:
		return &pb.Part{Content: &pb.Part_ToolResult{ToolResult: drawResult(t)}}
	case 4:
		r := &pb.Reasoning{Text: words().Draw(t, "text"), Signature: words().Draw(t, "signature"), Provider: words().Draw(t, "provider"), Model: words().Draw(t, "model")}
		return &pb.Part{Content: &pb.Part_Reasoning{Reasoning: r}}
	default:
		return &pb.Part{Content: &pb.Part_Opaque{Opaque: &pb.Opaque{Provider: words().Draw(t, "provider"), Json: words().Draw(t, "json")}}}
	}
}

func drawMessage(t *rapid.T) *pb.Message {
	return &pb.Message{
		Id: words().Draw(t, "id"), Role: pb.Role(rapid.IntRange(1, 4).Draw(t, "role")),
		Parts:       rapid.SliceOfN(rapid.Custom(drawPart), 1, 4).Draw(t, "parts"),
		MessageType: pb.MessageType(rapid.IntRange(0, 6).Draw(t, "type")),
		Actions:     rapid.SliceOfN(rapid.Custom(drawAction), 0, 2).Draw(t, "actions"),
		Expiration:  drawExpiration(t),
		Importance:  drawImportance(t),
		Pinned:      rapid.Bool().Draw(t, "pinned"), Model: words().Draw(t, "model"), RunId: words().Draw(t, "run"),
		StepId: words().Draw(t, "step"), Name: words().Draw(t, "name"), Tags: rapid.SliceOfN(words(), 0, 3).Draw(t, "tags"), MetadataJson: words().Draw(t, "metadata"),
	}
}

func TestFromMessage_AnyMessage_ComesBack(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		want := drawMessage(t)
		m := FromMessage(want)
		if diff := cmp.Diff(want, ToMessage(&m), protocmp.Transform()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestFromPolicy_AnyPolicy_ComesBack(t *testing.T) {
	number := rapid.Ptr(rapid.Int32Range(1, 90), true)
	proptest.Check(t, func(t *rapid.T) {
		want := &pb.Policy{Fit: &pb.FitPolicy{
			MaxContextTokens: number.Draw(t, "max"), ContextWindowTokens: number.Draw(t, "window"),
			ReservedOutputTokens: number.Draw(t, "reserve"), TargetPercent: number.Draw(t, "target"), MaxResultPercent: number.Draw(t, "share"),
		}}
		if proto.Size(want.GetFit()) == 0 {
			want.Fit = nil
		}
		if rapid.Bool().Draw(t, "ttl?") {
			want.Ttl, want.MaxWait = durationpb.New(0), durationpb.New(1)
		}
		drawLifecyclePolicy(t, want)
		drawWindowPolicy(t, want)
		drawCitationsPolicy(t, want)
		drawDeduplicationPolicy(t, want)
		if proto.Size(want) == 0 {
			want = nil
		}
		if diff := cmp.Diff(want, ToPolicy(FromPolicy(want)), protocmp.Transform()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func drawLifecyclePolicy(t *rapid.T, p *pb.Policy) {
	number, flag := rapid.Ptr(rapid.Int32Range(0, 9), true), rapid.Ptr(rapid.Bool(), true)
	p.Expiration = &pb.ExpirationPolicy{Enabled: flag.Draw(t, "enabled"), Results: drawExpiration(t)}
	p.Retention = &pb.RetentionPolicy{AllInputs: flag.Draw(t, "all")}
	p.Rewrite = &pb.RewritePolicy{
		Mode: pb.RewriteMode(rapid.IntRange(0, 2).Draw(t, "rewrite")), MinGainTokens: number.Draw(t, "gain"), MaxDeferralTurns: number.Draw(t, "deferral"),
		ExpectTurns: number.Draw(t, "expected"), ColdCutPercent: number.Draw(t, "cold cut"),
	}
	if rapid.Bool().Draw(t, "cold?") {
		p.Rewrite.ColdAfter = durationpb.New(0)
	}
	if proto.Size(p.GetExpiration()) == 0 {
		p.Expiration = nil
	}
	if proto.Size(p.GetRetention()) == 0 {
		p.Retention = nil
	}
	if proto.Size(p.GetRewrite()) == 0 {
		p.Rewrite = nil
	}
}

// TestNumbers_OfDomainAndAPI_Agree: the conversions cast, so the numbers must be the same.
func TestNumbers_OfDomainAndAPI_Agree(t *testing.T) {
	for domain, api := range map[any]protoreflect.Enum{
		conversation.RoleTool:           pb.Role_ROLE_TOOL,
		conversation.TypeOther:          pb.MessageType_MESSAGE_TYPE_OTHER,
		conversation.ResultError:        pb.ToolResultState_TOOL_RESULT_STATE_ERROR,
		conversation.FormatGemini:       pb.ContextFormat_CONTEXT_FORMAT_GEMINI,
		conversation.DecisionRepaired:   pb.DecisionKind_DECISION_KIND_REPAIRED,
		conversation.ReasonNameReplaced: pb.DecisionReason_DECISION_REASON_NAME_REPLACED,
		conversation.EventClipped:       pb.EventType_EVENT_TYPE_CLIPPED,

		conversation.DecisionDeferred:      pb.DecisionKind_DECISION_KIND_DEFERRED,
		conversation.ReasonSummaryNotReady: pb.DecisionReason_DECISION_REASON_SUMMARY_NOT_READY,
		conversation.ReasonSummaryRefused:  pb.DecisionReason_DECISION_REASON_SUMMARY_REFUSED,
		conversation.ReasonSummaryNotAsked: pb.DecisionReason_DECISION_REASON_SUMMARY_NOT_ASKED,
		conversation.EventExpanded:         pb.EventType_EVENT_TYPE_EXPANDED,
		conversation.ExpirationCompact:     pb.ExpirationMode_EXPIRATION_MODE_COMPACT,
		conversation.CompactSummary:        pb.CompactMode_COMPACT_MODE_AI_SUMMARY,
		conversation.SourceOverride:        pb.ExpirationSource_EXPIRATION_SOURCE_OVERRIDE,
		conversation.RewriteCoalesced:      pb.RewriteMode_REWRITE_MODE_COALESCED,
		conversation.BindingRefuses:        pb.ReasoningBinding_REASONING_BINDING_REFUSES,
		conversation.PersistentOnly:        pb.PartVariant_PART_VARIANT_PERSISTENT_ONLY,
		engine.BreakPinned:                 pb.PrefixBreak_PREFIX_BREAK_PINNED,
		engine.BreakExpanded:               pb.PrefixBreak_PREFIX_BREAK_EXPANDED,

		conversation.DecisionHidden:        pb.DecisionKind_DECISION_KIND_HIDDEN,
		conversation.ReasonCacheCold:       pb.DecisionReason_DECISION_REASON_CACHE_COLD,
		conversation.EventCompactionFailed: pb.EventType_EVENT_TYPE_COMPACTION_FAILED,
		conversation.StrategySlidingWindow: pb.CompactionStrategy_COMPACTION_STRATEGY_SLIDING_WINDOW,
		engine.BreakRewound:                pb.PrefixBreak_PREFIX_BREAK_REWOUND,
		engine.CompactionReady:             pb.CompactionState_COMPACTION_STATE_READY,

		conversation.SourceTypeTool:      pb.SourceType_SOURCE_TYPE_TOOL,
		conversation.DecisionCited:       pb.DecisionKind_DECISION_KIND_CITED,
		conversation.ReasonRunEnded:      pb.DecisionReason_DECISION_REASON_RUN_ENDED,
		conversation.EventContentExpired: pb.EventType_EVENT_TYPE_CONTENT_EXPIRED,

		conversation.DecisionCorrected:       pb.DecisionKind_DECISION_KIND_CORRECTED,
		conversation.ReasonCorrectionRequest: pb.DecisionReason_DECISION_REASON_CORRECTION_REQUEST,
		conversation.EventCorrected:          pb.EventType_EVENT_TYPE_CORRECTED,
		engine.BreakCorrected:                pb.PrefixBreak_PREFIX_BREAK_CORRECTED,
	} {
		if got, want := numberOf(domain), int(api.Number()); got != want {
			t.Errorf("%T %d is the API's %v %d", domain, got, api, want)
		}
	}
	if toLevel(conversation.Removed) != pb.ViewLevel_VIEW_LEVEL_REMOVED || toLevel(conversation.Cited) != pb.ViewLevel_VIEW_LEVEL_CITED {
		t.Error("levels differ")
	}
}

func numberOf(domain any) int { return int(reflect.ValueOf(domain).Int()) }
