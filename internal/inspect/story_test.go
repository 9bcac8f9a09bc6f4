package inspect

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// story is a conversation in which everything has happened that can.
func story() *fake {
	message := func(index int32, role pb.Role, parts []*pb.Part, tokens int32, edit string) *pb.ContextMessage {
		return &pb.ContextMessage{Role: role, Parts: parts, Tokens: tokens, EditId: edit, Origin: &pb.Origin{Source: &pb.Origin_MessageIndex{MessageIndex: index}}, EndIndex: index + 1}
	}
	return &fake{
		conversation: &pb.Conversation{
			Id: "support-42", Title: "返金の問い合わせ 🧾 refund", Turn: 14, Revision: 57, MessageCount: 48, TokenCount: 61_234, WindowStartIndex: 21, UpdateTime: at(9),
		},
		manifests: []*pb.Manifest{{Id: "b14", Model: "model-1", Format: pb.ContextFormat_CONTEXT_FORMAT_ANTHROPIC, BudgetTokens: 28_000}},
		build: &pb.BuildContextResponse{
			Turn: 14, Revision: 57, PolicyHash: "0123456789abcdef",
			Messages: []*pb.ContextMessage{
				message(0, pb.Role_ROLE_SYSTEM, text("You help customers.\nNever promise a refund."), 12, ""),
				{
					Role: pb.Role_ROLE_ASSISTANT, Parts: text("Done: the order was found (orders/1881). Open: the refund."), Tokens: 1_800, EditId: "e31",
					Origin: &pb.Origin{Source: &pb.Origin_SummaryId{SummaryId: "s7"}},
				},
				message(21, pb.Role_ROLE_USER, text("注文はどこですか。とても長い日本語の文章がここに続きます。👩🏽‍🚀🚀 e\u0301te\u0301"), 40, ""),
				message(22, pb.Role_ROLE_ASSISTANT, call("find_order", `{"id":1881}`), 18, ""),
				message(23, pb.Role_ROLE_TOOL, result("find_order", "[Old tool result content cleared. Full text: expand_message(23)]"), 17, "e30"),
				message(24, pb.Role_ROLE_ASSISTANT, call("データベース検索ツール一覧", `{}`), 9, ""),
				message(25, pb.Role_ROLE_TOOL, result("データベース検索ツール一覧", "[Compacted: first 500 of 9000 characters shown.]"), 140, "e28"),
				message(44, pb.Role_ROLE_USER, text("\x1b[31mred\x1b[0m \u202eesrever\u202c \u009b2J and\ttabs"), 21, "e33"),
				message(45, pb.Role_ROLE_TOOL, result("read", "line 1 of a very long file\nline 2"), 6_900, "e35"),
				{
					Role: pb.Role_ROLE_USER, Parts: text("Continue."), Tokens: 5,
					Origin: &pb.Origin{Source: &pb.Origin_Synthetic{Synthetic: "continue"}},
				},
			},
			Tokens: &pb.TokenReport{
				Fixed: 1_200, Messages: 8_962, Summaries: 1_800, Total: 10_365, Budget: 28_000, SavedByPruning: 4_100, SavedByCompaction: 22_000,
				SavedByFit: 0, SavedByClipping: 80_000, Counter: "o200k", Factor: 1.02, Estimated: true,
			},
			Prefix: &pb.PrefixReport{StableBlocks: 3, StableTokens: 1_900, PreviousBlocks: 12, BrokenBy: pb.PrefixBreak_PREFIX_BREAK_PRUNED, FixedInputChanged: true, Rewrite: &pb.RewriteReport{RereadTokens: 6_800, SavedTokensPerTurn: 4_100, Cost: .02, SavedPerTurn: .001, BreakEvenTurns: new(int32(20))}},
			Decisions: []*pb.Decision{
				{StartIndex: 1, EndIndex: 21, Kind: pb.DecisionKind_DECISION_KIND_SUMMARIZED, Reason: pb.DecisionReason_DECISION_REASON_OVERFLOW, TokensBefore: 23_800, TokensAfter: 1_800, EditId: "e31", SummaryId: "s7"},
				{StartIndex: 23, EndIndex: 24, Kind: pb.DecisionKind_DECISION_KIND_PRUNED, Reason: pb.DecisionReason_DECISION_REASON_PRUNED, TokensBefore: 4_117, TokensAfter: 17, EditId: "e30"},
				{StartIndex: 25, EndIndex: 26, Kind: pb.DecisionKind_DECISION_KIND_COMPACTED, Reason: pb.DecisionReason_DECISION_REASON_EXPIRED_FIRST_CHARS, Detail: "its turns are over: its first characters are shown", TokensBefore: 2_300, TokensAfter: 140, EditId: "e28"},
				{StartIndex: 26, EndIndex: 44, Kind: pb.DecisionKind_DECISION_KIND_HIDDEN, Reason: pb.DecisionReason_DECISION_REASON_REWIND_REQUEST, TokensBefore: 9_000, EditId: "e32"},
				{StartIndex: 44, EndIndex: 45, Kind: pb.DecisionKind_DECISION_KIND_MASKED, Reason: pb.DecisionReason_DECISION_REASON_RETENTION, TokensBefore: 40, TokensAfter: 21, EditId: "e33"},
				{StartIndex: 45, EndIndex: 46, Kind: pb.DecisionKind_DECISION_KIND_CLIPPED, Reason: pb.DecisionReason_DECISION_REASON_RESULT_OVER_SHARE, TokensBefore: 86_900, TokensAfter: 6_900, EditId: "e35"},
				{StartIndex: 46, EndIndex: 48, Kind: pb.DecisionKind_DECISION_KIND_REMOVED, Reason: pb.DecisionReason_DECISION_REASON_UNIT_EXPIRED, TokensBefore: 60, EditId: "e36"},
				{StartIndex: -1, EndIndex: -1, Kind: pb.DecisionKind_DECISION_KIND_REPAIRED, Reason: pb.DecisionReason_DECISION_REASON_CONTINUE_ADDED, TokensAfter: 5},
			},
			Compaction: &pb.CompactionStatus{
				UsedPercent: 84, UsedTokens: 23_400, Reported: true, WindowStartIndex: 21, SummaryId: "s7", State: pb.CompactionState_COMPACTION_STATE_READY,
				OwnCalls: &pb.ModelUsage{Calls: 3, InputTokens: 41_000, OutputTokens: 2_100, Cost: 0.0312},
			},
			Degradations: []*pb.Degradation{{Asked: "a model's summary", Reason: "no model answered in time", Done: "the sidecar's own extract"}},
		},
		events: []*pb.WatchEventsResponse{
			event(1, at(0), &pb.LifecycleEvent{Type: pb.EventType_EVENT_TYPE_ADDED, Turn: 6, MessageIndex: 23, EndIndex: 24, Reason: pb.DecisionReason_DECISION_REASON_APPENDED}),
			event(2, at(1), &pb.LifecycleEvent{Type: pb.EventType_EVENT_TYPE_CLIPPED, Turn: 7, MessageIndex: 45, EndIndex: 46, Reason: pb.DecisionReason_DECISION_REASON_RESULT_OVER_SHARE, TokensSaved: 80_000, EditId: "e35"}),
			event(3, at(2), &pb.LifecycleEvent{Type: pb.EventType_EVENT_TYPE_PRUNED, Turn: 12, MessageIndex: 23, EndIndex: 24, Reason: pb.DecisionReason_DECISION_REASON_PRUNED, TokensSaved: 4_100, EditId: "e30"}),
			event(4, at(3), &pb.LifecycleEvent{Type: pb.EventType_EVENT_TYPE_SUMMARIZED, Turn: 13, MessageIndex: 1, EndIndex: 21, Reason: pb.DecisionReason_DECISION_REASON_OVERFLOW, TokensSaved: 22_000, EditId: "e31", SummaryId: "s7"}),
		},
		message: &pb.Message{
			Index: 23, Role: pb.Role_ROLE_TOOL, Parts: result("find_order", "order 1881: shipped"), TokenCount: 4_117, TurnAdded: 6, CreateTime: at(0),
			View: &pb.MessageView{Level: pb.ViewLevel_VIEW_LEVEL_CLEARED, EditId: "e30", InView: true, CanExpand: true},
		},
	}
}

func event(token byte, when *timestamppb.Timestamp, e *pb.LifecycleEvent) *pb.WatchEventsResponse {
	return &pb.WatchEventsResponse{Event: e, EventTime: when, ResumeToken: "t" + string('0'+token)}
}
