package inspect

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

// MessagesCommand is `sidecar messages`.
type MessagesCommand struct {
	Sidecar
	textWidth
	Conversation string   `arg:"" help:"The conversation's id, or @latest for the one that changed last."`
	Current      bool     `help:"Show messages as the view has them, with summaries, not as they were appended."`
	From         int32    `help:"The first index."`
	To           *int32   `help:"One past the last index."`
	Role         []string `help:"Only messages of these roles: system, user, assistant, tool." enum:"system,user,assistant,tool"`
	Tag          []string `help:"Only messages with any of these tags."`
	Limit        int      `help:"The most to list; 0 lists all."`
}

var roles = map[string]pb.Role{
	"system": pb.Role_ROLE_SYSTEM, "user": pb.Role_ROLE_USER, "assistant": pb.Role_ROLE_ASSISTANT, "tool": pb.Role_ROLE_TOOL,
}

// Run lists the messages, page by page.
func (c *MessagesCommand) Run(ctx context.Context, env *Env) error {
	return c.runIn(ctx, env, &c.Conversation, func(s *session) error {
		reply, err := s.record.GetConversation(ctx, &pb.GetConversationRequest{ConversationId: c.Conversation})
		if err != nil {
			return err
		}
		l := &messageList{
			textWidth: c.textWidth, start: reply.GetConversation().GetWindowStartIndex(),
			Table: &sheet.Table{Sheet: s.out, Columns: c.column([]sheet.Column{
				{Title: "#", Right: true, Least: 3}, {Title: "message", Least: 12, Most: 20}, {Title: "tokens", Right: true, Least: 7},
				{Title: "turn", Right: true}, {Title: "in the view", Least: 20, Most: 24},
			})},
		}
		request := c.request()
		return pages(&request.PageToken, c.Limit, func(room int) (string, int, error) {
			reply, err := s.record.ListMessages(ctx, request)
			if err != nil {
				return "", 0, err
			}
			n, err := l.page(reply, room)
			return reply.GetNextPageToken(), n, err
		})
	})
}

func (c *MessagesCommand) request() *pb.ListMessagesRequest {
	r := &pb.ListMessagesRequest{
		ConversationId: c.Conversation, PageSize: pageSize, MaxReplyBytes: proto.Int32(dial.LargestReply),
		Range:  &pb.MessageRange{StartIndex: c.From, EndIndex: c.To},
		Filter: &pb.MessageFilter{Tags: c.Tag},
	}
	if c.Current {
		r.View = pb.ListView_LIST_VIEW_CURRENT
	}
	for _, role := range c.Role {
		r.Filter.Roles = append(r.Filter.Roles, roles[role])
	}
	return r
}

// messageList prints messages, and summaries where they stand among them.
type messageList struct {
	*sheet.Table
	textWidth
	start int32 // of the window
}

// page prints at most so many messages of a page, and says how many.
func (l *messageList) page(reply *pb.ListMessagesResponse, room int) (int, error) {
	messages, summaries := reply.GetMessages(), reply.GetSummaries()
	messages = messages[:min(len(messages), room)]
	entries := make([]proto.Message, 0, len(messages)+len(summaries))
	for _, m := range messages {
		for len(summaries) > 0 && summaries[0].GetStartIndex() < m.GetIndex() {
			entries, summaries = append(entries, summaries[0]), summaries[1:]
		}
		entries = append(entries, m)
	}
	for _, s := range summaries {
		entries = append(entries, s)
	}
	return len(messages), show(l.Table, entries, l.entry)
}

func (l *messageList) entry(e proto.Message) []string {
	if s, ok := e.(*pb.Summary); ok {
		return l.summaryRow(s)
	}
	m, _ := e.(*pb.Message)
	return l.row(m)
}

func (l *messageList) row(m *pb.Message) []string {
	return []string{
		fmt.Sprint(m.GetIndex()), subject(m.GetRole(), m.GetParts()), terminal.Number(int64(m.GetTokenCount())), fmt.Sprint(m.GetTurnAdded()),
		l.place(m), l.excerpt(l.Sheet, m.GetParts()),
	}[:len(l.Columns)]
}

func (l *messageList) summaryRow(s *pb.Summary) []string {
	return []string{
		s.GetId(), "summary", terminal.Number(int64(s.GetTokens())), "", "for " + indexRange(s.GetStartIndex(), s.GetEndIndex()),
		l.excerpt(l.Sheet, []*pb.Part{{Content: &pb.Part_Text{Text: s.GetText()}}}),
	}[:len(l.Columns)]
}

// place says how the view shows a message, or why it does not.
func (l *messageList) place(m *pb.Message) string {
	v := m.GetView()
	switch {
	case v.GetHidden():
		return joinNonEmpty(" ", "taken back", v.GetEditId())
	case v.GetSummaryId() != "":
		return "in summary " + v.GetSummaryId()
	case v.GetLevel() == pb.ViewLevel_VIEW_LEVEL_REMOVED && v.GetRemovedByCaller():
		return joinNonEmpty(" ", "removed by the caller", v.GetEditId())
	case v.GetLevel() == pb.ViewLevel_VIEW_LEVEL_REMOVED:
		return joinNonEmpty(" ", "removed", v.GetEditId())
	case !v.GetInView() && m.GetIndex() < l.start:
		return "before the window"
	case !v.GetInView():
		return "not yet in a build"
	case v.GetExpired():
		return joinNonEmpty(" ", sheet.EnumText(v.GetLevel()), v.GetEditId()) + ", expired"
	default:
		return joinNonEmpty(" ", sheet.EnumText(v.GetLevel()), v.GetEditId(), contentIDs(m.GetParts()))
	}
}
