package inspect

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

// ExpandCommand is `sidecar expand`.
type ExpandCommand struct {
	Sidecar
	textWidth
	Conversation string   `arg:"" help:"The conversation's id, or @latest for the one that changed last."`
	Target       Target   `arg:"" help:"The message's index or id, or a summary's id, such as s7. A message's id that looks like one of the others: id:ID."`
	Chars        *Stretch `help:"Only these characters: A:B, A: or :B, counted from 0, without B." xor:"stretch" placeholder:"A:B"`
	Lines        *Stretch `help:"Only these lines." xor:"stretch" placeholder:"A:B"`
	Items        *Stretch `help:"Only these items, of a text that is a JSON list." xor:"stretch" placeholder:"A:B"`
	MaxTokens    int32    `help:"The most tokens to print; 0 prints everything."`
	Restore      bool     `help:"Also put the message's unit back into the view in full. The provider reads anew what stands behind it."`
}

// Validate refuses what RESTORE cannot do, and parts of a summary.
func (c *ExpandCommand) Validate() error {
	if c.Restore && (c.ranged() || c.MaxTokens > 0 || c.Target.summary != "") {
		return errors.New("--restore puts back whole messages: not summaries, and not together with --chars, --lines, --items or --max-tokens")
	}
	if c.ranged() && c.Target.summary != "" {
		return errors.New("--chars, --lines and --items are of a message's text: a summary expands into the messages that it stands for")
	}
	return nil
}

func (c *ExpandCommand) ranged() bool { return c.Chars != nil || c.Lines != nil || c.Items != nil }

// Run prints the original: as it is into a file or pipe, without what must not reach a terminal on one.
func (c *ExpandCommand) Run(ctx context.Context, env *Env) error {
	return c.runIn(ctx, env, &c.Conversation, func(s *session) error {
		e := &expansion{printing: printing{session: s}, width: c.textWidth, counted: "--chars", list: &sheet.Table{Sheet: s.out, Columns: c.column([]sheet.Column{
			{Title: "#", Right: true}, {Title: "message", Most: 20}, {Title: "tokens", Right: true},
		})}}
		if c.Items != nil {
			e.counted = "--items"
		}
		request := c.request()
		limit := 0
		if c.MaxTokens > 0 {
			limit = 1 // what does not fit comes with the next page
		}
		defer e.end()
		return pages(&request.PageToken, limit, func(int) (string, int, error) {
			reply, err := s.loop.ExpandMessage(ctx, request)
			if err != nil {
				return "", 0, err
			}
			return reply.GetNextPageToken(), 1, e.page(reply, limit > 0)
		})
	})
}

func (c *ExpandCommand) request() *pb.ExpandMessageRequest {
	r := &pb.ExpandMessageRequest{
		ConversationId: c.Conversation, Mode: pb.ExpandMode_EXPAND_MODE_RETURN_ONLY, MaxTokens: c.MaxTokens, MaxReplyBytes: proto.Int32(dial.LargestReply),
	}
	c.Target.into(r)
	switch {
	case c.Restore:
		r.Mode = pb.ExpandMode_EXPAND_MODE_RESTORE
	case c.Chars != nil:
		r.Range = &pb.ExpandMessageRequest_Chars{Chars: c.Chars.pb}
	case c.Lines != nil:
		r.Range = &pb.ExpandMessageRequest_Lines{Lines: c.Lines.pb}
	case c.Items != nil:
		r.Range = &pb.ExpandMessageRequest_Items{Items: c.Items.pb}
	}
	return r
}

// expansion prints the pages of one answer.
type expansion struct {
	printing
	width textWidth
	list  *sheet.Table
	// counted is the flag that asks for the rest: what was asked for by lines goes on by characters.
	counted string
}

// page prints a page. If it is the only one that was asked for, it says where the rest is.
func (e *expansion) page(reply *pb.ExpandMessageResponse, only bool) error {
	if e.out.JSON {
		return e.out.Object(reply)
	}
	if len(reply.GetChildren()) > 0 {
		return show(e.list, reply.GetChildren(), e.child)
	}
	err := e.text(textOf(reply.GetMessage().GetParts()))
	e.remarks(reply, only)
	return err
}

func (e *expansion) remarks(reply *pb.ExpandMessageResponse, only bool) {
	switch {
	case len(reply.GetEvents()) > 0:
		e.remark.Say(fmt.Sprintf("It is back in the view; the provider will read about %s tokens anew.", terminal.Number(reply.GetRewriteTokens())))
	case only && reply.GetNextPageToken() != "":
		e.remark.Say(fmt.Sprintf("There is more, of %s characters in all: go on with %s %d:", terminal.Number(reply.GetTotalChars()), e.counted, reply.GetReturned().GetEndIndex()))
	}
}

func (e *expansion) child(c *pb.ExpandedChild) []string {
	row := []string{c.GetSummaryId(), "for " + indexRange(c.GetStartIndex(), c.GetEndIndex()), "", ""}
	if m := c.GetMessage(); m != nil {
		row = []string{
			fmt.Sprint(m.GetIndex()), subject(m.GetRole(), m.GetParts()), terminal.Number(int64(m.GetTokenCount())), e.width.excerpt(e.out, m.GetParts()),
		}
	}
	return row[:len(e.list.Columns)]
}
