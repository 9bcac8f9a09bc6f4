package demo

import (
	"context"
	"errors"
	"fmt"

	palimpsestv1 "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// resolve says which messages the calls for something back mean: the newest one in which the same call was answered.
func (a *agent) resolve(calls []call) []call {
	out := make([]call, len(calls))
	for i, c := range calls {
		if index, ok := a.answerOf(c.Of); ok {
			c.Index = &index
		}
		out[i] = c
	}
	return out
}

func (a *agent) answerOf(label string) (int32, bool) {
	for i := len(a.entries) - 1; i >= 0 && label != ""; i-- {
		if a.entries[i].label == label {
			return int32(i), true
		}
	}
	return 0, false
}

// run runs a tool: the sidecar's, or one of the tree's.
func (a *agent) run(ctx context.Context, c call) (string, error) {
	if c.Tool != expandTool {
		return a.tree.run(ctx, c)
	}
	if c.Index == nil {
		return "", errors.New("no such message")
	}
	reply, err := a.sidecar.expand(ctx, *c.Index, palimpsestv1.ExpandMode_EXPAND_MODE_RETURN_ONLY)
	if err != nil {
		return "", err
	}
	if sum, _ := fingerprint(reply.GetMessage()); sum != a.entries[*c.Index].sum {
		return "", fmt.Errorf("message %d came back different", *c.Index)
	}
	return reply.GetMessage().GetParts()[0].GetToolResult().GetText(), nil
}

// restore puts the result of a call back into the view in full, where the step asks for it. What is too large for that is refused,
// and what is in view in full already; the demo goes on.
func (a *agent) restore(ctx context.Context, t *turn) error {
	index, ok := a.answerOf(t.step.keep)
	if !ok {
		return nil
	}
	reply, err := a.sidecar.expand(ctx, index, palimpsestv1.ExpandMode_EXPAND_MODE_RESTORE)
	t.restored = &restored{index: index, label: t.step.keep, reply: reply, refused: err}
	a.count(reply.GetEvents())
	return ctx.Err()
}
