package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/policies"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

// ConversationsCommand is `sidecar conversations`.
type ConversationsCommand struct {
	Sidecar
	Actor  string `help:"Only those that serve this actor."`
	Agent  string `help:"Only those of this agent."`
	Latest bool   `help:"Those that changed last first, instead of by id."`
	Limit  int    `help:"The most to list; 0 lists all."`
}

// Run lists the conversations: page by page, or, by their last change, once all are known.
func (c *ConversationsCommand) Run(ctx context.Context, env *Env) error {
	return c.run(env, func(s *session) error {
		request := &pb.ListConversationsRequest{PageSize: pageSize, ActorId: c.Actor, AgentId: c.Agent}
		if c.Latest {
			found, err := s.newestFirst(ctx, request)
			if err != nil {
				return err
			}
			if c.Limit > 0 {
				found = found[:min(len(found), c.Limit)]
			}
			return show(conversations.on(s), found, conversations.row)
		}
		return conversations.list(s, &request.PageToken, c.Limit, func() (string, []*pb.Conversation, error) {
			reply, err := s.record.ListConversations(ctx, request)
			return reply.GetNextPageToken(), reply.GetConversations(), err
		})
	})
}

var conversations = tableOf[*pb.Conversation]{[]sheet.Column{
	{Title: "id"}, {Title: "messages", Right: true}, {Title: "tokens", Right: true}, {Title: "turn", Right: true},
	{Title: "start", Right: true}, {Title: "updated (UTC)"}, {Title: "title"},
}, conversationRow}

func conversationRow(v *pb.Conversation) []string {
	return []string{
		v.GetId(), terminal.Number(int64(v.GetMessageCount())), terminal.Number(v.GetTokenCount()), fmt.Sprint(v.GetTurn()),
		fmt.Sprint(v.GetWindowStartIndex()), timestamp(v.GetUpdateTime()), v.GetTitle(),
	}
}

// latest stands for the id of the conversation that changed last.
const latest = "@latest"

// errNoneYet is the error of asking for the latest conversation of none.
var errNoneYet = errors.New("there is no conversation yet: `sidecar append` begins one")

// runIn is run for a command about one conversation: it puts an id in the place of latest.
func (s *Sidecar) runIn(ctx context.Context, env *Env, conversation *string, work func(*session) error) error {
	return s.run(env, func(open *session) error {
		if *conversation != latest {
			return work(open)
		}
		found, err := open.newestFirst(ctx, &pb.ListConversationsRequest{})
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return errNoneYet
		}
		*conversation = found[0].GetId()
		return work(open)
	})
}

// newestFirst lists all conversations by their last change. The sidecar lists them by id.
func (s *session) newestFirst(ctx context.Context, r *pb.ListConversationsRequest) (found []*pb.Conversation, err error) {
	r.PageSize = largestPage
	err = pages(&r.PageToken, 0, func(int) (string, int, error) {
		reply, err := s.record.ListConversations(ctx, r)
		found = append(found, reply.GetConversations()...)
		return reply.GetNextPageToken(), 0, err
	})
	slices.SortStableFunc(found, func(a, b *pb.Conversation) int {
		return b.GetUpdateTime().AsTime().Compare(a.GetUpdateTime().AsTime())
	})
	return found, err
}

// CreateCommand is `sidecar create`.
type CreateCommand struct {
	Sidecar
	Conversation string `arg:"" help:"The id of the conversation to create."`
	Actor        string `help:"Whose conversation it is." placeholder:"ID"`
	Agent        string `help:"The agent that has it." placeholder:"ID"`
	Title        string `help:"A title, for people."`
	Metadata     string `help:"A JSON object of your own." placeholder:"JSON"`
	Counter      string `help:"What counts its tokens: o200k, cl100k or chars4; o200k by default."`
	Policy       string `help:"Its policy, a name or a file, as serve --default-policy takes it; by default the server's." placeholder:"NAME|FILE"`
}

// Help shows how it is used.
func (c *CreateCommand) Help() string {
	return `Examples:

    sidecar create order-1881 --actor customer-7 --policy balanced
    sidecar create order-1882 --policy ./long-runs.yaml --counter cl100k`
}

// Validate refuses @latest.
func (c *CreateCommand) Validate() error {
	return writtenOut(c.Conversation)
}

// Run creates the conversation.
func (c *CreateCommand) Run(ctx context.Context, env *Env) error {
	policy, remark, err := c.policy()
	if err != nil {
		return err
	}
	return c.run(env, func(s *session) error {
		reply, err := s.record.CreateConversation(ctx, &pb.CreateConversationRequest{Conversation: &pb.Conversation{
			Id: c.Conversation, ActorId: c.Actor, AgentId: c.Agent, Title: c.Title, MetadataJson: c.Metadata, Counter: c.Counter, Policy: policy,
		}})
		if err == nil && remark != "" {
			_, err = fmt.Fprintln(env.Stderr, remark)
		}
		return s.done(reply, err, "%s is created.", reply.GetConversation().GetId())
	})
}

// policy is what the file says of a conversation; and a remark if it also says something of tools.
func (c *CreateCommand) policy() (p *pb.Policy, remark string, err error) {
	if c.Policy == "" {
		return nil, "", nil
	}
	file, err := policies.Load(c.Policy)
	if err != nil {
		return nil, "", err
	}
	if len(file.Tools) > 0 {
		remark = "what the policy says of single tools is not the conversation's: sidecar policy put, or serve --default-policy, says it"
	}
	return file.Conversation, remark, nil
}

// DeleteCommand is `sidecar delete`.
type DeleteCommand struct {
	Sidecar
	Conversation     string `arg:"" help:"The conversation's id."`
	WithoutTombstone bool   `help:"Let the next append begin it anew; otherwise only create can use its id for 30 days."`
}

// Validate refuses @latest.
func (c *DeleteCommand) Validate() error {
	return writtenOut(c.Conversation)
}

// Run deletes the conversation. There is no way back but an export.
func (c *DeleteCommand) Run(ctx context.Context, env *Env) error {
	return c.run(env, func(s *session) error {
		request := &pb.DeleteConversationRequest{ConversationId: c.Conversation, WithoutTombstone: c.WithoutTombstone}
		reply, err := s.record.DeleteConversation(ctx, request)
		if c.WithoutTombstone {
			return s.done(reply, err, "%s is deleted. The next append begins it anew.", c.Conversation)
		}
		return s.done(reply, err, "%s is deleted. Until %s UTC nothing can be appended to it.", c.Conversation, timestamp(reply.GetTombstoneExpireTime()))
	})
}
