package inspect

import (
	"context"
	"encoding/json"
	"errors"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

// ExplainCommand is `sidecar explain`.
type ExplainCommand struct {
	Sidecar
	textWidth
	Conversation string `arg:"" help:"The conversation's id, or @latest for the one that changed last."`
	Message      Target `arg:"" help:"The message's index or id. An id that looks like an index: id:ID."`
}

// Validate refuses summaries.
func (c *ExplainCommand) Validate() error {
	if c.Message.summary != "" {
		return errSummary
	}
	return nil
}

// Run reads all that the sidecar tells of a message and puts it in order.
func (c *ExplainCommand) Run(ctx context.Context, env *Env) error {
	return c.runIn(ctx, env, &c.Conversation, func(s *session) error {
		l := &life{Sheet: s.out, textWidth: c.textWidth, conversation: c.Conversation}
		index, err := s.find(ctx, c.Conversation, &c.Message)
		if err != nil {
			return err
		}
		reply, err := s.record.GetMessage(ctx, &pb.GetMessageRequest{ConversationId: c.Conversation, MessageIndex: index, MaxReplyBytes: proto.Int32(dial.LargestReply)})
		if err != nil {
			return err
		}
		l.message = reply.GetMessage()
		if err := s.watch(ctx, c.Conversation, "", quiet, l.take); err != nil {
			return err
		}
		if err := s.look(ctx, l); err != nil {
			return err
		}
		if s.out.JSON {
			return l.object()
		}
		l.print()
		return nil
	})
}

// find is a message's index.
func (s *session) find(ctx context.Context, conversation string, t *Target) (int32, error) {
	if t.index != nil {
		return *t.index, nil
	}
	r := &pb.ExpandMessageRequest{
		ConversationId: conversation, Mode: pb.ExpandMode_EXPAND_MODE_RETURN_ONLY, MaxReplyBytes: proto.Int32(dial.LargestReply),
	}
	t.into(r)
	reply, err := s.loop.ExpandMessage(ctx, r)
	return reply.GetMessage().GetIndex(), err
}

// look sees what a build would show of a message now. Where a build is refused, because there is nothing but system messages or what must be
// shown does not fit, that is part of the answer.
func (s *session) look(ctx context.Context, l *life) error {
	newest, err := s.newestBuild(ctx, l.conversation)
	if err != nil {
		return err
	}
	build, err := s.dryRun(ctx, buildLike(l.conversation, newest))
	if reason := dial.Reason(err); reason != "" {
		l.refused = reason
		return nil
	}
	if err != nil {
		return err
	}
	l.built = true
	l.see(build)
	return nil
}

// see keeps what a build shows and decides of the message.
func (l *life) see(build *pb.BuildContextResponse) {
	for _, m := range build.GetMessages() {
		index := l.message.GetIndex()
		if first, ok := indexOf(m); ok && first <= index && index < m.GetEndIndex() {
			l.shownNow = m
		}
	}
	for _, d := range build.GetDecisions() {
		if d.GetStartIndex() <= l.message.GetIndex() && l.message.GetIndex() < d.GetEndIndex() {
			l.decisions = append(l.decisions, d)
		}
	}
}

// lifeJSON is what `sidecar explain --json` prints.
type lifeJSON struct {
	Message json.RawMessage `json:"message"`
	// Events are those about the message, oldest first.
	Events []json.RawMessage `json:"events"`
	// Decisions are those of a build now.
	Decisions []json.RawMessage `json:"decisions"`
	// Shown is the message as a build now shows it; nothing if it does not.
	Shown json.RawMessage `json:"shown,omitempty"`
	// Refused is why nothing can be built now.
	Refused string `json:"refused,omitempty"`
}

func (l *life) object() error {
	message, first := sheet.CompactJSON(l.message)
	events, second := list(l.events)
	decisions, third := list(l.decisions)
	out := lifeJSON{Message: message, Events: events, Decisions: decisions, Refused: l.refused}
	var fourth error
	if l.shownNow != nil {
		out.Shown, fourth = sheet.CompactJSON(l.shownNow)
	}
	line, fifth := json.Marshal(out)
	if err := errors.Join(first, second, third, fourth, fifth); err != nil {
		return err
	}
	return l.RawObject(line)
}

func list[M proto.Message](messages []M) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(messages))
	for i, m := range messages {
		line, err := sheet.CompactJSON(m)
		if err != nil {
			return nil, err
		}
		out[i] = line
	}
	return out, nil
}
