package demo

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	palimpsestv1 "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// lives says how long the results of a tool are shown in full, and what happens then. It goes with each result, so that the
// catalogue of a sidecar that runs already stays as it is.
func lives(tool string) *palimpsestv1.Expiration {
	switch tool {
	case "list":
		return expires(1, palimpsestv1.ExpirationMode_EXPIRATION_MODE_REMOVE, 0, 0)
	case "search":
		return expires(3, compact, firstChars, 300)
	case "read":
		return expires(2, compact, summary, 2_400)
	case "go_doc":
		return expires(4, compact, summary, 2_400)
	case expandTool:
		return expires(3, compact, firstChars, 200)
	}
	return nil
}

const (
	compact    = palimpsestv1.ExpirationMode_EXPIRATION_MODE_COMPACT
	firstChars = palimpsestv1.CompactMode_COMPACT_MODE_FIRST_N_CHARS
	summary    = palimpsestv1.CompactMode_COMPACT_MODE_AI_SUMMARY
)

func expires(turns int32, mode palimpsestv1.ExpirationMode, how palimpsestv1.CompactMode, length int32) *palimpsestv1.Expiration {
	e := &palimpsestv1.Expiration{Turns: &turns, Mode: mode, CompactMode: how}
	if length > 0 {
		e.CompactLength = &length
	}
	return e
}

// immortal is a message without its expirations.
func immortal(m *palimpsestv1.Message) *palimpsestv1.Message {
	m = proto.CloneOf(m)
	m.Expiration = nil
	for _, part := range m.Parts {
		if r := part.GetToolResult(); r != nil {
			r.Expiration = nil
		}
	}
	return m
}

// The plugins: two that speak with the user's questions, and one that speaks when a tool fails.
const (
	manner   = "manner"
	progress = "progress"
	coach    = "coach"
)

// questionNotes is what plugins add to a question: how to answer it, for the next build alone; and how far the work was, for
// good. A note that left an old question later would make the provider read everything behind it anew.
func (a *agent) questionNotes() []*palimpsestv1.AdditionalContent {
	far := fmt.Sprintf("Until now: %d tool calls, %s of results.", a.calls, weight(a.resultBytes()))
	return []*palimpsestv1.AdditionalContent{
		shown(manner, "Answer in at most three sentences. Name what you did not read."),
		{
			Plugin: progress, Header: "[progress]", Parts: words(far), DisplayOnCurrentMessage: true,
			SaveToChatHistory: &palimpsestv1.AdditionalContent_Always{Always: &palimpsestv1.Always{}},
		},
	}
}

const questionNoted = manner + ": for this build alone; " + progress + ": for good"

func (a *agent) resultBytes() (n int64) {
	for i := range a.entries {
		if a.entries[i].role == palimpsestv1.Role_ROLE_TOOL {
			n += int64(a.entries[i].bytes)
		}
	}
	return n
}

// failureNotes is what a plugin adds to the result of a tool that failed, until the next message with notes.
func failureNotes() []*palimpsestv1.AdditionalContent {
	note := shown(coach, "Look into the folder before you guess a file's name.")
	note.SaveToChatHistory = &palimpsestv1.AdditionalContent_KeepLast{KeepLast: 1}
	return []*palimpsestv1.AdditionalContent{note}
}

const failureNoted = coach + ": until a plugin speaks again"

// shown is for the next build alone.
func shown(plugin, text string) *palimpsestv1.AdditionalContent {
	return &palimpsestv1.AdditionalContent{
		Plugin: plugin, Parts: words(text), DisplayOnCurrentMessage: true,
		SaveToChatHistory: &palimpsestv1.AdditionalContent_Never{Never: &palimpsestv1.Never{}},
	}
}

func words(text string) []*palimpsestv1.Part {
	return []*palimpsestv1.Part{{Content: &palimpsestv1.Part_Text{Text: text}}}
}
