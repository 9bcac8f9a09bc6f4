package inspect

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

// RetrieveCommand is `sidecar retrieve`.
type RetrieveCommand struct {
	Sidecar
	Conversation string   `arg:"" help:"The conversation's id, or @latest for the one that changed last."`
	Content      string   `arg:"" optional:"" help:"The content's handle, such as c12-k3v9q2mz. Without it, --search searches all contents."`
	Search       []string `short:"s" help:"Print the passages that answer this word, phrase or question instead. Repeatable." sep:"none" placeholder:"TERM"`
	Passages     int32    `help:"With --search: the most passages; 0 leaves it to the sidecar."`
	Bytes        *Stretch `help:"Only these bytes." xor:"reach" placeholder:"A:B"`
	Chars        *Stretch `help:"Only these characters: A:B, A: or :B, counted from 0, without B." xor:"reach" placeholder:"A:B"`
	Lines        *Stretch `help:"Only these lines." xor:"reach" placeholder:"A:B"`
	Items        *Stretch `help:"Only these items, of a content that is a JSON list or has one in it." xor:"reach" placeholder:"A:B"`
	MaxTokens    int32    `help:"The most tokens to print; 0 prints everything."`
}

// Validate refuses what does not go together.
func (c *RetrieveCommand) Validate() error {
	switch {
	case c.Content == "" && len(c.Search) == 0:
		return errors.New("name a content, or say with --search what to look for in all of them")
	case len(c.Search) > 0 && c.part() != nil:
		return errors.New("--search looks through all of a content: not together with --bytes, --chars, --lines or --items")
	case c.Passages != 0 && len(c.Search) == 0:
		return errors.New("--passages is for --search")
	}
	return nil
}

// part is the range that flags ask for; nil if none does.
func (c *RetrieveCommand) part() *pb.ContentRange {
	switch {
	case c.Bytes != nil:
		return &pb.ContentRange{Unit: &pb.ContentRange_Bytes{Bytes: c.Bytes.pb}}
	case c.Chars != nil:
		return &pb.ContentRange{Unit: &pb.ContentRange_Chars{Chars: c.Chars.pb}}
	case c.Lines != nil:
		return &pb.ContentRange{Unit: &pb.ContentRange_Lines{Lines: c.Lines.pb}}
	case c.Items != nil:
		return &pb.ContentRange{Unit: &pb.ContentRange_Items{Items: c.Items.pb}}
	default:
		return nil
	}
}

// Run prints the content: as it is into a file or pipe, without what must not reach a terminal on one.
func (c *RetrieveCommand) Run(ctx context.Context, env *Env) error {
	return c.runIn(ctx, env, &c.Conversation, func(s *session) error {
		switch {
		case c.Content == "":
			return c.searchAll(ctx, s)
		case len(c.Search) > 0:
			return c.search(ctx, s)
		default:
			return c.read(ctx, s)
		}
	})
}

func (c *RetrieveCommand) query() *pb.ExcerptQuery {
	return &pb.ExcerptQuery{SearchTerms: c.Search, MaxExcerpts: c.Passages}
}

func (c *RetrieveCommand) request() *pb.RetrieveContentRequest {
	return &pb.RetrieveContentRequest{
		ConversationId: c.Conversation, ContentId: c.Content, MaxTokens: c.MaxTokens, MaxReplyBytes: proto.Int32(dial.LargestReply),
	}
}

// read prints the whole, or a part, page by page.
func (c *RetrieveCommand) read(ctx context.Context, s *session) error {
	request, p, limit := c.request(), &printing{session: s}, 0
	request.Selection = &pb.RetrieveContentRequest_Full{Full: &pb.FullContent{}}
	if part := c.part(); part != nil {
		request.Selection = &pb.RetrieveContentRequest_Range{Range: part}
	}
	if c.MaxTokens > 0 {
		limit = 1 // what does not fit comes with the next page
	}
	defer p.end()
	return pages(&request.PageToken, limit, func(int) (string, int, error) {
		reply, err := s.contents.RetrieveContent(ctx, request)
		if err != nil {
			return "", 0, err
		}
		return reply.GetNextPageToken(), 1, c.page(p, reply)
	})
}

// page prints a page. If it is the only one that was asked for, it says where the rest is.
func (c *RetrieveCommand) page(p *printing, reply *pb.RetrieveContentResponse) error {
	if p.out.JSON {
		return p.out.Object(reply)
	}
	err := p.text(string(reply.GetChunk()))
	if c.MaxTokens > 0 && reply.GetNextPageToken() != "" {
		p.remark.Say(fmt.Sprintf("There is more: go on with --bytes %d:", reply.GetByteRange().GetEndIndex()))
	}
	return err
}

func (c *RetrieveCommand) search(ctx context.Context, s *session) error {
	request := c.request()
	request.Selection = &pb.RetrieveContentRequest_Excerpts{Excerpts: c.query()}
	reply, err := s.contents.RetrieveContent(ctx, request)
	return s.answer(reply, err, func() error { return s.passages(reply.GetExcerpts()) })
}

func (c *RetrieveCommand) searchAll(ctx context.Context, s *session) error {
	reply, err := s.contents.SearchContent(ctx, &pb.SearchContentRequest{
		ConversationId: c.Conversation, Excerpts: c.query(), MaxTokens: c.MaxTokens,
	})
	return s.answer(reply, err, func() error {
		if n := int(reply.GetSkippedContents()); n > 0 {
			s.remark.Say(fmt.Sprintf("%s of %d cannot be searched.", sheet.Count(n, "content"), n+int(reply.GetSearchedContents())))
		}
		return s.passages(reply.GetExcerpts())
	})
}

// passages prints what answers a search, best first, each with its place.
func (s *session) passages(excerpts []*pb.Excerpt) error {
	if len(excerpts) == 0 {
		s.remark.Say("Nothing answers that.")
	}
	for i, e := range excerpts {
		place := fmt.Sprintf("%d. %s, %s", i+1, e.GetContentId(), e.GetLocation())
		if terms := e.GetMatchedTerms(); len(terms) > 0 {
			place += "; has " + strings.Join(terms, ", ")
		}
		p := &printing{session: s}
		s.out.Say(place)
		if err := p.text(strings.TrimRight(e.GetText(), "\n")); err != nil {
			return err
		}
		s.out.Line("\n")
	}
	return nil
}
