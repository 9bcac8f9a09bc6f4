// Package legal refuses what no provider takes.
package legal

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// Check refuses what no provider takes: calls that wait for results, and a context without a message.
func Check(g *pass.Given, out *view.Composition) error {
	if !out.HasSpeaker() {
		return emptyContext(g, out)
	}
	for i := range out.Units {
		u := &out.Units[i]
		if u.Summary != nil || u.First() != g.Loaded.Head.UnitStart { // not the newest: nobody waits for it any more
			continue
		}
		if open := u.OpenCalls(); len(open) > 0 && !g.CloseOpenCalls {
			return pending(u, open)
		}
	}
	return nil
}

// emptyContext says which kind of nothing there is to show: each has a cure of its own.
func emptyContext(g *pass.Given, out *view.Composition) error {
	switch {
	case g.Loaded.Head.Messages == 0:
		return conversation.Errorf(conversation.NoMessages, "the conversation has no messages: append the first one")
	case len(out.Blocks) > 0:
		return conversation.Errorf(conversation.EmptyContext, "there is nothing to show but system messages: append a message of the user's")
	default:
		return conversation.Errorf(conversation.EmptyContext,
			"none of the messages on record has anything to show: they are empty, or were taken back, removed or erased")
	}
}

// pending names the calls that wait.
func pending(u *conversation.Unit, open []*conversation.ToolCall) error {
	err := conversation.Errorf(conversation.PendingToolCalls, "%d tool calls of the unit of message %d wait for their results", len(open), u.First())
	for _, c := range open {
		err = err.At("call_id", c.CallID)
	}
	return err
}
