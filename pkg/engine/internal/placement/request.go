package placement

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// NoteRequest updates the head for a message that holds a user's own words.
func NoteRequest(head *store.Head, m *conversation.Message) {
	if m.RequestBack = 0; !m.OwnWords() {
		return
	}
	if head.Request >= 0 {
		m.RequestBack = m.Index - head.Request
	}
	if head.Request = m.Index; head.Opening < 0 {
		head.Opening = m.Index
	}
}

// NumberInput numbers the messages that retention counts.
func NumberInput(head *store.Head, m *conversation.Message) {
	m.Place = conversation.Place{}
	if m.Role != conversation.RoleUser && m.Role != conversation.RoleTool {
		return
	}
	head.Place.Inputs++
	if m.Carries() {
		head.Place.Carrying++
		m.Place = head.Place
	}
}
