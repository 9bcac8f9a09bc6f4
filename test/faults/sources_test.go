package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// holdings is what a check finds of contents.
type holdings struct{ stored, cited, gone, shared, runs int }

func (h *holdings) add(other *holdings) {
	h.stored += other.stored
	h.cited += other.cited
	h.gone += other.gone
	h.shared += other.shared
	h.runs += other.runs
}

func (h *holdings) full() bool { return min(h.stored, h.cited, h.gone, h.shared, h.runs) > 0 }

// String implements fmt.Stringer.
func (h *holdings) String() string {
	return fmt.Sprintf("%d contents compared that were stored, %d that were cited, %d gone, %d with the bytes of others, %d runs ended",
		h.stored, h.cited, h.gone, h.shared, h.runs)
}

// sourced is a content on record, and what the ledger knows of it.
type sourced struct {
	*pb.SourceRecord
	op     *op
	want   []byte
	erased bool // the message that says it
}

// checkContents compares what is listed, and what comes back, with the ledger: every content that was acknowledged is listed once and
// comes back byte for byte, unless a run was ended or a message erased; and nothing is listed that nobody sent.
func (l *ledger) checkContents(ctx context.Context, c *process.Client, record []*pb.Message) error {
	listed, err := sources(ctx, c, l.conversation)
	if process.Reason(err) == "CONVERSATION_NOT_FOUND" {
		err = nil
	}
	if err != nil {
		return err
	}
	l.holdings = holdings{}
	known := l.senders()
	seen, kept := map[string]bool{}, map[string][]byte{}
	sums := map[string]int{}
	for _, s := range listed {
		found, err := known.find(s, record)
		if err == nil && seen[s.GetContentId()] {
			err = errors.New("it is listed twice")
		}
		if err == nil {
			err = l.checkContent(ctx, c, found)
		}
		if err != nil {
			return fmt.Errorf("content %s: %w", s.GetContentId(), err)
		}
		seen[s.GetContentId()] = true
		if !l.gone[s.GetContentId()] {
			kept[s.GetContentId()] = found.want
			sums[digest(found.want)]++
		}
	}
	for _, n := range sums {
		l.holdings.shared += n - 1
	}
	if err := l.checkHandles(seen); err != nil {
		return err
	}
	if err := l.checkSearch(ctx, c, kept); err != nil {
		return err
	}
	return l.checkRuns(ctx, c)
}

// senders is who sent what, by request and by message.
type senders struct {
	requests map[string]*op
	messages map[string]*op
	texts    map[string]string // the result that a message is
}

func (l *ledger) senders() *senders {
	s := &senders{requests: map[string]*op{}, messages: map[string]*op{}, texts: map[string]string{}}
	for _, o := range l.ops {
		if o.kind == storing {
			s.requests[o.request] = o
		}
		for _, m := range o.messages() {
			s.messages[m.GetId()] = o
			for _, p := range m.GetParts() {
				if r := p.GetToolResult(); r != nil {
					s.texts[m.GetId()] = r.GetText()
				}
			}
		}
	}
	return s
}

// find says whose a content is. Nobody's second.
func (s *senders) find(r *pb.SourceRecord, record []*pb.Message) (*sourced, error) {
	if !r.GetCitedAtAppend() {
		var of origin
		if err := json.Unmarshal([]byte(r.GetMetadataJson()), &of); err != nil {
			return nil, err
		}
		o := s.requests[of.Request]
		if o == nil || o.refused {
			return nil, fmt.Errorf("request %q is listed twice, was refused, or nobody sent it", of.Request)
		}
		delete(s.requests, of.Request)
		return &sourced{SourceRecord: r, op: o, want: o.content()}, nil
	}
	if len(r.GetCitedBy()) == 0 || int(r.GetCitedBy()[0]) >= len(record) {
		return nil, fmt.Errorf("it is cited by %v, of %d messages", r.GetCitedBy(), len(record))
	}
	m := record[r.GetCitedBy()[0]]
	text, ok := s.texts[m.GetId()]
	if !ok {
		return nil, fmt.Errorf("message %d has two, or is no result", m.GetIndex())
	}
	delete(s.texts, m.GetId())
	return &sourced{SourceRecord: r, op: s.messages[m.GetId()], want: []byte(text), erased: blanked(m)}, nil
}

// checkContent holds one content to what was sent, and to its life.
func (l *ledger) checkContent(ctx context.Context, c *process.Client, s *sourced) error {
	got, err := c.Stream(ctx, &pb.StreamContentRequest{ConversationId: l.conversation, ContentId: s.GetContentId()})
	gone := process.Reason(err) == "CONTENT_EXPIRED"
	switch {
	case err != nil && !gone:
		return err
	case gone:
		l.holdings.gone++
	case !bytes.Equal(got, s.want):
		return fmt.Errorf("request %s: it comes back as %d bytes, and was sent as %d", s.op.request, len(got), len(s.want))
	case s.GetSha256() != digest(s.want) || s.GetTotalBytes() != int64(len(s.want)):
		return errors.New("its record is another's")
	case s.GetState() != pb.ContentState_CONTENT_STATE_STORED:
		return errors.New("it is listed as gone, and can be had")
	case s.GetCitedAtAppend():
		l.holdings.cited++
	default:
		l.holdings.stored++
	}
	if gone {
		l.gone[s.GetContentId()] = true
	}
	return l.checkEnd(s, gone)
}

// checkEnd holds a content to the ends of its run. What is gone stays gone.
func (l *ledger) checkEnd(s *sourced, gone bool) error {
	may, must, soon := l.ends(s)
	switch {
	case l.gone[s.GetContentId()] && !gone:
		return errors.New("it was gone, and is back")
	case s.erased && !gone:
		return errors.New("its message is erased, and it can be had")
	case s.op.kind == mortal && s.erased:
		return nil
	case gone && !may:
		return fmt.Errorf("request %s: it is gone, and nobody has ended run %q", s.op.request, s.op.run)
	case !gone && must:
		return fmt.Errorf("run %q was ended, and it can be had", s.op.run)
	case !gone && soon && time.Until(s.GetExpireTime().AsTime()) > time.Hour:
		return fmt.Errorf("run %q was ended, and it goes at %s", s.op.run, s.GetExpireTime().AsTime())
	}
	return nil
}

// ends says what the ends of a run that the ledger knows of mean for a content: it may be gone, it must be, or it goes within an hour.
func (l *ledger) ends(s *sourced) (may, must, soon bool) {
	if s.GetCitedAtAppend() && (!l.releases || s.op.kind != citing) {
		return false, false, false
	}
	for _, e := range l.ops {
		if e.kind != ending || e.run != s.op.run || s.op.run == "" {
			continue
		}
		late := e.acked && s.op.begun > e.done // an append that came after the end: its content is the conversation's
		before := e.acked && s.op.acked && e.begun > s.op.done
		switch {
		case brief(e.run) && late:
			return false, false, false
		case brief(e.run):
			may, must = true, must || before || e.acked && !s.GetCitedAtAppend()
		default:
			soon = soon || before
		}
	}
	return may, must, soon
}

// checkHandles demands that whatever was answered is listed.
func (l *ledger) checkHandles(listed map[string]bool) error {
	for _, o := range l.ops {
		for _, handle := range strings.Fields(o.handles) {
			if o.acked && !listed[handle] {
				return fmt.Errorf("request %s: content %s was acknowledged and is lost", o.request, handle)
			}
		}
		if o.acked && (o.kind == storing || o.kind == citing && l.cites) && o.handles == "" {
			return fmt.Errorf("request %s: nothing was cited", o.request)
		}
	}
	return nil
}

// checkSearch demands that a search finds nothing but what can be had, in its own words.
func (l *ledger) checkSearch(ctx context.Context, c *process.Client, kept map[string][]byte) error {
	if len(kept) == 0 {
		return nil
	}
	reply, err := c.Contents.SearchContent(ctx, &pb.SearchContentRequest{
		ConversationId: l.conversation, Excerpts: &pb.ExcerptQuery{SearchTerms: []string{"forty lines", "naïve"}, MaxExcerpts: 20},
	})
	if err != nil {
		return err
	}
	for _, x := range reply.GetExcerpts() {
		if err := quotes(x, kept[x.GetContentId()]); err != nil {
			return fmt.Errorf("an excerpt of content %s: %w", x.GetContentId(), err)
		}
	}
	return nil
}

// quotes demands that an excerpt stands in its content, where it says.
func quotes(x *pb.Excerpt, content []byte) error {
	from, to := x.GetByteRange().GetStartIndex(), x.GetByteRange().GetEndIndex()
	if from < 0 || to < from || to > int64(len(content)) || string(content[from:to]) != x.GetText() {
		return fmt.Errorf("it does not stand at bytes %d-%d of %d", from, to, len(content))
	}
	return nil
}

// checkRuns demands that a run that was ended takes nothing more, and that only such a run refuses.
func (l *ledger) checkRuns(ctx context.Context, c *process.Client) error {
	tried, over := map[string]bool{}, map[string]int64{} // since when
	for _, o := range l.ops {
		if o.kind != ending {
			continue
		}
		tried[o.run] = true
		if was, ok := over[o.run]; o.acked && (!ok || o.done < was) {
			over[o.run] = o.done
		}
	}
	for _, o := range l.ops {
		since, ended := over[o.run]
		switch {
		case o.kind != storing || o.run == "":
		case o.refused && !tried[o.run]:
			return fmt.Errorf("request %s was refused, and nobody has ended run %q", o.request, o.run)
		case o.acked && ended && o.begun > since:
			return fmt.Errorf("request %s was taken after the end of run %q", o.request, o.run)
		}
	}
	for run := range over {
		_, err := c.Store(ctx, &pb.StoreContentHeader{ConversationId: l.conversation, RunId: run}, []byte("late"), sip)
		if process.Reason(err) != "RUN_ENDED" {
			return fmt.Errorf("run %q was ended and is not: %w", run, errors.Join(errors.New("it takes a content"), err))
		}
		l.holdings.runs++
	}
	return nil
}
