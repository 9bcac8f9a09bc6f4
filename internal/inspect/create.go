package inspect

import (
	"context"
	"errors"
	"fmt"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/policies"
)

// CreateCommand is `sidecar create`.
type CreateCommand struct {
	Sidecar
	Conversation string `arg:"" help:"The id of the conversation to create."`
	Actor        string `help:"Whose conversation it is." placeholder:"ID"`
	Agent        string `help:"The agent that has it." placeholder:"ID"`
	Title        string `help:"A title, for people."`
	Metadata     string `help:"A JSON object of your own." placeholder:"JSON"`
	Counter      string `help:"What counts its tokens: o200k, cl100k or chars4; o200k by default."`
	Policy       string `help:"Its policy: a name (${policies}) or a YAML file, as serve --default-policy takes them. The server's default by default." placeholder:"NAME|FILE"`
}

// Help shows how it is used.
func (c *CreateCommand) Help() string {
	return `Examples:

    sidecar create order-1881 --actor customer-7 --policy balanced
    sidecar create order-1882 --policy ./long-runs.yaml --counter cl100k`
}

// Validate refuses @latest.
func (c *CreateCommand) Validate() error {
	if c.Conversation == latest {
		return errLatest
	}
	return nil
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
		if err != nil {
			return err
		}
		if remark != "" {
			_, err = fmt.Fprintln(env.Stderr, remark)
		}
		return errors.Join(err, s.done(reply, fmt.Sprintf("%s is created.", reply.GetConversation().GetId())))
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
