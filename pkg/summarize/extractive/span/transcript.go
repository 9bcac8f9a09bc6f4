package span

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// transcript is what a stretch of conversation contains, before it is cut to its room.
type transcript struct {
	lastIndex         int32 // the index of the last message
	userMessages      []utterance
	assistantMessages []utterance // of the assistant
	actions           []*action
	byCall            map[int32]*action // by ordinal
	mentions          mentions
	earlier           earlierSummaries
	messageCount      int // how many messages were read
}

// utterance is what somebody says in one message.
type utterance struct {
	text      string
	sentences []string
	message   int // the number of the message in the stretch
}

// action is a call and its outcome.
type action struct {
	callDetails
	message int
	open    bool // no result came
	failed  bool
	outcome string // the words of the failure, or a short result
}

func readTranscript(earlier []string, units []conversation.Unit) *transcript {
	s := &transcript{byCall: map[int32]*action{}, mentions: mentions{}}
	for _, text := range earlier {
		s.earlier.read(text)
	}
	for i := range units {
		u := &units[i]
		s.lastIndex = u.Last()
		if u.Summary != nil {
			s.earlier.read(u.Summary.Summary.Text.Inline)
		}
		for k := range u.Items {
			if u.Items[k].Message.Role != conversation.RoleSystem {
				s.read(&u.Items[k])
			}
		}
	}
	return s
}

func (s *transcript) read(it *conversation.Item) {
	s.messageCount++
	var own, foreign spokenTexts
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
	s.addForeign(&foreign)
	s.addSpoken(it.Message.Role, own.text())
}

// spokenTexts are the texts of a message by its role, or by others in that role.
type spokenTexts struct {
	said    []string
	speaker string // of the last
}

func (t *spokenTexts) add(text, speaker string) { t.said, t.speaker = append(t.said, text), speaker }

func (t *spokenTexts) text() string { return strings.TrimSpace(strings.Join(t.said, "\n")) }

func (s *transcript) addSpoken(role conversation.Role, text string) {
	if text == "" {
		return
	}
	switch role {
	case conversation.RoleUser:
		s.userMessages = append(s.userMessages, utterance{text, sentencesOf(text), s.messageCount})
		s.mentions.read(text, s.messageCount, byUser)
	case conversation.RoleAssistant:
		s.assistantMessages = append(s.assistantMessages, utterance{text, sentencesOf(text), s.messageCount})
		s.mentions.read(text, s.messageCount, byAssistant)
	default:
		s.mentions.read(text, s.messageCount, byTool)
	}
}

// addForeign records what somebody else says in the user's role as the outcome of an action.
func (s *transcript) addForeign(t *spokenTexts) {
	text := t.text()
	if text == "" {
		return
	}
	a := &action{callDetails: callDetails{tool: t.speaker}, message: s.messageCount}
	a.outcome, a.failed = outcomeOf(text, false)
	s.actions = append(s.actions, a)
	s.mentions.read(text, s.messageCount, byTool)
}

func (s *transcript) readCall(c *conversation.ToolCall) {
	arguments := summarize.Filter(c.Arguments.Inline)
	members := parseMembers(arguments)
	a := &action{callDetails: newCallDetails(summarize.Filter(c.Name), arguments, members), message: s.messageCount, open: true}
	s.actions = append(s.actions, a)
	s.byCall[c.Ordinal] = a
	if len(members) == 0 {
		s.mentions.read(arguments, s.messageCount, byAssistant)
	}
	for _, m := range members {
		s.mentions.read(m.value, s.messageCount, byAssistant)
	}
}

func (s *transcript) readResult(r *conversation.ToolResult) {
	a := s.byCall[r.Ordinal]
	if a == nil {
		a = &action{callDetails: callDetails{tool: summarize.Filter(r.Name)}, message: s.messageCount}
		s.actions = append(s.actions, a)
	}
	text := resultText(r)
	a.open = false
	a.outcome, a.failed = outcomeOf(text, r.State == conversation.ResultError)
	s.mentions.read(text, s.messageCount, byTool)
}

// resultText returns the text of a result, each part filtered by itself.
func resultText(r *conversation.ToolResult) string {
	texts := r.Texts()
	for i := range texts {
		text, _ := content.WithoutBase64(texts[i], "")
		texts[i] = summarize.Filter(text)
	}
	return strings.Join(texts, "\n")
}
