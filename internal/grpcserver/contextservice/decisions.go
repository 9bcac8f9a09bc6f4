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
	words := [...]string{
		conversation.ReasonResultOverShare:       "the tool result was over its share of the budget: head and tail are shown",
		conversation.ReasonNewestUnitOverBudget:  "the newest unit did not fit beside what has a stronger claim on the budget: its tool results show head and tail",
		conversation.ReasonBeforeWindow:          "the messages lie before the window's start, and no summary stands for them",
		conversation.ReasonCallNeverAnswered:     "the call was never answered: a fixed result stands for the answer",
		conversation.ReasonResultLate:            "the result came after its unit had closed: it is shown as user text",
		conversation.ReasonEmptyText:             "the provider takes no empty text: it is left out",
		conversation.ReasonForeignBlock:          "the provider or model cannot take this block back: it is left out",
		conversation.ReasonArgumentsWrapped:      "the arguments are no JSON object: they are wrapped into one",
		conversation.ReasonOpenerAdded:           "the provider wants a user message first: a fixed one opens the context",
		conversation.ReasonContinueAdded:         "the provider wants a user message last: a fixed one ends the context",
		conversation.ReasonSystemAsUser:          "the provider takes system messages at the start alone: it is shown as marked user text",
		conversation.ReasonMediaAsText:           "the provider takes no such media here: one line stands for it",
		conversation.ReasonAppended:              "the caller appended it",
		conversation.ReasonNameReplaced:          "the tool's name has characters that the provider refuses: they are replaced",
		conversation.ReasonResidueDropped:        "what another provider said beside the part is left out",
		conversation.ReasonDuplicateLines:        "lines of it stood in the view already: a line names where",
		conversation.ReasonSignatureAdded:        "Gemini did not make the call, and demands a signature of it: it has the placeholder that Google documents",
		conversation.ReasonBytesReplaced:         "bytes in base64 are no text: an image, or a line with type, size and hash, stands for them",
		conversation.ReasonRemovedByCaller:       "the caller's own list lacks it, or, with EXPANDED, has it again",
		conversation.ReasonCopyNotShown:          "what it named in place of its own lines is not shown any more: they are shown again",
		conversation.ReasonExpired:               "its turns are over",
		conversation.ReasonUnitExpired:           "the turns of everything else in its unit are over too: the whole unit leaves",
		conversation.ReasonExpiredFirstChars:     "its turns are over: its first characters are shown",
		conversation.ReasonExpiredSummary:        "its turns are over: a model's summary is shown",
		conversation.ReasonExpiredExtract:        "its turns are over: the sidecar's own extract is shown",
		conversation.ReasonRetention:             "blocks that plugins added are past their retention, or were for the first build alone",
		conversation.ReasonExpandRequest:         "ExpandMessage brought it back in full",
		conversation.ReasonHeldForRewrite:        "doing it now is not worth what the provider would read anew for it",
		conversation.ReasonSummaryNotReady:       "a model was asked for a summary, which is not there yet",
		conversation.ReasonSummaryRefused:        "a limit of rate or spending has refused the model's summary: it is asked for again",
		conversation.ReasonSummaryNotAsked:       "no model was asked for the summary yet",
		conversation.ReasonPruned:                "the tool result is older than the newest tokens, which pruning leaves alone",
		conversation.ReasonOverflow:              "the view outgrew its budget",
		conversation.ReasonMessageThreshold:      "more messages had gathered since the last summary than the policy allows",
		conversation.ReasonCompactRequest:        "CompactConversation asked for it",
		conversation.ReasonSummariesMerged:       "enough summaries of a level had gathered to become one of the next",
		conversation.ReasonRewindRequest:         "RewindConversation or UndoRewind asked for it",
		conversation.ReasonCorrectionRequest:     "CorrectMessage asked for it",
		conversation.ReasonCacheCold:             "the provider had nothing cached that it would have spoiled: a summary was ready, or the view took more than half of its budget",
		conversation.ReasonOverBudgetShare:       "the context is over its budget, and this is over its share of it: a part is shown, or a summary stands for it",
		conversation.ReasonNoRoom:                "the context is over its budget, and what has a stronger claim on it leaves no room for this",
		conversation.ReasonMemoriesAnswer:        "memories of earlier conversations answer the message",
		conversation.ReasonMemoryNoActor:         "the conversation has no actor_id, and no other scope is recalled from",
		conversation.ReasonMemoryQueryEmpty:      "the message has less than two words that a search could go by",
		conversation.ReasonMemoryBelowFloor:      "nothing that is remembered answers the message well enough",
		conversation.ReasonMemoryInView:          "what answers the message is in view already",
		conversation.ReasonMemoryOverCap:         "what is recalled has no room, by the policy's limits or the budget",
		conversation.ReasonMemoryDeadline:        "the memory did not answer in time",
		conversation.ReasonMemoryUnavailable:     "the memory could not be reached",
		conversation.ReasonMemoryIndexCold:       "the index of the actor's memories is being loaded",
		conversation.ReasonMemoryDryRun:          "a dry run recalls nothing",
		conversation.ReasonMemoryForgotten:       "the memories were deleted, or what they come from",
		conversation.ReasonOverCitationThreshold: "it was longer than the policy lets in: a citation stands for it",
		conversation.ReasonStoreContentRequest:   "StoreContent asked for it",
		conversation.ReasonRunEnded:              "its run has ended, or was not used for a day",
	}
	if r < 0 || int(r) >= len(words) {
		return ""
	}
	return words[r]
}
