package conversation

import "slices"

// EventsOf returns the events of edits, in order.
func EventsOf(edits []Edit) []Event {
	out := make([]Event, 0, len(edits))
	for i := range edits {
		out = append(out, EventsOfEdit(&edits[i])...)
	}
	return out
}

// EventsOfEdit returns the events that an edit means for its messages. Only one of them has the tokens that it saves.
func EventsOfEdit(e *Edit) []Event {
	var out []Event
	switch e.Kind {
	case EditSummarize, EditHide, EditUnhide, EditTakeOut, EditPutBack:
		return []Event{eventOfSpan(e)}
	case EditStoreContent, EditExpireContent:
		return []Event{eventOfContent(e)}
	}
	for index := e.Range.First; index < e.Range.End; index++ {
		ev := Event{Turn: e.Turn, Index: index, Last: index, Reason: e.Reason, EditSeq: e.Seq}
		switch e.Kind {
		case EditParts:
			ev.Type, ev.Level, ev.Expandable = eventOfParts(e), levelOf(e), !e.Erases
			ev.Content = citedBy(e)
		case EditMask:
			ev.Type, ev.Expandable = EventRetentionApplied, len(e.Mask) > 0
		case EditRestore:
			if len(e.Brought) > 0 && !slices.Contains(e.Brought, index) {
				continue
			}
			ev.Type, ev.Said = EventExpanded, e.Said
		case EditCorrect:
			ev.Type, ev.Said = EventCorrected, e.Said
		case EditRecall:
			ev.Type = EventMemoryForgotten
			if len(e.Parts) > 0 {
				ev.Type, ev.Recalled = EventMemoryRecalled, e.Parts[0].Shown.Recalled
			}
		case EditReturn:
			ev.Type = EventCopyReturned
		case EditRemove:
			ev.Type, ev.Level, ev.Expandable = EventExpired, Removed, !e.Erases
			if e.Reason == ReasonExpired {
				out = append(out, ev)
			}
			ev.Type = EventRemoved
		default:
			continue
		}
		out = append(out, ev)
	}
	if len(out) > 0 {
		out[len(out)-1].Saved = e.Before - e.After
	}
	return out
}

// eventOfContent returns the event of a content that was stored or deleted. If StoreContent stored it, the event belongs to
// no message.
func eventOfContent(e *Edit) Event {
	index := e.Range.First
	if e.Range.Len() == 0 {
		index = -1
	}
	ev := Event{
		Type: EventContentStored, Turn: e.Turn, Index: index, Last: index, Reason: e.Reason, EditSeq: e.Seq, Content: e.Content,
	}
	if e.Kind == EditExpireContent {
		ev.Type = EventContentExpired
	}
	return ev
}

// eventOfSpan returns the single event of an edit about a range as a whole.
func eventOfSpan(e *Edit) Event {
	ev := Event{
		Type: EventHidden, Turn: e.Turn, Index: e.Range.First, Last: e.Range.End - 1, Reason: e.Reason, EditSeq: e.Seq,
		Saved: e.Before - e.After,
	}
	switch {
	case e.Summary != nil:
		ev.Type, ev.Summary, ev.Expandable = EventSummarized, e.Summary.ID, true
	case e.Kind == EditUnhide:
		ev.Type = EventRewindUndone
	case e.Kind == EditTakeOut:
		ev.Type, ev.Level, ev.Expandable = EventRemoved, Removed, true
	case e.Kind == EditPutBack:
		ev.Type = EventExpanded
	}
	return ev
}

// eventOfParts returns the type of the event of an edit that replaces parts.
func eventOfParts(e *Edit) EventType {
	switch {
	case e.Reason == ReasonPruned:
		return EventPruned
	case e.Reason == ReasonDuplicateLines:
		return EventDeduplicated
	case e.Reason == ReasonOverCitationThreshold, e.Reason == ReasonRunEnded:
		return EventCited
	case e.Reason == ReasonExpired:
		return EventExpired
	case e.Reason.Expired():
		return EventCompacted
	default:
		return EventClipped
	}
}

// citedBy returns the handle of the content that an edit cites; empty for other edits.
func citedBy(e *Edit) string {
	if e.Reason == ReasonOverCitationThreshold && e.Parts[0].Shown.Citation != nil {
		return e.Parts[0].Shown.Citation.ContentID
	}
	return ""
}

func levelOf(e *Edit) Level {
	level := Full
	for i := range e.Parts {
		level = max(level, e.Parts[i].Level)
	}
	return level
}
