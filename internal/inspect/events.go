package inspect

import (
	"context"
	"fmt"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

// EventsCommand is `sidecar events`.
type EventsCommand struct {
	Sidecar
	Conversation string `arg:"" help:"The conversation's id, or @latest for the one that changed last."`
	Follow       bool   `short:"f" help:"Go on until Ctrl-C. Without it the command ends after half a second without an event."`
	Since        string `help:"Go on behind the event with this resume token; by default from the oldest kept, 7 days." placeholder:"TOKEN"`
	Limit        int    `help:"The most to list; 0 lists all."`
}

// quiet is how long no event comes before those of the past are taken to be through: the stream itself does not say.
const quiet = 500 * time.Millisecond

// toBegin is how long the first event may take: the sidecar may be far, and its store cold.
const toBegin = 4 * quiet

// Run prints events as they come, and at the end where to go on.
func (c *EventsCommand) Run(ctx context.Context, env *Env) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return c.runIn(ctx, env, &c.Conversation, func(s *session) error {
		list, left, token := eventTable(s.out), c.Limit, c.Since
		patience := quiet
		if c.Follow {
			patience = 0
		}
		err := s.watch(ctx, c.Conversation, c.Since, patience, func(e *pb.WatchEventsResponse) (more bool, err error) {
			token, left = e.GetResumeToken(), left-1
			return left != 0, show(list, []*pb.WatchEventsResponse{e}, eventRow)
		})
		if token != "" {
			s.remark.Line(s.remark.Clean("go on with --since " + token))
		}
		return err
	})
}

// watch gives the events behind a token to take until it wants no more, the caller leaves, or none has come for so long; with a
// patience of 0 it waits for ever.
func (s *session) watch(
	ctx context.Context, conversation, since string, patience time.Duration, take func(*pb.WatchEventsResponse) (more bool, err error),
) error {
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := s.record.WatchEvents(watching, &pb.WatchEventsRequest{ConversationId: conversation, ResumeToken: since})
	if err != nil {
		return err
	}
	if patience > 0 {
		silent := time.AfterFunc(toBegin, cancel)
		defer silent.Stop()
		taken := take
		take = func(e *pb.WatchEventsResponse) (bool, error) {
			silent.Reset(patience)
			return taken(e)
		}
	}
	for {
		event, err := stream.Recv()
		switch {
		case watching.Err() != nil: // we have left, and no event is lost: the token stands before it
			return nil
		case err != nil:
			return err
		}
		if more, err := take(event); err != nil || !more {
			return err
		}
	}
}

func eventTable(s *sheet.Sheet) *sheet.Table {
	return &sheet.Table{Sheet: s, Wrapped: true, Columns: []sheet.Column{
		{Title: "time (UTC)", Least: len(dayAndTime)}, {Title: "turn", Right: true}, {Title: "#", Right: true, Least: 7},
		{Title: "saved", Right: true, Least: 7}, {Title: "by", Least: 7}, {Title: "what happened"},
	}}
}

func eventRow(w *pb.WatchEventsResponse) []string {
	e := w.GetEvent()
	return []string{
		w.GetEventTime().AsTime().UTC().Format(dayAndTime), fmt.Sprint(e.GetTurn()), eventMessages(e), savedTokens(e), eventIDs(e), eventText(e),
	}
}

// eventMessages are the messages that an event is about. One about a content alone is about none.
func eventMessages(e *pb.LifecycleEvent) string {
	switch e.GetType() {
	case pb.EventType_EVENT_TYPE_CONTENT_STORED, pb.EventType_EVENT_TYPE_CONTENT_EXPIRED:
		return ""
	default:
		return indexRange(e.GetMessageIndex(), e.GetEndIndex())
	}
}

// eventIDs names the summary, the edit and the content of an event.
func eventIDs(e *pb.LifecycleEvent) string {
	return joinNonEmpty(" ", e.GetSummaryId(), e.GetEditId(), e.GetContentId())
}

// dayAndTime needs no year: events are kept for days.
const dayAndTime = "01-02 15:04:05"

// eventText says what happened, and why where that is not plain.
func eventText(e *pb.LifecycleEvent) string {
	what := sheet.EnumText(e.GetType())
	switch {
	case e.GetType() == pb.EventType_EVENT_TYPE_ADDED:
		return what
	case e.GetType() == pb.EventType_EVENT_TYPE_EXPIRED && e.GetView().GetLevel() == pb.ViewLevel_VIEW_LEVEL_CLEARED:
		what += " and cleared"
	}
	what += ": " + reasonText(e.GetReason())
	if said := e.GetExpandReason() + e.GetCorrectionReason(); said != "" { // one event has one of them
		what += ": " + strconv.Quote(said)
	}
	return what
}

// savedTokens is empty where nothing was to be saved.
func savedTokens(e *pb.LifecycleEvent) string {
	if e.GetTokensSaved() == 0 {
		return ""
	}
	return terminal.Number(e.GetTokensSaved())
}
