package inspect

import (
	"context"
	"fmt"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

// ConversationsCommand is `sidecar conversations`.
type ConversationsCommand struct {
	Sidecar
	Actor  string `help:"Only those that serve this actor."`
	Agent  string `help:"Only those of this agent."`
	Latest bool   `help:"Those that changed last first, instead of by id."`
	Limit  int    `help:"The most conversations to list; 0 lists all."`
}

// Run lists the conversations: page by page, or, by their last change, once all are known.
func (c *ConversationsCommand) Run(ctx context.Context, env *Env) error {
	return c.run(env, func(s *session) error {
		list := &sheet.Table{Sheet: s.out, Columns: []sheet.Column{
			{Title: "id"}, {Title: "messages", Right: true}, {Title: "tokens", Right: true}, {Title: "turn", Right: true},
			{Title: "start", Right: true}, {Title: "updated (UTC)"}, {Title: "title"},
		}}
		request := &pb.ListConversationsRequest{PageSize: pageSize, ActorId: c.Actor, AgentId: c.Agent}
		if c.Latest {
			found, err := s.newestFirst(ctx, request)
			if err != nil {
				return err
			}
			if c.Limit > 0 {
				found = found[:min(len(found), c.Limit)]
			}
			return show(list, found, conversationRow)
		}
		return pages(&request.PageToken, c.Limit, func(room int) (next string, n int, err error) {
			reply, err := s.record.ListConversations(ctx, request)
			if err != nil {
				return "", 0, err
			}
			found := reply.GetConversations()
			found = found[:min(len(found), room)]
			return reply.GetNextPageToken(), len(found), show(list, found, conversationRow)
		})
	})
}

func conversationRow(v *pb.Conversation) []string {
	return []string{
		v.GetId(), terminal.Number(int64(v.GetMessageCount())), terminal.Number(v.GetTokenCount()), fmt.Sprint(v.GetTurn()),
		fmt.Sprint(v.GetWindowStartIndex()), moment(v.GetUpdateTime()), v.GetTitle(),
	}
}
