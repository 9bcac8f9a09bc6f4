package contextservice

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func toDecision(d conversation.Decision) *pb.Decision {
	return &pb.Decision{
		StartIndex:   d.First,
		EndIndex:     convert.EndAfter(d.First, d.Last),
		Kind:         pb.DecisionKind(d.Kind),
		Reason:       pb.DecisionReason(d.Reason),
		Detail:       detail(d.Reason),
		TokensBefore: d.Before,
		TokensAfter:  d.After,
		EditId:       convert.EditID(d.EditSeq),
		SummaryId:    convert.SummaryID(d.Summary),
	}
}

// detail says a reason in words. They are fixed, so that no conversation's text can get into them.
func detail(r conversation.Reason) string {
	switch r {
	case conversation.ReasonResultOverShare:
		return "the tool result was over its share of the budget: head and tail are shown"
	case conversation.ReasonNewestUnitOverBudget:
		return "the newest unit did not fit beside what has a stronger claim on the budget: its tool results show head and tail"
	case conversation.ReasonBeforeWindow:
		return "the messages lie before the window's start, and no summary stands for them"
	case conversation.ReasonCallNeverAnswered:
		return "the call was never answered: a fixed result stands for the answer"
	case conversation.ReasonResultLate:
		return "the result came after its unit had closed: it is shown as user text"
	case conversation.ReasonEmptyText:
		return "the provider takes no empty text: it is left out"
	case conversation.ReasonForeignBlock:
		return "the provider or model cannot take this block back: it is left out"
	case conversation.ReasonArgumentsWrapped:
		return "the arguments are no JSON object: they are wrapped into one"
	case conversation.ReasonOpenerAdded:
		return "the provider wants a user message first: a fixed one opens the context"
	case conversation.ReasonContinueAdded:
		return "the provider wants a user message last: a fixed one ends the context"
	case conversation.ReasonSystemAsUser:
		return "the provider takes system messages at the start alone: it is shown as marked user text"
	case conversation.ReasonMediaAsText:
		return "the provider takes no such media here: one line stands for it"
	case conversation.ReasonAppended:
		return "the caller appended it"
	case conversation.ReasonNameReplaced:
		return "the tool's name has characters that the provider refuses: they are replaced"
	case conversation.ReasonResidueDropped:
		return "what another provider said beside the part is left out"
	case conversation.ReasonDuplicateLines:
		return "lines of it stood in the view already: a line names where"
	case conversation.ReasonCopyNotShown:
		return "what it named in place of its own lines is not shown any more: they are shown again"
	default:
		return lifecycleDetail(r)
	}
}

func lifecycleDetail(r conversation.Reason) string {
	switch r {
	case conversation.ReasonExpired:
		return "its turns are over"
	case conversation.ReasonUnitExpired:
		return "the turns of everything else in its unit are over too: the whole unit leaves"
	case conversation.ReasonExpiredFirstChars:
		return "its turns are over: its first characters are shown"
	case conversation.ReasonExpiredSummary:
		return "its turns are over: a model's summary is shown"
	case conversation.ReasonExpiredExtract:
		return "its turns are over: the sidecar's own extract is shown"
	case conversation.ReasonRetention:
		return "blocks that plugins added are past their retention, or were for the first build alone"
	case conversation.ReasonExpandRequest:
		return "ExpandMessage brought it back in full"
	case conversation.ReasonHeldForRewrite:
		return "doing it now is not worth what the provider would read anew for it"
	case conversation.ReasonSummaryNotReady:
		return "a model was asked for a summary, which is not there yet"
	case conversation.ReasonSummaryRefused:
		return "a limit of rate or spending has refused the model's summary: it is asked for again"
	case conversation.ReasonSummaryNotAsked:
		return "no model was asked for the summary yet"
	default:
		return windowDetail(r)
	}
}

func windowDetail(r conversation.Reason) string {
	switch r {
	case conversation.ReasonPruned:
		return "the tool result is older than the newest tokens, which pruning leaves alone"
	case conversation.ReasonOverflow:
		return "the view outgrew its budget"
	case conversation.ReasonMessageThreshold:
		return "more messages had gathered since the last summary than the policy allows"
	case conversation.ReasonCompactRequest:
		return "CompactConversation asked for it"
	case conversation.ReasonSummariesMerged:
		return "enough summaries of a level had gathered to become one of the next"
	case conversation.ReasonRewindRequest:
		return "RewindConversation or UndoRewind asked for it"
	case conversation.ReasonCorrectionRequest:
		return "CorrectMessage asked for it"
	case conversation.ReasonCacheCold:
		return "the provider had nothing cached that it would have spoiled: a summary was ready, or the view took more than half of its budget"
	case conversation.ReasonOverBudgetShare:
		return "the context is over its budget, and this is over its share of it: a part is shown, or a summary stands for it"
	case conversation.ReasonNoRoom:
		return "the context is over its budget, and what has a stronger claim on it leaves no room for this"
	default:
		return memoryDetail(r) + contentDetail(r)
	}
}

// memoryDetail says why memories were recalled or not; empty for all other reasons.
func memoryDetail(r conversation.Reason) string {
	switch r {
	case conversation.ReasonMemoriesAnswer:
		return "memories of earlier conversations answer the message"
	case conversation.ReasonMemoryNoActor:
		return "the conversation has no actor_id, and no other scope is recalled from"
	case conversation.ReasonMemoryQueryEmpty:
		return "the message has less than two words that a search could go by"
	case conversation.ReasonMemoryBelowFloor:
		return "nothing that is remembered answers the message well enough"
	case conversation.ReasonMemoryInView:
		return "what answers the message is in view already"
	case conversation.ReasonMemoryOverCap:
		return "what is recalled has no room, by the policy's limits or the budget"
	case conversation.ReasonMemoryDeadline:
		return "the memory did not answer in time"
	case conversation.ReasonMemoryUnavailable:
		return "the memory could not be reached"
	case conversation.ReasonMemoryIndexCold:
		return "the index of the actor's memories is being loaded"
	case conversation.ReasonMemoryDryRun:
		return "a dry run recalls nothing"
	case conversation.ReasonMemoryForgotten:
		return "the memories were deleted, or what they come from"
	default:
		return ""
	}
}

func contentDetail(r conversation.Reason) string {
	switch r {
	case conversation.ReasonOverCitationThreshold:
		return "it was longer than the policy lets in: a citation stands for it"
	case conversation.ReasonStoreContentRequest:
		return "StoreContent asked for it"
	case conversation.ReasonRunEnded:
		return "its run has ended, or was not used for a day"
	default:
		return ""
	}
}
