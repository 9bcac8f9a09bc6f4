package agentcore

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ac "github.com/aws/aws-sdk-go-v2/service/bedrockagentcore"
	"github.com/aws/aws-sdk-go-v2/service/bedrockagentcore/types"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// pageOfNames is the size of pages that hold no texts.
const pageOfNames = int32(100)

// Add implements memory.Target. A batch that facts are to be drawn from is an event; one that is kept as it is, a record for each message.
func (t *Target) Add(ctx context.Context, b *memory.Batch) (memory.Receipt, error) {
	if len(b.Messages) == 0 || len(b.Messages) > maxMessages {
		return memory.Receipt{}, memory.ErrRefused
	}
	if !b.Infer {
		_, err := t.create(ctx, tokenOf("add", b.Scope, b.Key), said(t.layout.saidPath(b.Scope, b.Conversation, b.Incarnation), b), nil)
		return memory.Receipt{}, err
	}
	actor, session, last := actorOf(b.Scope), sessionOf(b), b.Messages[len(b.Messages)-1]
	_, err := call(ctx, t, changes, asking(t.api.createEvent, &ac.CreateEventInput{
		MemoryId: t.memoryID, ActorId: &actor, SessionId: &session, EventTimestamp: &last.Time, Payload: payload(b.Messages),
		ClientToken: tokenOf("add", b.Scope, b.Key),
		Metadata: map[string]types.MetadataValue{
			keyLabel:   eventLabel(b.Key),
			firstLabel: eventLabel(strconv.Itoa(int(b.Messages[0].Index))),
			lastLabel:  eventLabel(strconv.Itoa(int(last.Index))),
		},
	}))
	return memory.Receipt{}, err
}

func eventLabel(value string) types.MetadataValue {
	return &types.MetadataValueMemberStringValue{Value: value}
}

func payload(messages []memory.Message) (out []types.PayloadType) {
	for i := range messages {
		role := types.RoleOther
		switch messages[i].Role {
		case conversation.RoleUser:
			role = types.RoleUser
		case conversation.RoleAssistant:
			role = types.RoleAssistant
		}
		content := &types.ContentMemberText{Value: cut(messages[i].Text, maxChars)}
		out = append(out, &types.PayloadTypeMemberConversational{Value: types.Conversational{Role: role, Content: content}})
	}
	return out
}

// cut is the start of a text, of at most so many code points.
func cut(text string, most int) string {
	for i := range text {
		if most--; most < 0 {
			return text[:i]
		}
	}
	return text
}

// Settle implements memory.Target. Batches are never pending, and may be sent again; it is there for who wants to know.
func (t *Target) Settle(ctx context.Context, b *memory.Batch) (memory.Receipt, error) {
	if !b.Infer {
		_, err := t.kept(ctx, b.Scope, t.layout.saidPath(b.Scope, b.Conversation, b.Incarnation), memory.Said, b.Key)
		return memory.Receipt{}, err
	}
	for e, err := range t.events(ctx, actorOf(b.Scope), sessionOf(b)) {
		if err != nil || e.key == b.Key {
			return memory.Receipt{}, err
		}
	}
	return memory.Receipt{}, memory.ErrNotFound
}

// event is what the service tells of an event without its texts.
type event struct {
	id       string
	key      string
	messages conversation.Range
}

// events are those of a session; none if the service knows no such session.
func (t *Target) events(ctx context.Context, actor, session string) iter.Seq2[event, error] {
	size, payloads := pageOfNames, false
	in := &ac.ListEventsInput{MemoryId: t.memoryID, ActorId: &actor, SessionId: &session, MaxResults: &size, IncludePayloads: &payloads}
	all := pages(ctx, t, readsOne, t.api.listEvents, in, &in.NextToken, func(o *ac.ListEventsOutput) *string { return o.NextToken })
	return items(all, func(page *ac.ListEventsOutput) (out []event) {
		for i := range page.Events {
			out = append(out, eventOf(&page.Events[i]))
		}
		return out
	})
}

func eventOf(e *types.Event) event {
	label := func(name string) string {
		if v, ok := e.Metadata[name].(*types.MetadataValueMemberStringValue); ok {
			return v.Value
		}
		return ""
	}
	return event{id: aws.ToString(e.EventId), key: label(keyLabel), messages: rangeOf(label(firstLabel), label(lastLabel))}
}

// rangeOf is the range from a first to a last message. Without good numbers it is empty: nothing was said there.
func rangeOf(first, last string) conversation.Range {
	from, errFrom := strconv.ParseInt(first, 10, 32)
	to, errTo := strconv.ParseInt(last, 10, 32)
	if errFrom != nil || errTo != nil || from < 0 || to < from || to == 1<<31-1 {
		return conversation.Range{}
	}
	return conversation.Range{First: int32(from), End: int32(to) + 1}
}

// sessions are the names of an actor's sessions that hold events and begin as asked.
func (t *Target) sessions(ctx context.Context, actor, prefix string) iter.Seq2[string, error] {
	size := pageOfNames
	in := &ac.ListSessionsInput{
		MemoryId: t.memoryID, ActorId: &actor, MaxResults: &size, Filter: &types.SessionFilter{EventFilter: types.EventFilterConditionHasEvents},
	}
	all := pages(ctx, t, readsOne, t.api.listSessions, in, &in.NextToken, func(o *ac.ListSessionsOutput) *string { return o.NextToken })
	return items(all, func(page *ac.ListSessionsOutput) (out []string) {
		for i := range page.SessionSummaries {
			if id := aws.ToString(page.SessionSummaries[i].SessionId); strings.HasPrefix(id, prefix) {
				out = append(out, id)
			}
		}
		return out
	})
}

// deleteEvent deletes an event; one that is gone already is as good.
func (t *Target) deleteEvent(ctx context.Context, actor, session, id string) error {
	_, err := call(ctx, t, deletesOne, asking(t.api.deleteEvent, &ac.DeleteEventInput{
		MemoryId: t.memoryID, ActorId: &actor, SessionId: &session, EventId: &id,
	}))
	if errors.Is(err, memory.ErrNotFound) {
		return nil
	}
	return err
}
