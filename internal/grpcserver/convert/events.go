package convert

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// ToEvent returns what happened to a message or a content.
func ToEvent(e conversation.Event) *pb.LifecycleEvent {
	out := &pb.LifecycleEvent{
		Type:         pb.EventType(e.Type),
		Turn:         e.Turn,
		MessageIndex: e.Index,
		Reason:       pb.DecisionReason(e.Reason),
		TokensSaved:  e.Saved,
		EditId:       EditID(e.EditSeq),
		EndIndex:     EndAfter(e.Index, e.Last),
		SummaryId:    SummaryID(e.Summary),
		ContentId:    e.Content,
		View:         viewAfter(e),
	}
	switch e.Type {
	case conversation.EventExpanded:
		out.ExpandReason = e.Said
	case conversation.EventCorrected:
		out.CorrectionReason = e.Said
	case conversation.EventMemoryRecalled:
		out.MemoryIds = e.Recalled.IDs()
	}
	return out
}

// EndAfter is the end of the range from the first message to the last one. What is about no message begins at -1 and ends there: its
// range is empty.
func EndAfter(first, last int32) int32 {
	if first < 0 {
		return first
	}
	return max(first, last) + 1
}

// viewAfter is where the event leaves the message; nil if it is about a content, which has no place in the view.
func viewAfter(e conversation.Event) *pb.MessageView {
	if e.Type == conversation.EventContentStored || e.Type == conversation.EventContentExpired {
		return nil
	}
	return &pb.MessageView{
		Level:       toLevel(e.Level),
		EditId:      EditID(e.EditSeq),
		TokensSaved: e.Saved,
		CanExpand:   e.Expandable,
		Expired:     e.Reason.Expired(),
		SummaryId:   standsFor(e),
		Hidden:      e.Type == conversation.EventHidden,
	}
}

// standsFor is the summary that stands for the messages after the event.
func standsFor(e conversation.Event) string {
	if e.Type != conversation.EventSummarized {
		return ""
	}
	return SummaryID(e.Summary)
}
