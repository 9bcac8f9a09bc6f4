package demo

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/types/known/fieldmaskpb"

	palimpsestv1 "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// between is what people do between an answer and the next question. From then on the conversation is no longer the one that is
// kept beside it.
func (a *agent) between(ctx context.Context, t *turn) (err error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	a.alone = a.alone || t.step.then != nothing
	switch t.step.then {
	case clearing:
		err = a.clear(ctx, t)
	case compacting:
		err = a.compact(ctx, t)
	case rewinding:
		err = a.rewind(ctx, t)
	}
	return err
}

// clear has old results pruned earlier than the sidecar would by itself.
func (a *agent) clear(ctx context.Context, t *turn) error {
	t.cleared = a.sidecar.budget.GetContextWindowTokens() / 16
	_, err := a.sidecar.record.UpdateConversation(ctx, &palimpsestv1.UpdateConversationRequest{
		Conversation: &palimpsestv1.Conversation{Id: a.sidecar.conversation, Policy: &palimpsestv1.Policy{
			Pruning: &palimpsestv1.PruningPolicy{ProtectTokens: &t.cleared, MinimumTokens: &t.cleared},
		}},
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"policy.pruning"}},
	})
	if err != nil {
		return fmt.Errorf("changing the conversation's policy: %w", err)
	}
	return nil
}

// compacted is a summary that was asked for.
type compacted struct {
	change  change
	refused error
}

// keptRecent is how many of the newest messages the demo's summary leaves alone, if they have room in what is asked for.
const (
	keptRecent  = 4
	askedTokens = 7_000
)

// compact has a summary made of all but the newest messages. It is refused where the newest weigh nearly all; the demo goes on.
func (a *agent) compact(ctx context.Context, t *turn) error {
	keep, target := int32(keptRecent), int32(askedTokens)
	reply, err := a.sidecar.loop.CompactConversation(ctx, &palimpsestv1.CompactConversationRequest{
		ConversationId: a.sidecar.conversation, Options: &palimpsestv1.CompactionOptions{KeepRecent: &keep, TargetTokens: &target},
	})
	t.compacted = &compacted{refused: err}
	if err == nil {
		a.count(reply.Events)
		t.compacted.change = changesOf(reply.Events)[0]
		t.compacted.change.example = reply.Result.Summaries[0].Text
	}
	return ctx.Err()
}

// rewind takes the user's last question back, and all that followed on it.
func (a *agent) rewind(ctx context.Context, t *turn) (err error) {
	t.rewound, err = a.sidecar.loop.RewindConversation(ctx, &palimpsestv1.RewindConversationRequest{
		ConversationId: a.sidecar.conversation, FromIndex: int32(a.asked),
	})
	if err != nil {
		return fmt.Errorf("taking message %d back: %w", a.asked, err)
	}
	a.count(t.rewound.Events)
	return nil
}

// expandSummary asks for everything that a summary stands for, down to the messages, and returns how many these are. Each is
// compared with what was appended.
func (a *agent) expandSummary(ctx context.Context, id string) (messages int, err error) {
	for page, more := "", true; more; more = page != "" {
		reply, err := a.sidecar.children(ctx, id, page)
		if err != nil {
			return 0, err
		}
		page = reply.NextPageToken
		for _, child := range reply.Children {
			below, err := a.expandChild(ctx, child)
			if err != nil {
				return 0, err
			}
			messages += below
		}
	}
	return messages, nil
}

func (a *agent) expandChild(ctx context.Context, child *palimpsestv1.ExpandedChild) (messages int, err error) {
	message := child.GetMessage()
	if message == nil {
		return a.expandSummary(ctx, child.GetSummaryId())
	}
	if sum, _ := fingerprint(message); sum != a.entries[message.Index].sum {
		return 0, fmt.Errorf("message %d came back different from its summary", message.Index)
	}
	return 1, nil
}
