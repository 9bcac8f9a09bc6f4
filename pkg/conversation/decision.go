package conversation

// DecisionKind says what was decided about messages that are not shown in full.
type DecisionKind int8

// The kinds of decisions. The numbers are those of the API.
const (
	DecisionClipped DecisionKind = iota + 1
	DecisionLeftOut
	DecisionRepaired
	DecisionCompacted
	DecisionCleared
	DecisionRemoved
	DecisionMasked
	DecisionDeferred
	DecisionSummarized
	DecisionPruned
	DecisionHidden
	DecisionCited
	DecisionCorrected
	DecisionRecalled
	DecisionDeduplicated
)

// Reason says why something was decided. It is a closed set.
type Reason int8

// The reasons. The numbers are those of the API.
const (
	ReasonUnspecified Reason = iota
	ReasonResultOverShare
	ReasonNewestUnitOverBudget
	ReasonBeforeWindow
	ReasonCallNeverAnswered
	ReasonResultLate
	ReasonEmptyText
	ReasonForeignBlock
	ReasonArgumentsWrapped
	ReasonOpenerAdded
	ReasonContinueAdded
	ReasonSystemAsUser
	ReasonMediaAsText
	ReasonAppended
	ReasonNameReplaced
	ReasonExpired
	ReasonUnitExpired
	ReasonExpiredFirstChars
	ReasonExpiredSummary
	ReasonExpiredExtract
	ReasonRetention
	ReasonExpandRequest
	ReasonHeldForRewrite
	ReasonSummaryNotReady
	ReasonPruned
	ReasonOverflow
	ReasonMessageThreshold
	ReasonCompactRequest
	ReasonSummariesMerged
	ReasonRewindRequest
	ReasonCacheCold
	ReasonOverCitationThreshold
	ReasonStoreContentRequest
	ReasonRunEnded
	ReasonOverBudgetShare
	ReasonNoRoom
	ReasonSummaryRefused
	ReasonSummaryNotAsked
	ReasonCorrectionRequest
	ReasonMemoriesAnswer
	ReasonMemoryNoActor
	ReasonMemoryQueryEmpty
	ReasonMemoryBelowFloor
	ReasonMemoryInView
	ReasonMemoryOverCap
	ReasonMemoryDeadline
	ReasonMemoryUnavailable
	ReasonMemoryIndexCold
	ReasonMemoryDryRun
	ReasonMemoryForgotten
	ReasonResidueDropped
	ReasonDuplicateLines
	ReasonCopyNotShown
	ReasonSignatureAdded
	ReasonBytesReplaced
	ReasonRemovedByCaller
)

// Expired reports whether the reason is one of an expiry.
func (r Reason) Expired() bool {
	switch r {
	case ReasonExpired, ReasonUnitExpired, ReasonExpiredFirstChars, ReasonExpiredSummary, ReasonExpiredExtract:
		return true
	default:
		return false
	}
}

// Decision explains why the messages First to Last (inclusive) are not shown as they were appended. Both are -1 for a
// message that rendering added.
type Decision struct {
	First, Last   int32
	Kind          DecisionKind
	Reason        Reason
	Before, After int64 // in tokens
	EditSeq       int64 // the edit that did it; 0 for none
	Summary       int64 // the summary that stands for the messages; 0 for none
}

// EventType says what happened to a message.
type EventType int8

// The events. The numbers are those of the API.
const (
	EventAdded EventType = iota + 1
	EventClipped
	EventExpired
	EventCompacted
	EventRemoved
	EventRetentionApplied
	EventExpanded
	EventPruned
	EventSummarized
	EventHidden
	EventCompactionFailed
	EventCited
	EventContentStored
	EventContentExpired
	EventRewindUndone
	EventCorrected
	EventMemoryRecalled
	EventMemorySkipped
	EventMemoryForgotten
	EventDeduplicated
	EventCopyReturned
)

// Event is something that happened to a message, or to the messages from Index to Last.
type Event struct {
	Type    EventType
	Turn    int32
	Index   int32
	Last    int32  // inclusive; equal to Index for a single message
	Summary int64  // the summary that the event is about; 0 for none
	Content string // the handle of the content that the event is about; empty for none
	Reason  Reason
	Saved   int64 // in tokens
	EditSeq int64
	Level   Level  // level of the message after the event
	Said    string // the reason in the caller's words, for EventExpanded and EventCorrected
	// Recalled holds the memories of an EventMemoryRecalled; nil for all other events.
	Recalled *RecalledMemories
	// Expandable is set if the record holds more than is still shown.
	Expandable bool
}

// Degradation is something that was asked for and could not be done. Its texts are safe to log: they hold nothing of the
// conversation.
type Degradation struct {
	Code                string // a name for programs; empty for most
	Asked, Reason, Done string
}
