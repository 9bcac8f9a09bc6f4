package history

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// list is a caller's list in a form in which neighbors cannot be told apart: segments of the assistant's and of everybody else's, in turn. In a
// segment, texts and media are in their order, and so are calls; results are a set. How they were divided into messages does not count.
type list struct {
	messages []provider.InputMessage
	segments []segment
	contents Contents
	answered map[spot]*conversation.ToolCall // the call of the list that a result answers
}

// segment is what the assistant, or what all others, say without the other side between.
type segment struct {
	assistant bool
	pieces    []piece
	calls     []listCall
	results   []listResult
}

// spot is where a part of the list stands.
type spot struct{ message, part int }

func (s spot) before(o spot) bool {
	return s.message < o.message || s.message == o.message && s.part < o.part
}

// piece is a text or media.
type piece struct {
	text  string
	media *conversation.Media
	at    spot
}

type listCall struct {
	call *conversation.ToolCall
	at   spot
}

type listResult struct {
	result *conversation.ToolResult
	call   *conversation.ToolCall // that it answers; nil if the list does not have it
	at     spot
}

func newList(messages []provider.InputMessage, contents Contents) *list {
	l := &list{messages: messages, contents: contents, answered: map[spot]*conversation.ToolCall{}}
	calls := map[string]*conversation.ToolCall{}
	for i := range messages {
		m := &messages[i]
		for p := range m.Parts {
			l.add(m, spot{i, p}, calls)
		}
	}
	return l
}

// add takes in a part. Ids repeat in real lists: a result answers the last call before it that has its id.
func (l *list) add(m *provider.InputMessage, at spot, calls map[string]*conversation.ToolCall) {
	p := &m.Parts[at.part]
	assistant := m.Role == conversation.RoleAssistant
	switch {
	case p.Kind == conversation.PartToolResult:
		l.answered[at] = calls[p.Result.CallID]
		s := l.segment(false)
		s.results = append(s.results, listResult{result: p.Result, call: calls[p.Result.CallID], at: at})
	case p.Kind == conversation.PartToolCall && assistant:
		calls[p.Call.CallID] = p.Call
		s := l.segment(true)
		s.calls = append(s.calls, listCall{call: p.Call, at: at})
	case p.Kind == conversation.PartText && !blank(p.Text.Inline):
		s := l.segment(assistant)
		s.pieces = append(s.pieces, piece{text: headed(m.Role, p.Text.Inline), at: at})
	case p.Kind == conversation.PartMedia:
		s := l.segment(assistant)
		s.pieces = append(s.pieces, piece{media: p.Media, at: at})
	}
}

// headed gives a system message the header under which formats without such messages show it.
func headed(role conversation.Role, text string) string {
	if role == conversation.RoleSystem {
		return provider.SystemHeader + text
	}
	return text
}

// segment is the last one, or a new one behind it.
func (l *list) segment(assistant bool) *segment {
	if n := len(l.segments); n == 0 || l.segments[n-1].assistant != assistant {
		l.segments = append(l.segments, segment{assistant: assistant})
	}
	return &l.segments[len(l.segments)-1]
}

// isMadeUp says whether formats may have put all of a segment there, so that the record has nothing of it.
func (l *list) isMadeUp(segment int) bool {
	s := &l.segments[segment]
	for i := range s.pieces {
		if !l.isPieceMadeUp(segment, i) {
			return false
		}
	}
	for i := range s.results {
		if !s.results[i].isMadeUp() {
			return false
		}
	}
	return !s.assistant
}

// isPieceMadeUp says so of a text: one opens a list, and one follows on an assistant who had the last word.
func (l *list) isPieceMadeUp(segment, i int) bool {
	p := &l.segments[segment].pieces[i]
	switch {
	case p.media != nil || i > 0:
		return false
	case segment == 0:
		return p.text == provider.OpenerText
	default:
		return p.text == provider.ContinueText
	}
}

func (r *listResult) isMadeUp() bool {
	return strings.TrimSpace(r.result.Words()) == provider.UnansweredText
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }
