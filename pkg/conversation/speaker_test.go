package conversation_test

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func TestItem_Speaker_NamesWhoIsNotTheUser(t *testing.T) {
	words := conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: "x"}}
	plugin, cited, media := words, words, conversation.Part{Kind: conversation.PartMedia, Media: &conversation.Media{}}
	plugin.Plugin, cited.Citation = "memo", &conversation.Citation{}
	user := conversation.Message{Role: conversation.RoleUser, Type: conversation.TypeUserInput}
	of := func(m conversation.Message, shown conversation.Part, beside ...conversation.Part) conversation.Item {
		m.Parts = append([]conversation.Part{shown}, beside...)
		return conversation.Item{Message: &m, Parts: []conversation.Part{shown}}
	}
	typed := func(kind conversation.MessageType) conversation.Message {
		return conversation.Message{Role: conversation.RoleUser, Type: kind}
	}
	edited := func(reason conversation.Reason, beside ...conversation.Part) conversation.Item {
		it := of(user, words, beside...)
		it.Level, it.Reason = conversation.Shortened, reason
		return it
	}
	for name, tt := range map[string]struct {
		item conversation.Item
		want string
		said bool
	}{
		"typed":                       {of(user, words), "user", true},
		"no type":                     {of(typed(0), words), "user", true},
		"beside a plugin":             {of(user, words, plugin), "user", true},
		"an image":                    {of(user, media), "user", false},
		"a plugin":                    {of(user, plugin), "plugin", false},
		"a plugin of a tool":          {of(conversation.Message{Role: conversation.RoleTool}, plugin), "plugin", false},
		"an action's result":          {of(typed(conversation.TypeActionResult), words), "action_result", false},
		"a sub-agent's result":        {of(typed(conversation.TypeSubAgentResult), words), "sub_agent_result", false},
		"a retry":                     {of(typed(conversation.TypeRetryContext), words), "retry_context", false},
		"a citation":                  {of(user, cited), "shortened", false},
		"first characters":            {edited(conversation.ReasonExpiredFirstChars), "user", true},
		"first characters of several": {edited(conversation.ReasonExpiredFirstChars, plugin), "shortened", false},
		"a model's summary":           {edited(conversation.ReasonExpiredSummary), "shortened", false},
		"an extract":                  {edited(conversation.ReasonExpiredExtract), "shortened", false},
		"the assistant":               {of(conversation.Message{Role: conversation.RoleAssistant}, words), "assistant", false},
	} {
		if got := tt.item.Speaker(0); got != tt.want || tt.item.SaidByUser(0) != tt.said {
			t.Errorf("%s: %s, said by the user is %v", name, got, !tt.said)
		}
	}
}
