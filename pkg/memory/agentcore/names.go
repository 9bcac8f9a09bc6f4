package agentcore

import (
	"errors"
	"fmt"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// actorOf is what a scope's actor is called: its external id, with the kind before it where a user's or a namespace's could be called so.
func actorOf(s memory.Scope) string {
	switch id := s.ExternalID(); {
	case s.Kind == memory.ScopeSession:
		return "session:" + id
	case s.Kind == memory.ScopeAgent:
		return "agent:" + id
	case id[0] == '-' || id[0] == '_': // the service wants a letter or a digit first
		s.Namespace, id, _ = strings.Cut(id, ":")
		return strings.TrimSuffix("h-"+memory.Digest(s.Namespace)+":"+id, ":")
	default:
		return id
	}
}

// tokenOf is the token by which the service knows a request again. Tokens are of the whole memory, keys are of a scope.
func tokenOf(what string, s memory.Scope, key string) *string {
	token := memory.Digest(fmt.Sprintf("%s %d %q %q %q", what, s.Kind, s.Namespace, s.ID, key))
	return &token
}

// ofConversation begins the names of all sessions of a conversation's incarnations.
func ofConversation(name string) string { return memory.Digest(name)[:20] + "-" }

// ofIncarnation begins the names of all sessions of one incarnation.
func ofIncarnation(name string, id conversation.ID) string {
	return ofConversation(name) + id.String() + "-"
}

// sessionOf names the session of a batch, in at most 100 characters.
func sessionOf(b *memory.Batch) string {
	session := b.Session
	if len(session) > 46 || strings.Trim(session, plain) != "" {
		session = memory.Digest(session)[:40]
	}
	return ofIncarnation(b.Conversation, b.Incarnation) + session
}

const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// layout is where strategies put an actor's records.
type layout struct {
	head, tail string // around the actor, up to the session if there is one
	sessions   bool   // each session has a segment of its own
}

var errTemplate = errors.New("agentcore: the namespace must be segments of letters, digits, hyphens and underscores behind slashes, " +
	"one of them {actorId}, and a later one {sessionId} or none")

// newLayout parses a template such as /actors/{actorId} or /actors/{actorId}/sessions/{sessionId}.
func newLayout(template string) (layout, error) {
	segments := strings.Split(strings.TrimSuffix(template, "/"), "/")
	var actors, sessions int
	for i, segment := range segments {
		switch {
		case segment == "{actorId}":
			actors++
		case segment == "{sessionId}" && actors == 1:
			sessions++
		case i == 0 && segment != "" || i > 0 && (segment == "" || strings.Trim(segment, plain) != ""):
			return layout{}, errTemplate
		}
	}
	if actors != 1 || sessions > 1 || len(template) > 500 {
		return layout{}, errTemplate
	}
	template, _, withSession := strings.Cut(template, "{sessionId}")
	head, tail, _ := strings.Cut(template, "{actorId}")
	return layout{head: head, tail: tail, sessions: withSession}, nil
}

// path is the namespace under which all records of a scope are, and notes themselves.
func (l layout) path(s memory.Scope) *string {
	path := l.head + actorOf(s) + l.tail
	return &path
}

// saidPath is where messages of a conversation are that are kept as they are: below the scope's path, so that they are found with the rest of
// it, and apart, so that they are found without it.
func (l layout) saidPath(s memory.Scope, name string, id conversation.ID) *string {
	path := strings.TrimSuffix(*l.path(s), "/") + "/said/" + strings.TrimSuffix(ofIncarnation(name, id), "-")
	return &path
}

// within says what of a record's namespace is below a path, and whether it is there at all. It is asked of every answer: a service that took
// paths for prefixes would show one actor another whose name only begins alike.
func within(path string, namespaces []string) (below string, ok bool) {
	if len(namespaces) != 1 {
		return "", false
	}
	path = strings.TrimSuffix(path, "/")
	below, ok = strings.CutPrefix(namespaces[0], path)
	return strings.Trim(below, "/"), ok && (below == "" || below[0] == '/')
}
