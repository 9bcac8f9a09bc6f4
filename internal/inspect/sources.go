package inspect

import (
	"context"
	"strconv"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

// SourcesCommand is `sidecar sources`.
type SourcesCommand struct {
	Sidecar
	Conversation string `arg:"" help:"The conversation's id, or @latest for the one that changed last."`
	OfRun        string `name:"run" help:"Only contents of this run."`
	Limit        int    `help:"The most to list; 0 lists all."`
}

// Run lists the contents that are kept outside of the view, those that are gone included, page by page.
func (c *SourcesCommand) Run(ctx context.Context, env *Env) error {
	return c.runIn(ctx, env, &c.Conversation, func(s *session) error {
		request := &pb.ListSourcesRequest{ConversationId: c.Conversation, RunId: c.OfRun, PageSize: pageSize}
		return sources.list(s, &request.PageToken, c.Limit, func() (string, []*pb.SourceRecord, error) {
			reply, err := s.contents.ListSources(ctx, request)
			return reply.GetNextPageToken(), reply.GetSources(), err
		})
	})
}

var sources = tableOf[*pb.SourceRecord]{[]sheet.Column{
	{Title: "content", Least: 13}, {Title: "type", Least: 8}, {Title: "format", Least: 10, Most: 20}, {Title: "bytes", Right: true, Least: 9},
	{Title: "messages", Least: 8, Most: 12}, {Title: "stored (UTC)", Least: len(dayAndTime)}, {Title: "where from"},
}, sourceRow}

func sourceRow(r *pb.SourceRecord) []string {
	return []string{
		r.GetContentId(), sheet.EnumText(r.GetSourceType()), r.GetContentType(), terminal.Number(r.GetTotalBytes()), citedBy(r),
		r.GetAccessTime().AsTime().UTC().Format(dayAndTime), whereFrom(r),
	}
}

// citedBy names the messages that cite a content or recalled it.
func citedBy(r *pb.SourceRecord) string {
	words := make([]string, len(r.GetCitedBy()))
	for i, index := range r.GetCitedBy() {
		words[i] = strconv.Itoa(int(index))
	}
	return strings.Join(words, ", ")
}

// whereFrom says where a content came from, and before it what is special about it: that it is gone or will go, and its run.
func whereFrom(r *pb.SourceRecord) string {
	end, run := "", ""
	switch {
	case r.GetState() == pb.ContentState_CONTENT_STATE_EXPIRED:
		end = "gone"
	case r.GetExpireTime() != nil:
		end = "until " + r.GetExpireTime().AsTime().UTC().Format(dayAndTime)
	}
	if r.GetRunId() != "" {
		run = "run " + r.GetRunId()
	}
	return joinNonEmpty("; ", end, run, r.GetSourceUrl())
}
