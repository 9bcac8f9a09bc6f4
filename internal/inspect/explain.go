package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

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
	Message      Target `arg:"" optional:"" help:"The message's index or id. An id that looks like an index: id:ID."`
	Passes       bool   `help:"In place of a message, explain a build: what each pass would do now, in a dry run."`
}

// Validate refuses summaries, and wants either a message or the passes.
func (c *ExplainCommand) Validate() error {
	if c.Passes == (c.Message != Target{}) {
		return errors.New("name a message, or say --passes")
	}
	if c.Message.summary != "" {
		return errSummary
	}
	return nil
}

// Run reads all that the sidecar tells of a message and puts it in order.
func (c *ExplainCommand) Run(ctx context.Context, env *Env) error {
	return c.runIn(ctx, env, &c.Conversation, func(s *session) error {
		if c.Passes {
			return s.passes(ctx, c.Conversation)
		}
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

// passes prints what each pass of a build like the last one would do now.
func (s *session) passes(ctx context.Context, conversation string) error {
	newest, err := s.newestBuild(ctx, conversation)
	if err != nil {
		return err
	}
	r := buildLike(conversation, newest)
	r.SameTurn, r.Passes = false, true // as the next turn would be built
	build, err := s.loop.BuildContext(ctx, r)
	if err != nil {
		return err
	}
	if s.out.JSON {
		for _, p := range build.GetPasses() {
			if err := s.out.Object(p); err != nil {
				return err
			}
		}
		return s.out.Err()
	}
	s.out.Line(fmt.Sprintf("%-18s %8s %6s %6s %8s %10s", "pass", "µs", "edits", "notes", "from", "tokens"))
	for _, p := range build.GetPasses() {
		s.out.Line(fmt.Sprintf("%-18s %8d %6d %6d %8d %10d", p.GetName(), p.GetTookUs(), p.GetEdits(), p.GetNotes(), p.GetWindowStartIndex(), p.GetTokens()))
	}
	return s.out.Err()
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
