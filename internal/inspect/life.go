package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

// life is what is known of a message.
type life struct {
	*sheet.Sheet
	textWidth
	conversation string
	message      *pb.Message
	events       []*pb.WatchEventsResponse // about it, oldest first
	built        bool                      // a build was possible
	refused      string                    // why it was not
	shownNow     *pb.ContextMessage        // nil if a build does not show it
	decisions    []*pb.Decision            // about it, of a build now
}

// take keeps an event that is about the message.
func (l *life) take(w *pb.WatchEventsResponse) (more bool, err error) {
	e, index := w.GetEvent(), l.message.GetIndex()
	if eventMessages(e) == "" {
		if l.cites(e.GetContentId()) {
			l.events = append(l.events, w)
		}
		return true, nil
	}
	if e.GetMessageIndex() <= index && index < e.GetEndIndex() {
		l.events = append(l.events, w)
	}
	return true, nil
}

// cites says whether a content is one that a citation in the message stands for.
func (l *life) cites(content string) bool {
	return slices.ContainsFunc(l.events, func(w *pb.WatchEventsResponse) bool { return w.GetEvent().GetContentId() == content })
}

func (l *life) print() {
	m := l.message
	about := fmt.Sprintf("Message %d of %s: %s, %s tokens", m.GetIndex(), l.conversation, subject(m.GetRole(), m.GetParts()), terminal.Number(int64(m.GetTokenCount())))
	l.Say(about + pinnedWords(m) + ".")
	if text := l.excerpt(l.Sheet, m.GetParts()); text != "" {
		l.Say(text)
	}
	l.Line("")
	l.past()
	l.Line("")
	for _, sentence := range l.now() {
		l.Say(sentence)
	}
	if l.shownNow == nil || l.shownForm() != "" {
		l.original()
	}
}

func pinnedWords(m *pb.Message) string {
	if m.GetPinned() {
		return ", pinned"
	}
	return ""
}

// past tells what was done to the message, in the order in which it was done.
func (l *life) past() {
	m := l.message
	list := &sheet.Table{Sheet: l.Sheet, Wrapped: true, Columns: []sheet.Column{
		{Title: "turn", Right: true}, {Title: "time (UTC)"}, {Title: "saved", Right: true}, {Title: "by"}, {Title: "what happened"},
	}}
	rows := [][]string{{fmt.Sprint(m.GetTurnAdded()), timestamp(m.GetCreateTime()), "", "", joinNonEmpty(": ", "appended", l.lifetime())}}
	for _, w := range l.events {
		e := w.GetEvent()
		if e.GetType() == pb.EventType_EVENT_TYPE_ADDED {
			continue // the message itself says it, for longer than events are kept
		}
		what := eventText(e)
		if e.GetEndIndex()-e.GetMessageIndex() > 1 {
			what += " (messages " + indexRange(e.GetMessageIndex(), e.GetEndIndex()) + ")"
		}
		rows = append(rows, []string{
			fmt.Sprint(e.GetTurn()), timestamp(w.GetEventTime()), savedTokens(e), eventIDs(e), what,
		})
	}
	list.Rows(rows)
	l.forgotten()
}

// lifetime says how long the message, or a result in it, lives in full.
func (l *life) lifetime() string {
	x := l.message.GetExpiration()
	for _, p := range l.message.GetParts() {
		if r := p.GetToolResult().GetExpiration(); r != nil && r.Turns != nil {
			x = r
		}
	}
	if x == nil || x.Turns == nil || x.GetMode() <= pb.ExpirationMode_EXPIRATION_MODE_NONE {
		return ""
	}
	return fmt.Sprintf("in full for %s, then %sed", sheet.Count(int(x.GetTurns()), "turn"), strings.TrimSuffix(sheet.EnumText(x.GetMode()), "e"))
}

// forgotten says if the edit in force was made before the oldest event that is kept.
func (l *life) forgotten() {
	edit := l.message.GetView().GetEditId()
	if edit != "" && !slices.ContainsFunc(l.events, func(w *pb.WatchEventsResponse) bool { return w.GetEvent().GetEditId() == edit }) {
		l.Say(fmt.Sprintf("Edit %s is in force; its event is no longer kept.", edit))
	}
}

// now says what the model sees of the message.
func (l *life) now() []string {
	sentences := []string{l.visibility()}
	for _, d := range l.decisions {
		if d.GetKind() == pb.DecisionKind_DECISION_KIND_DEFERRED {
			sentences = append(sentences, fmt.Sprintf("Something is due and waits: %s.", whyDecided(d)))
		}
		if d.GetKind() == pb.DecisionKind_DECISION_KIND_REPAIRED {
			sentences = append(sentences, fmt.Sprintf("For the provider, the rendering repairs it: %s.", whyDecided(d)))
		}
	}
	return sentences
}

// whyDecided prefers the words for one message to the sidecar's own, which may speak of many.
func whyDecided(d *pb.Decision) string {
	if words, ok := reasons[d.GetReason()]; ok || d.GetDetail() == "" {
		return cmp.Or(words, sheet.EnumText(d.GetReason()))
	}
	return d.GetDetail()
}

// visibility is the one sentence about whether and how the model sees it.
func (l *life) visibility() string {
	v, m := l.message.GetView(), l.message
	switch {
	case v.GetHidden():
		return "Now the model does not see it: RewindConversation took it back."
	case v.GetRemovedByCaller() && v.GetLevel() == pb.ViewLevel_VIEW_LEVEL_REMOVED:
		return "Now the model does not see it: the caller's own list no longer holds it."
	case v.GetSummaryId() != "":
		return fmt.Sprintf("Now the model does not see it itself: summary %s stands for %s.", v.GetSummaryId(), l.summarizedWith())
	case l.refused != "":
		return fmt.Sprintf("Nothing can be built now (%s). %s", l.refused, lastSeen(v))
	case l.shownNow == nil:
		return fmt.Sprintf("Now the model does not see it: %s.", l.absence())
	case strings.HasPrefix(l.shownForm(), correctedForm):
		return fmt.Sprintf("Now the model sees it in other words: %s.", l.shownForm())
	case l.shownForm() != "":
		return fmt.Sprintf("Now the model sees %s of its %s tokens: %s.",
			terminal.Number(int64(l.shownNow.GetTokens())), terminal.Number(int64(m.GetTokenCount())), l.shownForm())
	default:
		return "Now the model sees it in full, as it was appended."
	}
}

func lastSeen(v *pb.MessageView) string {
	if v.GetInView() {
		return fmt.Sprintf("The newest build showed it: %s.", joinNonEmpty(" ", sheet.EnumText(v.GetLevel()), v.GetEditId()))
	}
	return "The newest build did not show it."
}

// summarizedWith is the message with all that the same summary stands for.
func (l *life) summarizedWith() string {
	for _, d := range l.decisions {
		if d.GetSummaryId() == l.message.GetView().GetSummaryId() && d.GetEndIndex()-d.GetStartIndex() > 1 {
			return "messages " + indexRange(d.GetStartIndex(), d.GetEndIndex())
		}
	}
	return "it"
}

// absence says why a build does not show it.
func (l *life) absence() string {
	for _, d := range l.decisions {
		switch d.GetKind() {
		case pb.DecisionKind_DECISION_KIND_LEFT_OUT, pb.DecisionKind_DECISION_KIND_REMOVED, pb.DecisionKind_DECISION_KIND_MASKED,
			pb.DecisionKind_DECISION_KIND_SUMMARIZED, pb.DecisionKind_DECISION_KIND_HIDDEN, pb.DecisionKind_DECISION_KIND_REPAIRED:
			return whyDecided(d)
		}
	}
	return "no decision names it"
}

// correctedForm begins the form of a message that is shown whole, in the words that CorrectMessage gave it.
var correctedForm = sheet.EnumText(pb.DecisionKind_DECISION_KIND_CORRECTED)

// isCorrected says whether CorrectMessage gave it other words: they are what an expansion returns.
func (l *life) isCorrected() bool {
	return slices.ContainsFunc(l.decisions, func(d *pb.Decision) bool { return d.GetKind() == pb.DecisionKind_DECISION_KIND_CORRECTED })
}

// shownForm says in which form a build shows it and why, if it is not in full.
func (l *life) shownForm() string {
	for _, kind := range slices.Backward(formKinds) {
		for _, d := range l.decisions {
			if d.GetKind() == kind && kind != pb.DecisionKind_DECISION_KIND_DEFERRED {
				return joinNonEmpty("; ", joinNonEmpty(" ", sheet.EnumText(kind), d.GetEditId()), whyDecided(d))
			}
		}
	}
	return ""
}

// original says whether what was appended can be had back, and how.
func (l *life) original() {
	for _, p := range l.message.GetParts() {
		if p.GetErasure() != nil {
			l.Say("Something of it was erased, as its expiration asked for, and cannot be had back.")
			return
		}
	}
	if l.isCorrected() {
		l.Say("In full, in its new words:")
	} else {
		l.Say("It is on record as it was appended:")
	}
	l.Line("  " + l.Clean(fmt.Sprintf("sidecar expand %s %d", shellWord(l.conversation), l.message.GetIndex())))
	for i, handle := range strings.Fields(contentIDs(l.shownNow.GetParts())) {
		if i == 0 {
			l.Say("Passages of what is cited:")
		}
		l.Line("  " + l.Clean(fmt.Sprintf("sidecar retrieve %s %s --search TERM", shellWord(l.conversation), handle)))
	}
}

// shellWord quotes what a shell would not take as one word: ids are chosen by clients, and commands are copied.
func shellWord(id string) string {
	if strings.Trim(id, "-._:/@0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		return id
	}
	return "'" + strings.ReplaceAll(id, "'", `'\''`) + "'"
}
