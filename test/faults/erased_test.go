package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// state is what an export says of a conversation's edits, and which texts it holds to their ends.
type state struct {
	edits    int
	restores int
	erasures []edit
	needles  map[string]bool
	erased   int // messages
	expanded int // originals compared
	excused  int // builds that cannot be made again, because of erasures

	summaries, models int // and those of them that a model wrote
	hidden            []edit
}

type edit struct {
	Seq    int64
	Kind   string
	Reason string
	Range  struct {
		Start int32
		End   int32
	}
	Erases  bool
	Summary *struct {
		Text  string
		Model string
	}
}

// expanded is why an edit restores that was asked for.
var expanded = pb.DecisionReason_DECISION_REASON_EXPAND_REQUEST.String()

func (e *edit) covers(index int32) bool { return e.Range.Start <= index && index < e.Range.End }

var needles = regexp.MustCompile(`needle\([^)]+\)`)

// exported reads the state out of an export.
func exported(export []byte) (s state, err error) {
	s.needles = map[string]bool{}
	for line := range bytes.Lines(export) {
		if !bytes.HasPrefix(line, []byte(`{"edit":`)) {
			s.search(line)
			continue
		}
		var l struct{ Edit edit }
		if err := json.Unmarshal(line, &l); err != nil {
			return s, err
		}
		s.edits++
		if l.Edit.Summary != nil { // it stays whatever is erased of what it stands for
			if err := s.summary(&l.Edit); err != nil {
				return s, err
			}
			continue
		}
		s.search(line)
		if l.Edit.Kind == "EDIT_HIDE" {
			s.hidden = append(s.hidden, l.Edit)
		}
		if l.Edit.Kind == "EDIT_RESTORE" && l.Edit.Reason == expanded { // a rewind brings the newest back, too
			s.restores++
		}
		if l.Edit.Erases {
			s.erasures = append(s.erasures, l.Edit)
		}
	}
	return s, nil
}

// comesBack compares a message with what was sent. What was to be erased may be so: all of it, with its lengths.
func comesBack(sent, got *pb.Message) error {
	want, back := proto.CloneOf(sent), asSent(got, sent)
	if blanked(back) {
		for i, p := range back.GetParts() {
			if i < len(want.GetParts()) {
				if err := blank(want.GetParts()[i], p); err != nil {
					return fmt.Errorf("part %d: %w", i, err)
				}
			}
		}
	}
	if !proto.Equal(want, back) {
		return errors.New("it does not come back as it was sent")
	}
	return nil
}

// blanked says whether anything of a message is erased.
func blanked(m *pb.Message) bool {
	for _, p := range m.GetParts() {
		if p.GetErasure() != nil {
			return true
		}
	}
	return false
}

// blank takes the text out of a sent part as its erasure does, and from the part that came back the erasure, and what cites the text in
// its place.
func blank(sent, back *pb.Part) error {
	text := sent.GetText()
	if r := sent.GetToolResult(); r != nil {
		text = r.GetText()
		r.Output = &pb.ToolResult_Text{}
		if o := back.GetToolResult(); o != nil && (o.GetOutput() == nil || o.GetCitation() != nil) {
			o.Output, o.Citation = &pb.ToolResult_Text{}, nil
		}
	} else if _, ok := sent.GetContent().(*pb.Part_Text); ok {
		sent.Content = &pb.Part_Text{}
	}
	e := back.GetErasure()
	if text != "" && (e.GetOriginalLengthBytes() != int64(len(text)) || e.GetOriginalLengthChars() != int64(utf8.RuneCountInString(text))) {
		return fmt.Errorf("half an erasure: %+v is left of %d bytes", e, len(text))
	}
	back.Erasure = nil
	return nil
}

// checkLives holds every message that may expire to its life: it is whole, or erased by an edit that is in force, and then its
// text is nowhere.
func (l *ledger) checkLives(ctx context.Context, c *process.Client, record []*pb.Message) error {
	if len(record) == 0 {
		return nil
	}
	export, err := c.Export(ctx, l.conversation)
	if err != nil {
		return err
	}
	if l.state, err = exported(export); err != nil {
		return err
	}
	if err := l.checkRestores(); err != nil {
		return err
	}
	sent := map[string]*pb.Message{}
	ends := map[string]string{}
	for _, o := range l.ops {
		if o.kind != mortal && o.kind != added {
			continue
		}
		for i, m := range o.messages() {
			sent[m.GetId()] = m
			if len(lives(m)) > 0 {
				ends[m.GetId()] = needle(o.request, i)
			}
		}
	}
	for _, m := range record {
		original := sent[m.GetId()]
		if original == nil {
			continue
		}
		err := l.checkLife(original, m, ends[m.GetId()])
		if err == nil {
			err = l.checkOriginal(ctx, c, original, m)
		}
		if err != nil {
			return fmt.Errorf("message %d (%s): %w", m.GetIndex(), m.GetId(), err)
		}
	}
	return nil
}

// checkRestores counts what was put back: once for each call that was answered, at most once for each other.
func (l *ledger) checkRestores() error {
	answered, others := 0, 0
	for _, o := range l.ops {
		switch {
		case o.kind != restoring:
		case o.acked:
			answered++
		default:
			others++
		}
	}
	if l.state.restores < answered || l.state.restores > answered+others {
		return fmt.Errorf("%d restorations are on record, %d were acknowledged, and %d others tried", l.state.restores, answered, others)
	}
	return nil
}

func (l *ledger) checkLife(sent, got *pb.Message, end string) error {
	erased, erasing, may := blanked(got), false, false
	for i := range l.state.erasures {
		erasing = erasing || l.state.erasures[i].covers(got.GetIndex())
	}
	for _, e := range lives(sent) {
		may = may || !e.GetPreserveOriginalContent()
	}
	switch view := got.GetView(); {
	case erased && !may:
		return errors.New("erased, and nobody asked for it")
	case erased && !erasing:
		return errors.New("erased, and no edit says so")
	case erasing && may && !erased:
		return errors.New("an edit says that it is erased, and it is not")
	case erased && (view.GetLevel() < pb.ViewLevel_VIEW_LEVEL_SHORTENED || view.GetCanExpand()):
		return fmt.Errorf("erased, and in view as %+v", view)
	case end != "" && l.state.needles[end] == erased:
		return fmt.Errorf("erased: %t, and the end of its text is in the export: %t", erased, l.state.needles[end])
	}
	if erased {
		l.state.erased++
	}
	return nil
}

// checkOriginal asks for the original as an agent's tool does.
func (l *ledger) checkOriginal(ctx context.Context, c *process.Client, sent, got *pb.Message) error {
	reply, err := c.Context.ExpandMessage(ctx, &pb.ExpandMessageRequest{
		ConversationId: l.conversation, Mode: pb.ExpandMode_EXPAND_MODE_RETURN_ONLY, MaxReplyBytes: new(int32(64 << 20)),
		Target: &pb.ExpandMessageRequest_MessageIndex{MessageIndex: got.GetIndex()},
	})
	switch {
	case blanked(got) && process.Reason(err) == "ORIGINAL_ERASED":
		return nil
	case blanked(got):
		return fmt.Errorf("erased, and expanding it answers %w", err)
	case err != nil:
		return err
	case !proto.Equal(sent, asSent(reply.GetMessage(), sent)):
		return errors.New("its original is not what was sent")
	}
	l.state.expanded++
	return nil
}

// excused is an error unless something of what a build may have shown was erased after it.
func (l *ledger) excused(ctx context.Context, c *process.Client, id string) error {
	request := &pb.ListManifestsRequest{ConversationId: l.conversation, PageSize: 1000}
	for {
		page, err := c.Conversations.ListManifests(ctx, request)
		if err != nil {
			return err
		}
		for _, m := range page.GetManifests() {
			if m.GetId() == id {
				return l.excuse(m)
			}
		}
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			return errors.New("no such manifest is listed")
		}
	}
}

func (l *ledger) excuse(m *pb.Manifest) error {
	for _, e := range l.state.erasures {
		if e.Seq > m.GetEditSeq() && e.Range.Start < m.GetMessageCount() {
			l.state.excused++
			return nil
		}
	}
	return fmt.Errorf("it cannot be made again, and nothing was erased since edit %d", m.GetEditSeq())
}

// tally sums up what became of messages.
type tally struct{ edits, erased, expanded, restores, excused, summaries, models, rewinds int }

func (t *tally) add(l *ledger) {
	t.edits += l.state.edits
	t.erased += l.state.erased
	t.expanded += l.state.expanded
	t.restores += l.state.restores
	t.excused += l.state.excused
	t.summaries += l.state.summaries
	t.models += l.state.models
	t.rewinds += len(l.state.hidden)
}

func (t *tally) full() bool {
	return min(t.erased, t.expanded, t.restores, t.excused, t.summaries, t.models, t.rewinds) > 0
}

// String implements fmt.Stringer.
func (t *tally) String() string {
	return fmt.Sprintf("%d edits, %d messages erased, %d originals expanded, %d restored, %d builds beyond erasures, %d summaries, %d of them a model's, %d rewinds",
		t.edits, t.erased, t.expanded, t.restores, t.excused, t.summaries, t.models, t.rewinds)
}
