package inspect

import (
	"context"
	"fmt"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// DeleteCommand is `sidecar delete`.
type DeleteCommand struct {
	Sidecar
	Conversation     string `arg:"" help:"The conversation's id."`
	WithoutTombstone bool   `help:"Let the next append begin the conversation anew; otherwise its id stays taken for 30 days."`
}

// Validate refuses @latest.
func (c *DeleteCommand) Validate() error {
	if c.Conversation == latest {
		return errLatest
	}
	return nil
}

// Run deletes the conversation. There is no way back but an export.
func (c *DeleteCommand) Run(ctx context.Context, env *Env) error {
	return c.run(env, func(s *session) error {
		request := &pb.DeleteConversationRequest{ConversationId: c.Conversation, WithoutTombstone: c.WithoutTombstone}
		reply, err := s.record.DeleteConversation(ctx, request)
		if err != nil {
			return err
		}
		if c.WithoutTombstone {
			return s.done(reply, c.Conversation+" is deleted. The next append begins it anew.")
		}
		return s.done(reply, fmt.Sprintf("%s is deleted. Until %s UTC nothing can be appended to it.", c.Conversation, moment(reply.GetTombstoneExpireTime())))
	})
}
