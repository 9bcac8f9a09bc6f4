package span

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// story is what a stretch of conversation holds, before anybody has looked at how much of it fits.
type story struct {
	last     int32 // the index of the last message
	users    []saying
	speeches []saying // of the assistant
	actions  []*action
	byCall   map[int32]*action // by ordinal
	mentions mentions
	old      told
	now      int // how many messages were read
}

// saying is what somebody said in one message.
type saying struct {
	text      string
	sentences []string
	at        int // the number of the message in the stretch
}

// action is a call, and what came of it.
type action struct {
	callDetails
	at      int
	open    bool // no result came
	failed  bool
	outcome string // the words of the failure, or a short result
}

func readStory(earlier []string, units []conversation.Unit) *story {
	s := &story{byCall: map[int32]*action{}, mentions: mentions{}}
	for _, text := range earlier {
		s.old.read(text)
	}
	for i := range units {
		u := &units[i]
		s.last = u.Last()
		if u.Summary != nil {
			s.old.read(u.Summary.Summary.Text.Inline)
		}
		for k := range u.Items {
			if u.Items[k].Message.Role != conversation.RoleSystem {
				s.read(&u.Items[k])
			}
		}
	}
	return s
}

func (s *story) read(it *conversation.Item) {
	s.now++
	var own, foreign texts
	for i := range it.Parts {
		said := &own
		if it.Speaker(i) != it.Message.Role.String() {
			said = &foreign
		}
		switch p := &it.Parts[i]; p.Kind {
		case conversation.PartText:
			said.add(summarize.Filter(p.Text.Inline), it.Speaker(i))
		case conversation.PartMedia:
			said.add(p.Media.Line(), it.Speaker(i))
		case conversation.PartToolCall:
			s.readCall(p.Call)
		case conversation.PartToolResult:
			s.readResult(p.Result)
		}
	}
	s.readForeign(&foreign)
	s.readOwn(it.Message.Role, own.text())
}

// texts are what is said in a message by its role, or by others in its role.
type texts struct {
	said    []string
	speaker string // of the last
}

func (t *texts) add(text, speaker string) { t.said, t.speaker = append(t.said, text), speaker }

func (t *texts) text() string { return strings.TrimSpace(strings.Join(t.said, "\n")) }

func (s *story) readOwn(role conversation.Role, text string) {
	if text == "" {
		return
	}
	switch role {
	case conversation.RoleUser:
		s.users = append(s.users, saying{text, sentencesOf(text), s.now})
		s.mentions.read(text, s.now, byUser)
	case conversation.RoleAssistant:
		s.speeches = append(s.speeches, saying{text, sentencesOf(text), s.now})
		s.mentions.read(text, s.now, byAssistant)
	default:
		s.mentions.read(text, s.now, byTool)
	}
}

// readForeign takes what somebody else says in a user's role as what it is: the outcome of something that was done.
func (s *story) readForeign(t *texts) {
	text := t.text()
	if text == "" {
		return
	}
	a := &action{callDetails: callDetails{tool: t.speaker}, at: s.now}
	a.outcome, a.failed = outcomeOf(text, false)
	s.actions = append(s.actions, a)
	s.mentions.read(text, s.now, byTool)
}

func (s *story) readCall(c *conversation.ToolCall) {
	arguments := summarize.Filter(c.Arguments.Inline)
	members := membersOf(arguments)
	a := &action{callDetails: detailsOf(summarize.Filter(c.Name), arguments, members), at: s.now, open: true}
	s.actions = append(s.actions, a)
	s.byCall[c.Ordinal] = a
	if len(members) == 0 {
		s.mentions.read(arguments, s.now, byAssistant)
	}
	for _, m := range members {
		s.mentions.read(m.value, s.now, byAssistant)
	}
}

func (s *story) readResult(r *conversation.ToolResult) {
	a := s.byCall[r.Ordinal]
	if a == nil {
		a = &action{callDetails: callDetails{tool: summarize.Filter(r.Name)}, at: s.now}
		s.actions = append(s.actions, a)
	}
	text := resultText(r)
	a.open = false
	a.outcome, a.failed = outcomeOf(text, r.State == conversation.ResultError)
	s.mentions.read(text, s.now, byTool)
}

// resultText is what a result says, each of its pieces filtered by itself.
func resultText(r *conversation.ToolResult) string {
	texts := r.Texts()
	for i := range texts {
		texts[i] = summarize.Filter(texts[i])
	}
	return strings.Join(texts, "\n")
}
