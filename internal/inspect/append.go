package inspect

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

// AppendCommand is `sidecar append`.
type AppendCommand struct {
	Sidecar
	Conversation string   `arg:"" help:"The conversation's id, or @latest. One that is not there begins."`
	Text         string   `arg:"" optional:"" help:"What is said; - reads it from standard input."`
	Role         string   `help:"Who says it: system, user, assistant or tool; user by default, and tool with --call-id." enum:",system,user,assistant,tool" default:""`
	CallID       string   `name:"call-id" help:"The id of the call whose result the text is." placeholder:"ID"`
	Tag          []string `help:"A label; repeatable."`
	Actor        string   `help:"The actor whose conversation it is; memories go by it. Set if there is none, never changed." placeholder:"ID"`
	File         string   `help:"File of messages in JSON instead of a text: one or several, each as {\"role\": \"user\", \"text\": \"...\"} or as protobuf maps the API's Message; - is standard input." placeholder:"FILE"`
}

// Help shows how it is used.
func (c *AppendCommand) Help() string {
	return `Examples:

    sidecar append order-1881 "Where is my order?"
    sidecar append order-1881 --role assistant "I will look."
    sidecar append order-1882 --actor ann "The same address as last time, please."
    echo '{"role": "assistant", "parts": [{"toolCall": {"callId": "1", "name": "find", "argumentsJson": "{}"}}]}' |
      sidecar append order-1881 --file -
    find_order 1881 | sidecar append order-1881 --call-id 1 -`
}

// Validate refuses what does not go together.
func (c *AppendCommand) Validate() error {
	switch {
	case (c.Text == "") == (c.File == ""):
		return errors.New("say what to append: a text, or with --file messages in JSON")
	case c.File != "" && (c.Role != "" || c.CallID != "" || len(c.Tag) > 0):
		return errors.New("--role, --call-id and --tag are for a text: a message in JSON says them itself")
	case (c.Role == "tool") != (c.CallID != "") && c.Role != "":
		return errors.New("--call-id is for --role tool, and that needs it: a result answers a call")
	default:
		return nil
	}
}

// Run appends, all or nothing.
func (c *AppendCommand) Run(ctx context.Context, env *Env) error {
	messages, err := c.messages(env)
	if err != nil {
		return err
	}
	return c.runIn(ctx, env, &c.Conversation, func(s *session) error {
		if err := c.setActor(ctx, s); err != nil {
			return err
		}
		r := &pb.BatchAppendMessagesRequest{ConversationId: c.Conversation}
		for _, m := range messages {
			r.Items = append(r.Items, &pb.BatchAppendItem{Message: m})
		}
		reply, err := s.loop.BatchAppendMessages(ctx, r)
		return s.answer(reply, err, func() error {
			for _, receipt := range reply.GetReceipts() {
				s.out.Say(fmt.Sprintf("message %d of %s: %s tokens, turn %d",
					receipt.GetIndex(), c.Conversation, terminal.Number(int64(receipt.GetTokenCount())), receipt.GetTurnAdded()))
			}
			return nil
		})
	})
}

// setActor says whose the conversation is: as it begins, or in one that is nobody's yet.
func (c *AppendCommand) setActor(ctx context.Context, s *session) error {
	if c.Actor == "" {
		return nil
	}
	_, err := s.record.CreateConversation(ctx, &pb.CreateConversationRequest{
		Conversation: &pb.Conversation{Id: c.Conversation, ActorId: c.Actor},
	})
	if status.Code(err) != codes.AlreadyExists {
		return err
	}
	_, err = s.record.UpdateConversation(ctx, &pb.UpdateConversationRequest{
		Conversation: &pb.Conversation{Id: c.Conversation, ActorId: c.Actor}, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"actor_id"}},
	})
	return err
}

func (c *AppendCommand) messages(env *Env) ([]*pb.Message, error) {
	if c.File != "" {
		return env.messages(c.File)
	}
	text, err := env.text(c.Text)
	m := &pb.Message{Role: pb.Role_ROLE_USER, Tags: c.Tag, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: text}}}}
	if c.Role != "" {
		m.Role = roles[c.Role]
	}
	if c.CallID != "" {
		m.Role = pb.Role_ROLE_TOOL
		m.Parts = []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{CallId: c.CallID, Output: &pb.ToolResult_Text{Text: text}}}}}
	}
	return []*pb.Message{m}, err
}
